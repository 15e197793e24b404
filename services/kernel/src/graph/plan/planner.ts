import type { Issue } from "../../errors";
import { groupBy } from "../../group-by";
import type { CandidatePrice } from "../auto/route";
import { ANYTHING, isKnown, joined, knownBytes, type Abstract, type Bounds, type KnownValue } from "./abstract";
import { GRAPH_BOUNDS } from "../bounds";
import { BindError, BoundPassed, elementsOfWork, type RunBudget } from "../budget";
import { isDataUrl, isMediaId, mediaProblem, type DataFile } from "../values/media";
import { knownSource, type NodeSource, type Source } from "./plan-types";
import { isFileType, type InputPort } from "../wiring/ports";
import type { JsonSchema, Price } from "../prices/price";
import { finding, findingInWords, type Finding, type GraphIssue } from "../../issues";
import { loopOf, type Graph, type GraphEdge, type GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import type { MediaValue } from "../values/value";

/** Properties of a model that planning needs. */
export interface ModelTerms {
  internalName: string;
  modality: string;
  providerKind: string;
  price: Price;
  inputSchema: JsonSchema;
  /** Members of the model's result. Includes `json` if the model returns JSON in addition to text. */
  outputs?: readonly string[];
  /** The administrators' fallback models, for nodes that name none. */
  fallback?: readonly string[];
  /** The day (YYYY-MM-DD) on which the provider shuts the model down, if it is near. */
  retiresOn?: string;
  /** The model that replaces this one after `retiresOn`. */
  successor?: string;
  /** Checks the complete inputs of a call. */
  validate(inputs: Readonly<Record<string, unknown>>): Issue[];
}

export interface PlanRequest {
  graph: Graph & { issues: readonly GraphIssue[] };
  /** Values of request inputs, by field name. */
  inputs: ReadonlyMap<string, unknown>;
  /** Enabled models that the graph names. */
  models: ReadonlyMap<string, ModelTerms>;
  /** Names of all enabled models, for suggestions if the graph names an unknown one. */
  modelNames?: readonly string[];
  /** Reasons why no model was found, by the id of a node that names a task. */
  noModel?: ReadonlyMap<string, string>;
  /** Further models to price, by node id. Their prices are in `Planned.prices`. */
  others?: ReadonlyMap<string, readonly ModelTerms[]>;
  /** Retired models that the graph names, each with its enabled successor or undefined. */
  retired?: ReadonlyMap<string, string | undefined>;
  /** Warnings found before planning, by node id. */
  warnings?: ReadonlyMap<string, readonly Finding[]>;
  /** Files by media id. */
  media: ReadonlyMap<string, MediaValue>;
  /** Files stored for data URLs. Other data URLs stay unchanged and are listed in `Planned.dataUrls`. */
  data?: ReadonlyMap<string, DataFile>;
  markupPermille: number;
  /** URL prefix of files in media storage. If it isn't set, results keep external URLs. */
  storage?: string;
  /** Set if literals contain no templates. */
  noTemplates?: boolean;
  /** Set if the graph is part of a workflow, so that it needs no result. */
  isPart?: boolean;
  /** Preset outputs by port, for nodes that would make calls. These nodes don't run. */
  knownOutputs?: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
}

export interface WiredEnd extends NodeSource, Pick<GraphEdge, "otherwise" | "isOneOf"> {}

/** Edges by target node and port, and nodes in dependency order. Nodes that never run are excluded. */
export interface Wiring {
  order: GraphNode[];
  /** Nodes on a cycle or after one. */
  stuck: GraphNode[];
  inputs: Map<string, Map<string, WiredEnd[]>>;
}

/** State of planning. Nodes are planned in dependency order. */
export interface Planner {
  readonly request: PlanRequest;
  readonly wiring: Wiring;
  readonly outputs: Map<string, ReadonlyMap<string, Abstract>>;
  /** Nodes that get no value. They don't run and their outputs have no value. */
  readonly skipped: Set<string>;
  /** Output ports of switches that have no value, by node. */
  readonly emptyPorts: Map<string, ReadonlySet<string>>;
  /** Nodes whose outputs can be empty: undecided switches and the nodes they may skip. */
  readonly mayBeEmpty: Set<string>;
  /** Nodes that only the run can skip. They are in `mayBeEmpty` as well. */
  readonly conditional: Set<string>;
  /** Nodes with a step. */
  readonly running: Set<string>;
  /** Nodes that repeat a node of a loop's first turn. Their warnings would repeat its warnings. */
  readonly repeated: ReadonlySet<string>;
  readonly warnings: Map<string, Finding[]>;
  readonly issues: GraphIssue[];
  /** File ids that are missing from the request. */
  readonly unknownMedia: Set<string>;
  /** Data URLs that must be stored as files first. */
  readonly dataUrls: Set<string>;
  readonly budget: RunBudget;
  /** Prices of calls by node id and model, for the nodes in `PlanRequest.others`. */
  readonly prices: Map<string, Map<string, CandidatePrice>>;
  /** Work for these prices. It isn't part of the run's own budget. */
  readonly pricing: RunBudget;
  planBytes: number;
  /** Bytes of inputs that were built only for checks and prices. The run builds and counts them again. */
  triedBytes: number;
  warned: number;
}

/** Counts a value's bytes in the plan. @throws BoundPassed */
export const countInPlan = (planner: Planner, knownValue: KnownValue): void => {
  planner.planBytes += knownBytes(knownValue);
  if (planner.planBytes > GRAPH_BOUNDS.planBytes)
    throw new BoundPassed(
      `the texts and files that flow through the graph are more than ${GRAPH_BOUNDS.planBytes} bytes, each counted as often as it is used`,
    );
};

/** The known part of a node's output at a port. An input that wasn't set is absent. */
const outputOf = ({ outputs }: Planner, { node, port, otherwise }: WiredEnd): Abstract => {
  const portValues = outputs.get(node);
  const output = portValues ? (portValues.get(port) ?? { value: undefined }) : ANYTHING;
  return otherwise && isKnown(output) && output.value === undefined ? otherwise : output;
};

/** The output of a loop: the output of one of its turns. */
const oneOf = (outputs: readonly Abstract[]): Abstract => {
  const [only, ...others] = outputs;
  if (only && others.length === 0) return only;
  const each = outputs.map((output) => joined([output]));
  const most = (of: (bounds: Bounds) => number): number => Math.max(...each.map(of));
  return {
    list: each.some(({ list }) => list),
    items: most(({ items }) => items),
    most: most((bounds) => bounds.most),
    tokens: most(({ tokens }) => tokens),
  };
};

export const abstractSources = (planner: Planner, node: GraphNode, port: string): Abstract[] => {
  const edges = planner.wiring.inputs.get(node.id)?.get(port) ?? [];
  if (!edges.some(({ isOneOf }) => isOneOf)) return edges.map((edge) => outputOf(planner, edge));
  const groups = groupBy(edges, (edge) => (edge.isOneOf ? JSON.stringify([loopOf(edge.node), edge.port]) : edge));
  return [...groups.values()].map((group) => oneOf(group.map((edge) => outputOf(planner, edge))));
};

/** Replaces file ids with files. A value that doesn't fit the port becomes an issue. */
export const resolveFiles = (planner: Planner, nodeId: string, port: string, type: InputPort["type"], value: unknown): unknown => {
  if (!isFileType(type) || value === undefined || value === null) return value;
  if (value === "") return undefined;
  if (Array.isArray(value)) {
    planner.budget.work(elementsOfWork(value.length));
    return value.map((item) => resolveFiles(planner, nodeId, port, type, item) ?? null);
  }
  const data = isDataUrl(value) ? planner.request.data?.get(value) : undefined;
  const file = isMediaId(value) ? planner.request.media.get(value) : (data?.file ?? value);
  if (file === undefined) {
    planner.unknownMedia.add(value as string);
    planner.issues.push({ nodeId, ...finding("FILE_UNKNOWN", { name: shownName(port), file: value as string }) });
    return value;
  }
  const problem = data?.problem ?? mediaProblem(type, file);
  if (problem) planner.issues.push({ nodeId, ...findingInWords("INPUT_INVALID", `${shownName(port)}: ${problem}`, shownName(port)) });
  else if (isDataUrl(value) && (!data || data.isPending)) planner.dataUrls.add(value);
  return file;
};

export const source = (planner: Planner, edge: WiredEnd, to: { id: string; port: string; type: InputPort["type"] }): Source => {
  const output = outputOf(planner, edge);
  if (!isKnown(output)) return { node: edge.node, port: edge.port };
  countInPlan(planner, output);
  return knownSource(resolveFiles(planner, to.id, to.port, to.type, output.value));
};

/** False if all edges certainly have no value. */
export const isGiven = (planner: Planner, edges: readonly WiredEnd[]): boolean =>
  edges.some((edge) => {
    const output = outputOf(planner, edge);
    return !isKnown(output) || (output.value !== undefined && output.value !== null);
  });

/** @throws BoundPassed if the graph has too many warnings */
export const warn = (planner: Planner, nodeId: string, nodeFinding: Finding): void => {
  if (planner.repeated.has(nodeId)) return;
  planner.warned += 1;
  if (planner.warned > GRAPH_BOUNDS.warnings) throw new BoundPassed(`the graph has more than ${GRAPH_BOUNDS.warnings} warnings`);
  planner.warnings.set(nodeId, [...(planner.warnings.get(nodeId) ?? []), nodeFinding]);
};

/** Runs a part of planning. If it fails, the error becomes an issue and the result is undefined. */
export const attempt = <T>(planner: Planner, nodeId: string, work: () => T): T | undefined => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof BindError) || error instanceof BoundPassed) throw error;
    planner.issues.push({ nodeId, ...findingInWords("INPUT_INVALID", error.message) });
    return undefined;
  }
};

/** Plans a part of the run. Returns false, with an issue, if a bound is exceeded. */
export const planWithin = (planner: Planner, nodeId: string, work: () => void): boolean => {
  try {
    work();
    return true;
  } catch (error) {
    if (!(error instanceof BoundPassed)) throw error;
    planner.issues.push({ nodeId, ...findingInWords("LIMIT_EXCEEDED", error.message) });
    return false;
  }
};

/** Builds the known inputs of calls, for checks and prices. */
export const tryInputs = <T>(planner: Planner, work: () => T): T => {
  const before = planner.budget.used.valueBytes;
  try {
    return work();
  } finally {
    planner.triedBytes += planner.budget.used.valueBytes - before;
  }
};
