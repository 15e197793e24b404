import { LIMITS } from "../../limits";
import { GRAPH_BOUNDS } from "../bounds";
import { isSecret } from "../http/secrets";
import { isKnown, joined, tokensOf, type Bounds } from "./abstract";
import { isFileInput, type KnownCalls } from "./call-costs";
import { bindItems, type Bound } from "../values/bind";
import { finding } from "../../issues";
import type { NodeKind } from "../kinds/kind";
import {
  abstractSources,
  attempt,
  countInPlan,
  isGiven,
  resolveFiles,
  source,
  warn,
  type ModelTerms,
  type Planner,
  type WiredEnd,
} from "./planner";
import { knownSource, mayCarry, type PlanStep, type Source } from "./plan-types";
import { isFileType, literalInputs, type InputPort } from "../wiring/ports";
import { propertySchema, type JsonSchema } from "../prices/price";
import { isRecord, type GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import { member, placeholdersIn, placeholderUses, withAddresses } from "../values/value";
import { givenMaxItems, mostItems } from "./max-items";

/** Maximum templates per call: a prompt and a system prompt. */
const MOST_TEXTS = 2;

/** Literal inputs of a model. File ids become URLs; empty values are dropped. */
const modelLiterals = (planner: Planner, node: GraphNode, schema: JsonSchema, ports: Map<string, InputPort>) => {
  const wired = planner.wiring.inputs.get(node.id);
  return Object.fromEntries(
    Object.entries(literalInputs(node, schema)).flatMap(([name, value]): [string, unknown][] => {
      const type = ports.get(name)?.type ?? "any";
      // The literal is the value of a placeholder, not an input.
      if (schema && ports.has(name) && propertySchema(schema, name) === undefined) return [];
      if (!isFileType(type)) return [[name, value]];
      // A connected value overrides the literal.
      return value === "" || isGiven(planner, wired?.get(name) ?? [])
        ? []
        : [[name, withAddresses(resolveFiles(planner, node.id, name, type, value))]];
    }),
  );
};

const literalsOf = (kind: NodeKind, node: GraphNode): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(kind.settings)
      .map((name) => [name, member(node.data, name)])
      .filter(([, value]) => value !== undefined),
  );

/** Values for unconnected placeholders, from `data.inputs` or `data`. */
const placeholderValues = (kind: NodeKind, node: GraphNode, names: readonly string[]): [string, unknown][] => {
  // Members of `data` that are settings never fill placeholders.
  const isSetting = (name: string): boolean => name === "label" || Object.hasOwn(kind.settings, name);
  const inputs = isRecord(node.data.inputs) ? node.data.inputs : {};
  return names
    .map((name): [string, unknown] => [name, member(inputs, name) ?? (isSetting(name) ? undefined : member(node.data, name))])
    .filter(([, value]) => value !== undefined && value !== null);
};

/** Builds a step with its literals, sources and ports. Its calls aren't planned yet. */
export const buildStep = (planner: Planner, kind: NodeKind, node: GraphNode, terms?: ModelTerms): PlanStep => {
  const ports = kind.inputs(node, terms?.inputSchema);
  const wired = planner.wiring.inputs.get(node.id) ?? new Map<string, WiredEnd[]>();
  const properties = terms && isRecord(terms.inputSchema.properties) ? Object.keys(terms.inputSchema.properties) : [];
  const literals = terms ? modelLiterals(planner, node, terms.inputSchema, ports) : literalsOf(kind, node);
  const numbers = properties.filter((name) => ports.get(name)?.type === "number" && wired.has(name));
  const isTemplate = (name: string): boolean => planner.request.noTemplates !== true && ports.get(name)?.type === "text";
  countInPlan(planner, { value: literals });
  const unconnected = planner.request.noTemplates
    ? []
    : [...ports].filter(([name, port]) => port.isPlaceholder === true && !wired.has(name)).map(([name]) => name);
  const placeholderSources = placeholderValues(kind, node, unconnected).map(([name, value]): [string, Source[]] => {
    countInPlan(planner, { value });
    return [name, [knownSource(value)]];
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
      ...placeholderSources,
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

/** Ports that depend on steps that run later. */
const unknownPorts = (step: PlanStep): Set<string> =>
  new Set(
    Object.entries(step.sources)
      .filter(([, sources]) => sources.some((one) => "node" in one))
      .map(([port]) => port),
  );

export interface KnownItems extends Bound {
  /** True if every port is known, so that the items are exact. Otherwise they contain only the known parts. */
  complete: boolean;
  unknown: ReadonlySet<string>;
  /** True if known lists differ in length. */
  failed: boolean;
}

export const knownItems = (planner: Planner, node: GraphNode, step: PlanStep): KnownItems => {
  const unknown = unknownPorts(step);
  const complete = unknown.size === 0;
  const sources = Object.fromEntries(Object.entries(step.sources).filter(([port]) => !unknown.has(port)));
  // A list that is longer than the node's own maximum is reported by `stepItems`.
  const limit = givenMaxItems(node) === undefined ? {} : { itemLimit: GRAPH_BOUNDS.listItems };
  const bound = attempt(planner, step.id, () => bindItems({ sources, listPorts: step.listPorts, ...limit }, runsNothing, planner.budget));
  return { ...(bound ?? { items: [], mapped: true }), complete, unknown, failed: bound === undefined };
};

/** Bounds on the items of a node that depends on later steps. */
export interface ItemBounds {
  /** Number of items that the hold covers. */
  items: number;
  /** Maximum number of items. The node fails if there are more. */
  limit: number;
  mapped: boolean;
  tokens: number;
  /** Expected number of tokens. It is less than `tokens` if a text is unknown until the run. */
  typicalTokens: number;
}

/** Expected tokens of a text that is unknown until the run. */
const UNKNOWN_TOKENS = 1_000;
/** Maximum bytes of a UTF-16 unit in UTF-8. */
const MOST_UNIT_BYTES = 3;
/** Name of the input with the conversation that a prompt continues. */
const HISTORY = "history";

/** The author's limit for the characters of a language model's texts. */
export const givenMaxInputChars = ({ data: { maxInputChars } }: GraphNode): number | undefined =>
  Number.isInteger(maxInputChars) && (maxInputChars as number) > 0 ? (maxInputChars as number) : undefined;

/** Number of characters in a call's texts. */
const inputChars = (inputs: Readonly<Record<string, unknown>>, textPorts: readonly string[]): number =>
  [...new Set([...textPorts, HISTORY])]
    .map((name) => member(inputs, name))
    .reduce<number>(
      (sum, value) => sum + (typeof value === "string" ? value.length : value === undefined ? 0 : JSON.stringify(value).length),
      0,
    );

/** The reason why the texts of a node's calls are too long, or undefined. */
export const inputCharsProblem = (
  calls: readonly Readonly<Record<string, unknown>>[],
  textPorts: readonly string[],
  maxInputChars: number | undefined,
): string | undefined => {
  if (maxInputChars === undefined) return undefined;
  const characters = Math.max(0, ...calls.map((inputs) => inputChars(inputs, textPorts)));
  return characters > maxInputChars ? `the texts have ${characters} characters, and maxInputChars allows ${maxInputChars}` : undefined;
};

/** Expected call of a language model whose input is unknown until the run; empty for other calls. */
export const typicalCall = (
  { terms, costWith }: Pick<KnownCalls, "terms" | "costWith">,
  { tokens, typicalTokens }: Pick<ItemBounds, "tokens" | "typicalTokens">,
): Pick<PlanStep, "typical"> => {
  if (terms.providerKind !== "llm" || typicalTokens >= tokens) return {};
  const millicredits = costWith(typicalTokens - tokens);
  const { properties } = terms.inputSchema;
  const files = Object.keys(isRecord(properties) ? properties : {}).filter((name) => isFileInput(terms.inputSchema, name));
  return millicredits < costWith(0) ? { typical: { millicredits, inputBytes: typicalTokens, mostBytes: tokens, files } } : {};
};

/** Bounds on a step's items and on the tokens of one call. Files add no text tokens. */
const itemBounds = (planner: Planner, node: GraphNode, step: PlanStep, files: readonly string[]): ItemBounds => {
  let [items, mostWired, mapped, isEmpty] = [1, 1, false, false];
  planner.budget.work(Object.keys(step.sources).length);
  const literalTokens = tokensOf(
    JSON.stringify(Object.fromEntries(Object.entries(step.literals).filter(([name]) => !files.includes(name)))),
  );
  // Inputs that aren't texts, such as tools, are counted separately, because maxInputChars doesn't limit them.
  let [textTokens, otherTokens, knownTokens, isOpen] = [0, 0, literalTokens, false];
  // A template can repeat a value as long as the text stays within the length limit.
  const uses = planner.request.noTemplates ? new Map<string, number>() : placeholderUses(step.literals);
  const wired = planner.wiring.inputs.get(node.id);
  for (const [port, sources] of Object.entries(step.sources)) {
    const flowing = wired?.has(port) ? abstractSources(planner, node, port) : sources.filter((one) => "value" in one);
    const bounds = joined(flowing);
    const filled = ({ tokens }: Bounds): number =>
      Math.min(tokens * Math.max(1, uses.get(port) ?? 0), Math.max(tokens, MOST_TEXTS * LIMITS.textValueBytes));
    if (!files.includes(port)) {
      if (step.inputNames.includes(port) && !step.textPorts.includes(port) && port !== HISTORY) otherTokens += filled(bounds);
      else textTokens += filled(bounds);
      knownTokens += filled(joined(flowing.filter(isKnown)));
      isOpen ||= !flowing.every(isKnown);
    }
    if (!bounds.list || step.listPorts.includes(port)) continue;
    mapped = true;
    isEmpty ||= bounds.most === 0;
    items = Math.max(items, bounds.items);
    mostWired = Math.max(mostWired, bounds.most);
  }
  const most = givenMaxInputChars(node);
  const tokens = literalTokens + otherTokens + (most === undefined ? textTokens : Math.min(textTokens, most * MOST_UNIT_BYTES));
  const typicalTokens = isOpen ? Math.min(tokens, knownTokens + UNKNOWN_TOKENS) : tokens;
  const textFacts = { mapped, tokens, typicalTokens };
  // All lists of a step have equal lengths, so one empty list means no calls.
  if (isEmpty) return { items: 0, limit: 0, ...textFacts };
  const limit = Math.min(mostWired, mostItems(node));
  const expected = items === mostWired ? items : (givenMaxItems(node) ?? items);
  return { items: Math.min(expected, limit), limit, ...textFacts };
};

/** Items of a step. One known list is enough, because all lists have equal lengths. */
export const stepItems = (
  planner: Planner,
  node: GraphNode,
  step: PlanStep,
  bound: KnownItems,
  files: readonly string[] = [],
): ItemBounds => {
  const bounds = itemBounds(planner, node, step, files);
  if (!bound.complete && !bound.mapped) return bounds;
  const { length } = bound.items;
  const most = givenMaxItems(node);
  if (bound.mapped && most !== undefined && length > most)
    planner.issues.push({ nodeId: node.id, ...finding("TOO_MANY_ITEMS", { items: String(length), most: String(most) }) });
  return { ...bounds, items: length, limit: length };
};

/** Warns about placeholders without a value. They become empty text. */
export const warnUnresolved = (planner: Planner, step: PlanStep): void => {
  if (planner.request.noTemplates) return;
  const texts = step.model === undefined ? step.literals : step.textPorts.map((name) => member(step.literals, name));
  for (const placeholder of placeholdersIn(texts)) {
    const sources = member(step.sources, placeholder);
    const name = shownName(placeholder);
    if (step.secrets && isSecret(placeholder)) continue;
    if (!sources) warn(planner, step.id, finding(isSecret(placeholder) ? "SECRET_MISPLACED" : "NOT_CONNECTED", { name }));
    else if (!mayCarry(sources)) warn(planner, step.id, finding("NOT_GIVEN", { name }));
  }
};
