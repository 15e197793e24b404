import type { Issue } from "../../errors";
import { ANYTHING, isKnown, knownBytes, type Abstract, type Known } from "./abstract";
import { GRAPH_BOUNDS } from "../bounds";
import { BindError, BoundPassed, elementsOfWork, type RunBudget } from "../budget";
import { isDataUrl, isMediaId, mediaProblem, type DataFile } from "../values/media";
import { knownSource, type NodeSource, type Source } from "./plan-types";
import { isFileType, type InputPort } from "../wiring/ports";
import type { JsonSchema, Price } from "../prices/price";
import { finding, findingInWords, type Finding, type GraphIssue } from "../issues";
import { shownName, type Graph, type GraphEdge, type GraphNode } from "../types";
import type { MediaValue } from "../values/value";

/** What planning needs to know of a model. */
export interface ModelTerms {
  internalName: string;
  modality: string;
  providerKind: string;
  price: Price;
  inputSchema: JsonSchema;
  /** The members of a run's result; `json` where it gives JSON beside a text. */
  outputs?: readonly string[];
  /** Models that administrators put in its place where it fails; for nodes that name none. */
  fallback?: readonly string[];
  /** Checks a complete set of inputs. */
  validate(inputs: Readonly<Record<string, unknown>>): Issue[];
}

export interface PlanRequest {
  graph: Graph & { issues: readonly GraphIssue[] };
  /** Resolved values of the request-input fields, by name. */
  inputs: ReadonlyMap<string, unknown>;
  /** Enabled models that the graph names. */
  models: ReadonlyMap<string, ModelTerms>;
  /** All enabled models, where one that the graph names is not among them: to say which was meant. */
  modelNames?: readonly string[];
  /** Why tasks that the graph names (`auto:image`) became no model. */
  noModel?: ReadonlyMap<string, string>;
  /** What is known before planning, by node id. */
  warnings?: ReadonlyMap<string, readonly Finding[]>;
  /** Uploaded files that the graph names, by media id. */
  media: ReadonlyMap<string, MediaValue>;
  /** What has become of data URLs. One that is not here stays as it is and is listed in `Planned.dataUrls`. */
  data?: ReadonlyMap<string, DataFile>;
  markupPermille: number;
  /** What the addresses of files in our storage begin with. Without it results name files wherever they are. */
  storage?: string;
  /** Literals are taken as they are: nothing in them is a template. */
  noTemplates?: boolean;
  /** The graph is a part of the workflow's, which gives a result or none. */
  isPart?: boolean;
  /** What nodes that make calls are known to give, by port, without being run. */
  given?: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
}

/** An output that flows into a port. */
export interface WiredEnd extends NodeSource, Pick<GraphEdge, "otherwise"> {}

/** Edges by target node and port, in edge order, and the nodes in dependency order. Nodes that never run are left out. */
export interface Wiring {
  order: GraphNode[];
  /** Nodes that are on a cycle or behind one. */
  stuck: GraphNode[];
  inputs: Map<string, Map<string, WiredEnd[]>>;
}

/** What planning has found so far. Nodes are planned in dependency order. */
export interface Planner {
  readonly request: PlanRequest;
  readonly wiring: Wiring;
  readonly outputs: Map<string, ReadonlyMap<string, Abstract>>;
  /** Nodes that nothing reaches: they run nothing, and none of their outputs carries anything. */
  readonly skipped: Set<string>;
  /** Output ports of switches that carry nothing, by node. */
  readonly emptyPorts: Map<string, ReadonlySet<string>>;
  /** Nodes of which only the run knows whether their outputs carry something: undecided switches, and what these may skip. */
  readonly mayBeEmpty: Set<string>;
  readonly warnings: Map<string, Finding[]>;
  readonly issues: GraphIssue[];
  /** Ids of files that the request does not know. */
  readonly unknownMedia: Set<string>;
  /** Data URLs that are given for files and have yet to be stored. */
  readonly dataUrls: Set<string>;
  readonly budget: RunBudget;
  /** Bytes of everything the plan says so far. */
  planBytes: number;
  /** Bytes of inputs that were made only to be checked and priced: the run makes and counts them again. */
  triedBytes: number;
  warned: number;
}

/** Counts a value that becomes part of the plan. @throws BoundPassed */
export const countInPlan = (planner: Planner, known: Known): void => {
  planner.planBytes += knownBytes(known);
  if (planner.planBytes > GRAPH_BOUNDS.planBytes)
    throw new BoundPassed(
      `the texts and files that flow through the graph are more than ${GRAPH_BOUNDS.planBytes} bytes, each counted as often as it is used`,
    );
};

/** What a node gives at a port, as far as it is known; an input that was not given is nothing. */
const outputOf = ({ outputs }: Planner, { node, port, otherwise }: WiredEnd): Abstract => {
  const given = outputs.get(node);
  const output = given ? (given.get(port) ?? { value: undefined }) : ANYTHING;
  return otherwise && isKnown(output) && output.value === undefined ? otherwise : output;
};

export const abstractSources = (planner: Planner, node: GraphNode, port: string): Abstract[] =>
  (planner.wiring.inputs.get(node.id)?.get(port) ?? []).map((edge) => outputOf(planner, edge));

/** Puts files in place of their ids; what can't be a file of the port's kind becomes an issue. */
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

/** True unless all that flows is known to be nothing. */
export const isGiven = (planner: Planner, edges: readonly WiredEnd[]): boolean =>
  edges.some((edge) => {
    const output = outputOf(planner, edge);
    return !isKnown(output) || (output.value !== undefined && output.value !== null);
  });

/** @throws BoundPassed when the nodes of a run have too many warnings. */
export const warn = (planner: Planner, nodeId: string, found: Finding): void => {
  planner.warned += 1;
  if (planner.warned > GRAPH_BOUNDS.warnings) throw new BoundPassed(`the graph has more than ${GRAPH_BOUNDS.warnings} warnings`);
  planner.warnings.set(nodeId, [...(planner.warnings.get(nodeId) ?? []), found]);
};

/** What a part of planning gives; undefined when it fails, which becomes an issue. */
export const attempt = <T>(planner: Planner, nodeId: string, work: () => T): T | undefined => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof BindError) || error instanceof BoundPassed) throw error;
    planner.issues.push({ nodeId, ...findingInWords("INPUT_INVALID", error.message) });
    return undefined;
  }
};

/** Plans a part of the run. False, with an issue, when that would pass one of its bounds. */
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

/** Makes what a step's calls would be given, as far as it is known: to be checked and priced. */
export const tryInputs = <T>(planner: Planner, work: () => T): T => {
  const before = planner.budget.used.valueBytes;
  try {
    return work();
  } finally {
    planner.triedBytes += planner.budget.used.valueBytes - before;
  }
};
