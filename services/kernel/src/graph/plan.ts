import type { Issue } from "../errors";
import { LIMITS } from "../limits";
import { millicreditsFor } from "../money";
import { bindItems, callInputs, collect, pureValue, type Bound } from "./bind";
import { GRAPH_BOUNDS, textBytes, valueBytes } from "./bounds";
import type { EvaluatedNode, PlanStep, RunPlan, Source } from "./plan-types";
import { inputPorts, literalInputs } from "./ports";
import { outputCount, PRICED_INPUTS, propertySchema, worstCaseMicroUsd, type JsonSchema, type Price } from "./price";
import { callsModel, isRecord, labelOf, type Graph, type GraphIssue, type GraphNode } from "./types";
import { checkStructure, type Wiring } from "./validate";
import { asText, BindError, member, placeholdersIn, type MediaValue } from "./value";

/** What planning needs to know of a model. */
export interface ModelTerms {
  internalName: string;
  modality: string;
  providerKind: string;
  price: Price;
  inputSchema: JsonSchema;
  /** Checks a complete set of inputs. */
  validate(inputs: Readonly<Record<string, unknown>>): Issue[];
}

export interface PlanRequest {
  graph: Graph & { issues: readonly GraphIssue[] };
  /** Resolved values of the request-input fields, by name. */
  inputs: ReadonlyMap<string, unknown>;
  /** Enabled models that the graph names. */
  models: ReadonlyMap<string, ModelTerms>;
  /** Uploaded files that the graph names, by media id. */
  media: ReadonlyMap<string, MediaValue>;
  markupPermille: number;
  /** Literals are taken as they are: nothing in them is a template. */
  verbatim?: boolean;
}

/** What is known of an output before the run: its value, or bounds of it. */
type Known = { value: unknown };
type Bounds = { list: boolean; items: number; tokens: number };
type Abstract = Known | Bounds;

const IMAGE_TOKENS = 2_000;
const MESSAGE_OVERHEAD_TOKENS = 64;
const URL_TOKENS = 512;
const isKnown = (value: Abstract): value is Known => "value" in value;
/** A token is at least one byte, so the bytes of a text bound its tokens. */
const tokensOf = (value: unknown): number => textBytes(asText(value));

/** How many items and tokens may flow into one port. */
const portBounds = (sources: readonly Abstract[]): Bounds => {
  const each = sources.map((source): Bounds => {
    if (!isKnown(source)) return source;
    const list = Array.isArray(source.value);
    return { list, items: list ? (source.value as unknown[]).length : 1, tokens: tokensOf(source.value) };
  });
  return {
    list: sources.length > 1 || each.some((source) => source.list),
    items: each.reduce((sum, source) => sum + source.items, 0),
    tokens: each.reduce((sum, source) => sum + source.tokens, 0),
  };
};

interface Planner {
  request: PlanRequest;
  wiring: Wiring;
  outputs: Map<string, Map<string, Abstract>>;
  steps: PlanStep[];
  evaluated: EvaluatedNode[];
  warnings: Map<string, string[]>;
  issues: GraphIssue[];
  /** Sizes of known values, which are measured once. */
  sizes: Map<Known, number>;
  /** Bytes of everything the plan says so far. */
  bytes: number;
}

/** Counts a value that becomes part of the plan. */
const weigh = (planner: Planner, known: Known): void => {
  const bytes = planner.sizes.get(known) ?? valueBytes(known.value, GRAPH_BOUNDS.planBytes);
  planner.sizes.set(known, bytes);
  planner.bytes += bytes;
};

const source = (planner: Planner, node: string, port: string): Source => {
  const output = planner.outputs.get(node)?.get(port) ?? { value: undefined };
  if (!isKnown(output)) return { node, port };
  weigh(planner, output);
  return { value: output.value };
};

const abstractSources = (planner: Planner, node: GraphNode, port: string): Abstract[] =>
  (planner.wiring.inputs.get(node.id)?.get(port) ?? []).map(
    (edge) => planner.outputs.get(edge.node)?.get(edge.port) ?? { value: undefined },
  );

const literalsOf = (node: GraphNode, schema: JsonSchema | undefined): Record<string, unknown> => {
  if (callsModel(node.type)) return literalInputs(node, schema);
  const names = { "text-box": ["text"], list: ["items"], "http-request": ["method", "url", "headers", "body", "extract"] }[node.type] ?? [];
  return Object.fromEntries(names.filter((name) => node.data[name] !== undefined).map((name) => [name, node.data[name]]));
};

const buildStep = (planner: Planner, node: GraphNode, terms: ModelTerms | undefined): PlanStep => {
  const ports = inputPorts(node, terms?.inputSchema);
  const wired = planner.wiring.inputs.get(node.id) ?? new Map<string, { node: string; port: string }[]>();
  const properties = terms && isRecord(terms.inputSchema.properties) ? Object.keys(terms.inputSchema.properties) : [];
  const literals = literalsOf(node, terms?.inputSchema);
  const isTemplate = (name: string): boolean => planner.request.verbatim !== true && ports.get(name)?.type === "text";
  weigh(planner, { value: literals });
  return {
    id: node.id,
    type: node.type as PlanStep["type"],
    ...(terms ? { model: terms.internalName } : {}),
    literals,
    sources: Object.fromEntries([...wired].map(([port, edges]) => [port, edges.map((edge) => source(planner, edge.node, edge.port))])),
    listPorts: [...ports].filter(([, port]) => port.list).map(([name]) => name),
    textPorts: properties.filter(isTemplate),
    inputNames: properties,
    maxItems: 1,
    maxMillicredits: 0,
  };
};

const runsNothing = (): undefined => undefined;

/** Ports that wait for nodes that have yet to run. */
const unknownPorts = (step: PlanStep): Set<string> =>
  new Set(
    Object.entries(step.sources)
      .filter(([, sources]) => sources.some((one) => "node" in one))
      .map(([port]) => port),
  );

/** What is known of the step's items before the run. */
interface KnownItems extends Bound {
  /** Every port is known, so these are the items; otherwise they are all that the known ports can make of one. */
  complete: boolean;
  unknown: ReadonlySet<string>;
}

const knownItems = (planner: Planner, step: PlanStep): KnownItems => {
  const unknown = unknownPorts(step);
  const complete = unknown.size === 0;
  const sources = Object.fromEntries(Object.entries(step.sources).filter(([port]) => !unknown.has(port)));
  try {
    return { ...bindItems({ sources, listPorts: step.listPorts }, runsNothing), complete, unknown };
  } catch (error) {
    if (!(error instanceof BindError)) throw error;
    planner.issues.push({ nodeId: step.id, message: error.message });
    return { items: [], mapped: true, complete, unknown };
  }
};

/** Calls the step makes at most: a list that is known decides, because all lists of a step are as long. */
const itemsOf = (bound: KnownItems, most: number): number => (bound.complete || bound.mapped ? bound.items.length : most);

/** Upper bound of the calls a step makes, when it depends on nodes that have yet to run. */
const mostItems = (planner: Planner, node: GraphNode, step: PlanStep): { items: number; mapped: boolean; tokens: number } => {
  let items = 1;
  let mapped = false;
  let tokens = tokensOf(JSON.stringify(step.literals));
  for (const port of Object.keys(step.sources)) {
    const bounds = portBounds(abstractSources(planner, node, port));
    tokens += bounds.tokens;
    if (!bounds.list || step.listPorts.includes(port)) continue;
    mapped = true;
    items = Math.max(items, bounds.items);
  }
  return { items: Math.min(items, LIMITS.fanOutItems), mapped, tokens };
};

const warnUnresolved = (planner: Planner, step: PlanStep): void => {
  if (planner.request.verbatim) return;
  const missing = placeholdersIn(step.literals).filter((name) => !Object.hasOwn(step.sources, name));
  if (missing.length > 0)
    planner.warnings.set(
      step.id,
      missing.map((name) => `{{${name}}} is not connected and becomes empty text`),
    );
};

const evaluated = (planner: Planner, step: PlanStep, { items, mapped }: Bound): unknown => {
  try {
    return collect(
      items.map((item) => pureValue(step, item)),
      mapped,
    );
  } catch (error) {
    if (!(error instanceof BindError)) throw error;
    planner.issues.push({ nodeId: step.id, message: error.message });
    return undefined;
  }
};

/** text-box and list: evaluated now when they can be. */
const planPure = (planner: Planner, node: GraphNode): void => {
  const step = buildStep(planner, node, undefined);
  warnUnresolved(planner, step);
  const [port] = node.type === "list" ? ["items"] : ["text"];
  const bound = knownItems(planner, step);
  if (bound.complete) {
    const value = evaluated(planner, step, bound);
    planner.outputs.set(node.id, new Map([[port!, { value }]]));
    planner.evaluated.push({ id: node.id, type: step.type, warnings: planner.warnings.get(node.id) ?? [] });
    return;
  }
  const most = mostItems(planner, node, step);
  const own = node.type === "list" && Array.isArray(step.literals.items) ? step.literals.items.length : 0;
  const incoming = node.type === "list" ? portBounds(abstractSources(planner, node, "items")).items : most.items;
  planner.steps.push({ ...step, maxItems: most.items });
  planner.outputs.set(
    node.id,
    new Map([[port!, { list: node.type === "list" || most.mapped, items: own + incoming, tokens: most.tokens }]]),
  );
};

const planHttp = (planner: Planner, node: GraphNode): void => {
  const step = buildStep(planner, node, undefined);
  warnUnresolved(planner, step);
  if (typeof step.literals.url !== "string" || step.literals.url === "") planner.issues.push({ nodeId: node.id, message: "needs a url" });
  const bound = knownItems(planner, step);
  const most = mostItems(planner, node, step);
  const maxItems = itemsOf(bound, most.items);
  planner.steps.push({ ...step, maxItems });
  planner.outputs.set(
    node.id,
    new Map<string, Abstract>([
      ["body", { list: true, items: LIMITS.fanOutItems, tokens: LIMITS.textValueBytes }],
      ["status", { list: most.mapped, items: maxItems, tokens: maxItems * 4 }],
    ]),
  );
};

const requiredNames = (schema: JsonSchema): string[] => (Array.isArray(schema.required) ? (schema.required as string[]) : []);

/** Checks the inputs of a model call as far as they are known. */
const checkCall = (planner: Planner, step: PlanStep, terms: ModelTerms, calls: readonly Record<string, unknown>[] | undefined): void => {
  const report = (message: string): void => void planner.issues.push({ nodeId: step.id, message });
  if (!calls) {
    for (const name of requiredNames(terms.inputSchema)) {
      if (member(step.literals, name) === undefined && member(step.sources, name) === undefined) report(`needs the input ${name}`);
    }
    return;
  }
  const problems = calls.flatMap((inputs) => terms.validate(inputs));
  for (const message of new Set(problems.map((issue) => `${issue.path}: ${issue.message}`))) report(message);
};

/** The most tokens a text model may answer with. */
const answerTokens = (schema: JsonSchema, inputs: Readonly<Record<string, unknown>>, unknown: ReadonlySet<string>): number => {
  const property = propertySchema(schema, PRICED_INPUTS.tokens);
  const given = unknown.has(PRICED_INPUTS.tokens) ? property?.maximum : (inputs[PRICED_INPUTS.tokens] ?? property?.default);
  return typeof given === "number" ? given : LIMITS.textValueBytes;
};

/** What the step's calls are given, as far as it is known. */
const knownInputs = (planner: Planner, step: PlanStep, bound: Bound): Record<string, unknown>[] => {
  try {
    return bound.items.map((item) => callInputs(step, item));
  } catch (error) {
    if (!(error instanceof BindError)) throw error;
    planner.issues.push({ nodeId: step.id, message: error.message });
    return [];
  }
};

const planCall = (planner: Planner, node: GraphNode, terms: ModelTerms): void => {
  const step = buildStep(planner, node, terms);
  warnUnresolved(planner, step);
  const bound = knownItems(planner, step);
  const candidates = knownInputs(planner, step, bound);
  checkCall(planner, step, terms, bound.complete ? candidates : undefined);
  const most = mostItems(planner, node, step);
  const { unknown } = bound;
  const inputTokens = most.tokens + MESSAGE_OVERHEAD_TOKENS + (step.sources.image || step.literals.image ? IMAGE_TOKENS : 0);
  const worst = Math.max(
    0,
    ...candidates.map((inputs) => worstCaseMicroUsd({ price: terms.price, schema: terms.inputSchema, inputs, unknown, inputTokens })),
  );
  const maxItems = itemsOf(bound, most.items);
  planner.steps.push({ ...step, maxItems, maxMillicredits: millicreditsFor(worst, planner.request.markupPermille) });
  const { mapped } = most;
  if (node.type === "llm-assistant") {
    const tokens = Math.max(0, ...candidates.map((inputs) => answerTokens(terms.inputSchema, inputs, unknown)));
    planner.outputs.set(node.id, new Map([["text", { list: mapped, items: maxItems, tokens: tokens * maxItems }]]));
    return;
  }
  const made = unknown.has(PRICED_INPUTS.image)
    ? Number(propertySchema(terms.inputSchema, PRICED_INPUTS.image)?.maximum ?? 1)
    : Math.max(1, ...candidates.map((inputs) => outputCount(terms.inputSchema, inputs)));
  const port = { "generate-image": "image", "generate-video": "video", "generate-audio": "audio" }[node.type]!;
  planner.outputs.set(
    node.id,
    new Map([[port, { list: mapped || made > 1, items: maxItems * made, tokens: URL_TOKENS * maxItems * made }]]),
  );
};

const known = (planner: Planner, node: GraphNode, values: Iterable<[string, unknown]>): void => {
  planner.outputs.set(node.id, new Map([...values].map(([port, value]) => [port, { value }])));
  planner.evaluated.push({ id: node.id, type: node.type as PlanStep["type"], warnings: [] });
};

const planModelNode = (planner: Planner, node: GraphNode): void => {
  const name = node.data.model;
  const terms = typeof name === "string" ? planner.request.models.get(name) : undefined;
  if (!terms) {
    planner.issues.push({
      nodeId: node.id,
      message: typeof name === "string" && name !== "" ? `there is no enabled model ${name}` : "needs a model",
    });
    return;
  }
  const expected = node.type === "llm-assistant" ? "text" : node.type.slice("generate-".length);
  if (terms.modality !== expected) {
    planner.issues.push({
      nodeId: node.id,
      message: `${terms.internalName} makes ${terms.modality}, but this node needs a model that makes ${expected}`,
    });
  } else planCall(planner, node, terms);
};

const planNode = (planner: Planner, node: GraphNode): void => {
  if (callsModel(node.type)) return planModelNode(planner, node);
  switch (node.type) {
    case "request-input":
      return known(planner, node, planner.request.inputs);
    case "media-upload": {
      const file = typeof node.data.mediaId === "string" ? planner.request.media.get(node.data.mediaId) : undefined;
      if (!file) return void planner.issues.push({ nodeId: node.id, message: "its media file does not exist" });
      return known(planner, node, [["media", file]]);
    }
    case "text-box":
    case "list":
      return planPure(planner, node);
    case "http-request":
      return planHttp(planner, node);
    default:
      return undefined;
  }
};

/** What makes a run larger than any run may be. */
const tooMuch = ({ steps, bytes }: Planner): GraphIssue[] => {
  const calls = steps
    .filter((step) => step.model !== undefined || step.type === "http-request")
    .reduce((sum, step) => sum + step.maxItems, 0);
  const { calls: mostCalls, planBytes } = GRAPH_BOUNDS;
  return [
    ...(calls > mostCalls ? [{ nodeId: null, message: `the run may make ${calls} calls, at most ${mostCalls} are allowed` }] : []),
    ...(bytes > planBytes
      ? [{ nodeId: null, message: `its texts and files are more than ${planBytes} bytes, each counted as often as it is used` }]
      : []),
  ];
};

/** What authors call the nodes that run. */
const labelsOf = (nodes: readonly GraphNode[]): Pick<RunPlan, "labels"> => {
  const labels = nodes.flatMap((node) => {
    const label = labelOf(node);
    return label === undefined ? [] : [[node.id, label]];
  });
  return labels.length === 0 ? {} : { labels: Object.fromEntries(labels) as Record<string, string> };
};

/**
 * Turns a graph, its inputs and the models it names into a plan. Pure nodes whose inputs are known are evaluated
 * here, once; what is left runs later.
 * @returns the plan, or every reason why the graph can't run.
 */
export const planRun = (request: PlanRequest): { plan: RunPlan; issues: [] } | { plan: undefined; issues: GraphIssue[] } => {
  const schemaOf = (node: GraphNode): JsonSchema | undefined =>
    typeof node.data.model === "string" ? request.models.get(node.data.model)?.inputSchema : undefined;
  const { wiring, issues } = checkStructure(request.graph, schemaOf);
  const planner: Planner = {
    request,
    wiring,
    outputs: new Map(),
    steps: [],
    evaluated: [],
    warnings: new Map(),
    issues: [...request.graph.issues, ...issues],
    sizes: new Map(),
    bytes: 0,
  };
  for (const node of wiring.order) planNode(planner, node);
  const outputNodes = wiring.order.filter((node) => node.type === "response-output");
  const output = new Map<string, Source[]>();
  for (const node of outputNodes) {
    for (const [port, edges] of wiring.inputs.get(node.id) ?? []) {
      output.set(port, [...(output.get(port) ?? []), ...edges.map((edge) => source(planner, edge.node, edge.port))]);
    }
  }
  planner.issues.push(...tooMuch(planner));
  if (planner.issues.length > 0) return { plan: undefined, issues: planner.issues };
  const used = new Set(planner.steps.map((step) => step.model).filter((name) => name !== undefined));
  const models = Object.fromEntries(
    [...used].map((name) => {
      const { providerKind, modality, price } = request.models.get(name)!;
      return [name, { providerKind, modality, price }];
    }),
  );
  const { steps, evaluated, warnings } = planner;
  return {
    plan: {
      steps,
      evaluated,
      warnings: Object.fromEntries(warnings),
      models,
      ...labelsOf(wiring.order),
      output: Object.fromEntries(output),
      outputNodes: outputNodes.map((node) => node.id),
      markupPermille: request.markupPermille,
    },
    issues: [],
  };
};

/** The distinct models a graph names. */
export const modelNames = (graph: Graph): string[] => [
  ...new Set(
    graph.nodes.filter((node) => callsModel(node.type)).flatMap((node) => (typeof node.data.model === "string" ? [node.data.model] : [])),
  ),
];

/** The distinct uploaded files a graph names. */
export const mediaIds = (graph: Graph): string[] => [
  ...new Set(
    graph.nodes
      .filter((node) => node.type === "media-upload")
      .flatMap((node) => (typeof node.data.mediaId === "string" ? [node.data.mediaId] : [])),
  ),
];
