import type { Issue } from "../errors";
import { LIMITS } from "../limits";
import { millicreditsFor } from "../money";
import { bindItems, callInputs, collect, pureValue, type Bound } from "./bind";
import { GRAPH_BOUNDS, textBytes, valueBytes } from "./bounds";
import { BindError, BoundPassed, createBudget, elementsOfWork, type BudgetUse, type RunBudget } from "./budget";
import type { EvaluatedNode, PlanStep, RunPlan, Source } from "./plan-types";
import { checkSettings } from "./check";
import { httpCall, httpProblems } from "./http-call";
import { isMediaId, mediaProblem } from "./media";
import { anyInput, inputPorts, isFileType, literalInputs, type InputPort } from "./ports";
import { FILE_TOKENS_KEYWORD, outputCount, PRICED_INPUTS, propertySchema, worstCaseMicroUsd, type JsonSchema, type Price } from "./price";
import { callsModel, isRecord, labelOf, shownName, type Graph, type GraphIssue, type GraphNode } from "./types";
import { checkStructure, type Wiring } from "./validate";
import { asText, isMedia, member, placeholdersIn, placeholderUses, type MediaValue } from "./value";

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

/** The most tokens a provider counts for one file, where the model's schema doesn't say (`x-tokens` of the input). */
const FILE_TOKENS = 2_000;
const MESSAGE_OVERHEAD_TOKENS = 64;
/** Texts of one call that templates fill: a prompt and a system prompt. */
const MOST_TEXTS = 2;
const URL_TOKENS = 512;
const isKnown = (value: Abstract): value is Known => "value" in value;
/** Stands for what nodes give that can't run: the graph is refused, but for nothing that follows from that. */
const ANYTHING: Bounds = { list: false, items: 1, tokens: 0 };
/** A token is at least one byte, so the bytes of a text bound its tokens. */
const tokensOf = (value: unknown): number => textBytes(asText(value));
const knownTokens = ({ tokens }: Planner, known: Known): number => {
  const count = tokens.get(known) ?? tokensOf(known.value);
  tokens.set(known, count);
  return count;
};

/** How many items and tokens may flow into one port. */
const portBounds = (planner: Planner, sources: readonly Abstract[]): Bounds => {
  const each = sources.map((source): Bounds => {
    if (!isKnown(source)) return source;
    const list = Array.isArray(source.value);
    return { list, items: list ? (source.value as unknown[]).length : 1, tokens: knownTokens(planner, source) };
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
  /** Ids of files that the request does not know. */
  unknownMedia: Set<string>;
  /** Sizes and tokens of known values, which are measured once. */
  sizes: Map<Known, number>;
  tokens: Map<Known, number>;
  /** Bytes of everything the plan says so far. */
  bytes: number;
  budget: RunBudget;
  /** Of the bytes counted, those of inputs that calls would be given: the run makes and counts them again. */
  triedBytes: number;
  warned: number;
}

/** Counts a value that becomes part of the plan. */
const countInPlan = (planner: Planner, known: Known): void => {
  const bytes = planner.sizes.get(known) ?? valueBytes(known.value, GRAPH_BOUNDS.planBytes);
  planner.sizes.set(known, bytes);
  planner.bytes += bytes;
  if (planner.bytes > GRAPH_BOUNDS.planBytes)
    throw new BoundPassed(
      `the texts and files that flow through the graph are more than ${GRAPH_BOUNDS.planBytes} bytes, each counted as often as it is used`,
    );
};

/** What a node gives at a port, as far as it is known; an input that was not given is nothing. */
const outputOf = ({ outputs }: Planner, node: string, port: string): Abstract => {
  const given = outputs.get(node);
  return given ? (given.get(port) ?? { value: undefined }) : ANYTHING;
};

const abstractSources = (planner: Planner, node: GraphNode, port: string): Abstract[] =>
  (planner.wiring.inputs.get(node.id)?.get(port) ?? []).map((edge) => outputOf(planner, edge.node, edge.port));

/** Puts files in place of their ids, and says what can't be a file of the port's kind. */
const resolveFiles = (planner: Planner, nodeId: string, port: string, type: InputPort["type"], value: unknown): unknown => {
  if (!isFileType(type) || value === undefined || value === null) return value;
  if (value === "") return undefined;
  if (Array.isArray(value)) {
    planner.budget.work(elementsOfWork(value.length));
    return value.map((item) => resolveFiles(planner, nodeId, port, type, item));
  }
  const file = isMediaId(value) ? planner.request.media.get(value) : value;
  if (file === undefined) {
    planner.unknownMedia.add(value as string);
    planner.issues.push({ nodeId, message: `${shownName(port)}: there is no media file ${value as string} of yours` });
    return value;
  }
  const problem = mediaProblem(type, file);
  if (problem) planner.issues.push({ nodeId, message: `${shownName(port)}: ${problem}` });
  return file;
};

const source = (
  planner: Planner,
  edge: { node: string; port: string },
  to: { id: string; port: string; type: InputPort["type"] },
): Source => {
  const output = outputOf(planner, edge.node, edge.port);
  if (!isKnown(output)) return edge;
  countInPlan(planner, output);
  return { value: resolveFiles(planner, to.id, to.port, to.type, output.value) };
};

/** True unless all that flows is known to be nothing. */
const isGiven = (planner: Planner, edges: readonly { node: string; port: string }[]): boolean =>
  edges.some(({ node, port }) => {
    const output = outputOf(planner, node, port);
    return !isKnown(output) || (output.value !== undefined && output.value !== null);
  });

/** The literal inputs of a model. Files are meant by their addresses; empty ones are none. */
const modelLiterals = (planner: Planner, node: GraphNode, schema: JsonSchema | undefined, ports: Map<string, InputPort>) => {
  const wired = planner.wiring.inputs.get(node.id);
  const address = (file: unknown): unknown => (isMedia(file) ? file.url : Array.isArray(file) ? file.map(address) : file);
  return Object.fromEntries(
    Object.entries(literalInputs(node, schema)).flatMap(([name, value]): [string, unknown][] => {
      const type = ports.get(name)?.type ?? "any";
      // Such a literal fills a template.
      if (schema && ports.has(name) && propertySchema(schema, name) === undefined) return [];
      if (!isFileType(type)) return [[name, value]];
      // What flows in is used instead.
      return value === "" || isGiven(planner, wired?.get(name) ?? [])
        ? []
        : [[name, address(resolveFiles(planner, node.id, name, type, value))]];
    }),
  );
};

const literalsOf = (planner: Planner, node: GraphNode, schema: JsonSchema | undefined, ports: Map<string, InputPort>) => {
  if (callsModel(node.type)) return modelLiterals(planner, node, schema, ports);
  const names = { "text-box": ["text"], list: ["items"], "http-request": ["method", "url", "headers", "body", "extract"] }[node.type] ?? [];
  return Object.fromEntries(names.filter((name) => node.data[name] !== undefined).map((name) => [name, node.data[name]]));
};

/** What members of `data` mean by themselves, whatever a template's placeholder is called. */
const SETTINGS = new Set(
  ["inputs", "label", "model", "text", "items", "system", "prompt", "maxTokens", "temperature"].concat([
    "method",
    "url",
    "headers",
    "body",
    "extract",
  ]),
);

/** Values that placeholders have in `data.inputs` or `data`, where nothing is connected. */
const placeholderValues = (node: GraphNode, names: readonly string[]): [string, unknown][] => {
  const inputs = isRecord(node.data.inputs) ? node.data.inputs : {};
  return names
    .map((name): [string, unknown] => [name, member(inputs, name) ?? (SETTINGS.has(name) ? undefined : member(node.data, name))])
    .filter(([, value]) => value !== undefined && value !== null);
};

/** The ports of a node that only its templates make. */
const placeholderPorts = (node: GraphNode, ports: ReadonlyMap<string, InputPort>, properties: readonly string[]): string[] =>
  node.type === "list"
    ? []
    : [...ports.keys()].filter((name) => !properties.includes(name) && !(node.type === "http-request" && name === "body"));

const buildStep = (planner: Planner, node: GraphNode, terms: ModelTerms | undefined): PlanStep => {
  const ports = inputPorts(node, terms?.inputSchema);
  const wired = planner.wiring.inputs.get(node.id) ?? new Map<string, { node: string; port: string }[]>();
  const properties = terms && isRecord(terms.inputSchema.properties) ? Object.keys(terms.inputSchema.properties) : [];
  const literals = literalsOf(planner, node, terms?.inputSchema, ports);
  const numbers = properties.filter((name) => ports.get(name)?.type === "number" && wired.has(name));
  const isTemplate = (name: string): boolean => planner.request.verbatim !== true && ports.get(name)?.type === "text";
  countInPlan(planner, { value: literals });
  const unconnected = planner.request.verbatim ? [] : placeholderPorts(node, ports, properties).filter((name) => !wired.has(name));
  const given = placeholderValues(node, unconnected).map(([name, value]): [string, Source[]] => {
    countInPlan(planner, { value });
    return [name, [{ value }]];
  });
  return {
    id: node.id,
    type: node.type as PlanStep["type"],
    ...(terms ? { model: terms.internalName } : {}),
    literals,
    sources: Object.fromEntries([
      ...[...wired].map(([port, edges]): [string, Source[]] => {
        const to = { id: node.id, port, type: ports.get(port)?.type ?? "any" };
        return [port, edges.map((edge) => source(planner, edge, to))];
      }),
      ...given,
    ]),
    listPorts: [...ports].filter(([, port]) => port.list).map(([name]) => name),
    textPorts: properties.filter(isTemplate),
    ...(numbers.length > 0 ? { numberPorts: numbers } : {}),
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
  /** The known ports don't fit together. */
  failed: boolean;
}

/** What a part of planning gives; undefined when it can't be, which is said then. */
const attempt = <T>(planner: Planner, nodeId: string, work: () => T): T | undefined => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof BindError) || error instanceof BoundPassed) throw error;
    planner.issues.push({ nodeId, message: error.message });
    return undefined;
  }
};

/** Plans a part of the run. False when that would pass one of its bounds, which ends planning. */
const planWithin = (planner: Planner, nodeId: string, work: () => void): boolean => {
  try {
    work();
    return true;
  } catch (error) {
    if (!(error instanceof BoundPassed)) throw error;
    planner.issues.push({ nodeId, message: error.message });
    return false;
  }
};

/** Makes what a step's calls would be given, as far as it is known: to be checked and priced. */
const tryInputs = <T>(planner: Planner, work: () => T): T => {
  const before = planner.budget.used.valueBytes;
  try {
    return work();
  } finally {
    planner.triedBytes += planner.budget.used.valueBytes - before;
  }
};

const knownItems = (planner: Planner, step: PlanStep): KnownItems => {
  const unknown = unknownPorts(step);
  const complete = unknown.size === 0;
  const sources = Object.fromEntries(Object.entries(step.sources).filter(([port]) => !unknown.has(port)));
  const bound = attempt(planner, step.id, () => bindItems({ sources, listPorts: step.listPorts }, runsNothing, planner.budget));
  return { ...(bound ?? { items: [], mapped: true }), complete, unknown, failed: bound === undefined };
};

/** Calls the step makes at most: a list that is known decides, because all lists of a step are as long. */
const itemsOf = (bound: KnownItems, most: number): number => (bound.complete || bound.mapped ? bound.items.length : most);

/** Inputs of a model that are files: not their text is counted (a data URL is long) but what they show. */
const fileInputs = (schema: JsonSchema, step: PlanStep): string[] => {
  const quoted = new Set(placeholdersIn(step.literals));
  return step.inputNames.filter((name) => propertySchema(schema, name)?.format === "media" && !quoted.has(name));
};

/** The most tokens that the files of one call may count. */
const fileTokens = (schema: JsonSchema, step: PlanStep): number =>
  fileInputs(schema, step)
    .filter((name) => member(step.literals, name) !== undefined || member(step.sources, name) !== undefined)
    .map((name) => Number(propertySchema(schema, name)?.[FILE_TOKENS_KEYWORD] ?? FILE_TOKENS))
    .reduce((sum, tokens) => sum + tokens, 0);

/** Upper bound of the calls a step makes, when it depends on nodes that have yet to run. */
const mostItems = (
  planner: Planner,
  node: GraphNode,
  step: PlanStep,
  files: readonly string[] = [],
): { items: number; mapped: boolean; tokens: number } => {
  let items = 1;
  let mapped = false;
  planner.budget.work(Object.keys(step.sources).length);
  let tokens = tokensOf(JSON.stringify(Object.fromEntries(Object.entries(step.literals).filter(([name]) => !files.includes(name)))));
  // A template may say the same value many times, as long as its text does not become too large.
  const uses = planner.request.verbatim ? new Map<string, number>() : placeholderUses(step.literals);
  const wired = planner.wiring.inputs.get(node.id);
  for (const [port, sources] of Object.entries(step.sources)) {
    const flowing = wired?.has(port) ? abstractSources(planner, node, port) : sources.filter((one) => "value" in one);
    const bounds = portBounds(planner, flowing);
    const said = Math.min(bounds.tokens * Math.max(1, uses.get(port) ?? 0), Math.max(bounds.tokens, MOST_TEXTS * LIMITS.textValueBytes));
    if (!files.includes(port)) tokens += said;
    if (!bounds.list || step.listPorts.includes(port)) continue;
    mapped = true;
    items = Math.max(items, bounds.items);
  }
  return { items: Math.min(items, LIMITS.fanOutItems), mapped, tokens };
};

/** @throws BoundPassed when the nodes of a run have too many warnings. */
const warn = (planner: Planner, nodeId: string, message: string): void => {
  planner.warned += 1;
  if (planner.warned > GRAPH_BOUNDS.warnings) throw new BoundPassed(`the graph has more than ${GRAPH_BOUNDS.warnings} warnings`);
  planner.warnings.set(nodeId, [...(planner.warnings.get(nodeId) ?? []), message]);
};

const warnUnresolved = (planner: Planner, step: PlanStep): void => {
  if (planner.request.verbatim) return;
  const texts = step.model === undefined ? step.literals : step.textPorts.map((name) => member(step.literals, name));
  for (const name of placeholdersIn(texts)) {
    const sources = member(step.sources, name) as readonly Source[] | undefined;
    if (!sources) warn(planner, step.id, `{{${shownName(name)}}} is not connected and becomes empty text`);
    else if (sources.every((one) => "value" in one && (one.value === undefined || one.value === null)))
      warn(planner, step.id, `{{${shownName(name)}}} was not given and becomes empty text`);
  }
};

/** text-box and list: evaluated now when they can be. */
const planPure = (planner: Planner, node: GraphNode): void => {
  const step = buildStep(planner, node, undefined);
  warnUnresolved(planner, step);
  const [port] = node.type === "list" ? ["items"] : ["text"];
  const bound = knownItems(planner, step);
  if (bound.complete) {
    const made = bound.failed
      ? undefined
      : attempt(planner, step.id, () => ({
          value: collect(
            bound.items.map((item) => pureValue(step, item, planner.budget)),
            bound.mapped,
          ),
        }));
    if (!made) return;
    planner.outputs.set(node.id, new Map([[port!, made]]));
    planner.evaluated.push({ id: node.id, type: step.type, warnings: planner.warnings.get(node.id) ?? [] });
    return;
  }
  const most = mostItems(planner, node, step);
  const own = node.type === "list" && Array.isArray(step.literals.items) ? step.literals.items.length : 0;
  const incoming = node.type === "list" ? portBounds(planner, abstractSources(planner, node, "items")).items : most.items;
  planner.steps.push({ ...step, maxItems: most.items });
  planner.outputs.set(
    node.id,
    new Map([[port!, { list: node.type === "list" || most.mapped, items: own + incoming, tokens: most.tokens }]]),
  );
};

const planHttp = (planner: Planner, node: GraphNode): void => {
  const step = buildStep(planner, node, undefined);
  warnUnresolved(planner, step);
  const bound = knownItems(planner, step);
  const calls = bound.complete
    ? attempt(planner, node.id, () => tryInputs(planner, () => bound.items.map((item) => httpCall(step, item, planner.budget))))
    : undefined;
  for (const message of httpProblems(step.literals, calls)) planner.issues.push({ nodeId: node.id, message });
  const most = mostItems(planner, node, step);
  const maxItems = itemsOf(bound, most.items);
  planner.budget.calls(maxItems);
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

/** Inputs of a step that will be known only when it runs: what flows in then, and texts that it is put into. */
const openInputs = (step: PlanStep, unknown: ReadonlySet<string>): Set<string> =>
  new Set([
    ...unknown,
    ...step.textPorts.filter((name) => placeholdersIn(member(step.literals, name)).some((placeholder) => unknown.has(placeholder))),
  ]);

/** Checks the inputs of a model's calls as far as they are known. */
const checkCalls = (
  planner: Planner,
  step: PlanStep,
  terms: ModelTerms,
  calls: readonly Record<string, unknown>[],
  open: ReadonlySet<string>,
): void => {
  const report = (message: string): void => void planner.issues.push({ nodeId: step.id, message });
  if (calls.length === 0) {
    // Nothing will be called, but what would be is judged as far as that goes.
    for (const name of requiredNames(terms.inputSchema))
      if (member(step.literals, name) === undefined && member(step.sources, name) === undefined) report(`${name}: is required`);
    return;
  }
  const problems = calls.flatMap((inputs) => terms.validate(inputs)).filter(({ path }) => !open.has(path.split(".")[0]!));
  for (const message of new Set(problems.map((issue) => `${issue.path}: ${issue.message}`))) report(message);
};

/** The most tokens a text model may answer with. */
const answerTokens = (schema: JsonSchema, inputs: Readonly<Record<string, unknown>>, unknown: ReadonlySet<string>): number => {
  const property = propertySchema(schema, PRICED_INPUTS.tokens);
  const given = unknown.has(PRICED_INPUTS.tokens) ? property?.maximum : (inputs[PRICED_INPUTS.tokens] ?? property?.default);
  return typeof given === "number" ? given : LIMITS.textValueBytes;
};

const planCall = (planner: Planner, node: GraphNode, terms: ModelTerms): void => {
  const step = buildStep(planner, node, terms);
  warnUnresolved(planner, step);
  const bound = knownItems(planner, step);
  // What the step's calls are given, as far as it is known.
  const candidates =
    attempt(planner, node.id, () => tryInputs(planner, () => bound.items.map((item) => callInputs(step, item, planner.budget)))) ?? [];
  const { unknown } = bound;
  const open = openInputs(step, unknown);
  checkCalls(planner, step, terms, candidates, open);
  const most = mostItems(planner, node, step, fileInputs(terms.inputSchema, step));
  const inputTokens = most.tokens + MESSAGE_OVERHEAD_TOKENS + fileTokens(terms.inputSchema, step);
  const worst = Math.max(
    0,
    ...candidates.map((inputs) => worstCaseMicroUsd({ price: terms.price, schema: terms.inputSchema, inputs, unknown: open, inputTokens })),
  );
  const maxItems = itemsOf(bound, most.items);
  planner.budget.calls(maxItems);
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
  planner.outputs.set(node.id, new Map([...values].map(([port, value]) => [port, { value: planner.budget.value(value) }])));
  planner.evaluated.push({ id: node.id, type: node.type as PlanStep["type"], warnings: [] });
};

const planModelNode = (planner: Planner, node: GraphNode): void => {
  const name = node.data.model;
  const terms = typeof name === "string" ? planner.request.models.get(name) : undefined;
  if (!terms) {
    planner.issues.push({
      nodeId: node.id,
      message: typeof name === "string" && name !== "" ? `there is no enabled model ${shownName(name)}` : "needs a model",
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

const planUpload = (planner: Planner, node: GraphNode): void => {
  const { mediaId } = node.data;
  const isNamed = typeof mediaId === "string" && mediaId !== "";
  const file = isNamed ? planner.request.media.get(mediaId) : undefined;
  if (file) return known(planner, node, [["media", file]]);
  if (isNamed) planner.unknownMedia.add(mediaId);
  planner.issues.push({ nodeId: node.id, message: isNamed ? `there is no media file ${shownName(mediaId)} of yours` : "needs a mediaId" });
};

const planNode = (planner: Planner, node: GraphNode): void => {
  if (callsModel(node.type)) return planModelNode(planner, node);
  switch (node.type) {
    case "request-input":
      return known(planner, node, planner.request.inputs);
    case "media-upload":
      return planUpload(planner, node);
    case "text-box":
    case "list":
      return planPure(planner, node);
    case "http-request":
      return planHttp(planner, node);
    default:
      return undefined;
  }
};

/** What authors call the nodes that run. */
const labelsOf = (nodes: readonly GraphNode[]): Pick<RunPlan, "labels"> => {
  const labels = nodes.flatMap((node) => {
    const label = labelOf(node);
    return label === undefined ? [] : [[node.id, label]];
  });
  return labels.length === 0 ? {} : { labels: Object.fromEntries(labels) as Record<string, string> };
};

/** What flows into the response-output ports. Several nodes of the kind make one result. */
const planOutput = (planner: Planner, nodes: readonly GraphNode[]): Record<string, Source[]> => {
  const output = new Map<string, Source[]>();
  nodes.every((node) =>
    planWithin(planner, node.id, () => {
      for (const [port, edges] of planner.wiring.inputs.get(node.id) ?? []) {
        const to = { id: node.id, port, type: anyInput(node, port)?.type ?? "any" };
        output.set(port, [...(output.get(port) ?? []), ...edges.map((edge) => source(planner, edge, to))]);
      }
    }),
  );
  return Object.fromEntries(output);
};

/** Every issue once, in the order of the nodes; those of the graph as a whole come first. Past a bound they are left out. */
const inOrder = ({ nodes }: Graph, issues: readonly GraphIssue[]): GraphIssue[] => {
  const position = new Map(nodes.map((node, index) => [node.id, index]));
  const at = ({ nodeId }: GraphIssue): number => (nodeId === null ? -1 : (position.get(nodeId) ?? -1));
  const distinct = new Map(issues.map((issue) => [`${issue.nodeId ?? ""}\n${issue.message}`, issue]));
  return [...distinct.values()].sort((a, b) => at(a) - at(b)).slice(0, GRAPH_BOUNDS.issues);
};

const plannedModels = ({ models }: PlanRequest, steps: readonly PlanStep[]): RunPlan["models"] => {
  const used = new Set(steps.map((step) => step.model).filter((name) => name !== undefined));
  return Object.fromEntries(
    [...used].map((name) => {
      const { providerKind, modality, price } = models.get(name)!;
      return [name, { providerKind, modality, price }];
    }),
  );
};

/** `used`: what planning used up of the run's bounds. */
export type Planned = { used: Readonly<BudgetUse> } & (
  { plan: RunPlan; issues: [] } | { plan: undefined; issues: GraphIssue[]; unknownMedia: string[] }
);

/**
 * Turns a graph, its inputs and the models it names into a plan. Pure nodes whose inputs are known are evaluated
 * here, once; what is left runs later.
 * @returns the plan, or every reason why the graph can't run. Among them may be files that the request did not bring:
 * `unknownMedia` has their ids.
 */
export const planRun = (request: PlanRequest): Planned => {
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
    issues: [...request.graph.issues, ...issues, ...checkSettings(request.graph, schemaOf)],
    unknownMedia: new Set(),
    sizes: new Map(),
    tokens: new Map(),
    bytes: 0,
    budget: createBudget(),
    triedBytes: 0,
    warned: 0,
  };
  // Nodes on a cycle can't be ordered, but have problems of their own that are worth knowing.
  const withinBounds = [...wiring.order, ...wiring.stuck].every((node) => planWithin(planner, node.id, () => planNode(planner, node)));
  const outputNodes = wiring.order.filter((node) => node.type === "response-output");
  const output = withinBounds ? planOutput(planner, outputNodes) : {};
  const { used } = planner.budget;
  if (planner.issues.length > 0)
    return { used, plan: undefined, issues: inOrder(request.graph, planner.issues), unknownMedia: [...planner.unknownMedia] };
  const { steps, evaluated, warnings } = planner;
  return {
    used,
    plan: {
      steps,
      evaluated,
      warnings: Object.fromEntries(warnings),
      models: plannedModels(request, steps),
      ...labelsOf(wiring.order),
      output,
      outputNodes: outputNodes.map((node) => node.id),
      markupPermille: request.markupPermille,
      used: { valueBytes: used.valueBytes - planner.triedBytes, calls: 0, work: 0 },
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

const addIds = (value: unknown, ids: Set<string>): void => {
  if (isMediaId(value)) ids.add(value);
  else if (Array.isArray(value)) for (const one of value) addIds(one, ids);
  else if (isRecord(value)) for (const one of Object.values(value)) addIds(one, ids);
};

/** Every text that nodes of a graph say themselves and that could be the id of a file. Notes say nothing. */
export const saidIds = ({ nodes }: Graph): Set<string> => {
  const ids = new Set<string>();
  for (const node of nodes) if (node.type !== "note") addIds(node.data, ids);
  return ids;
};

/** Steps whose values wait for others, and may be meant as files only where they end up. */
const PASSES_ON: ReadonlySet<string> = new Set(["list", "text-box"]);

/** Ids that steps of a plan will pass on, to nodes that may take them for files. */
export const passedIds = ({ steps }: Pick<RunPlan, "steps">): string[] => {
  const ids = new Set<string>();
  for (const { type, literals, sources } of steps) if (PASSES_ON.has(type)) addIds([literals, Object.values(sources)], ids);
  return [...ids];
};
