import { LIMITS } from "../../limits";
import { millicreditsFor } from "../../money";
import { callInputs } from "../values/bind";
import { autoName, TASK_NAMES, taskOf } from "../auto/tasks";
import type { NodeKind } from "../kinds/kind";
import { didYouMean, nearestName } from "../../nearest-name";
import { attempt, tryInputs, type ModelTerms, type Planner } from "./planner";
import { buildStep, knownItems, stepItems, warnUnresolved, type ItemBounds } from "./plan-step";
import type { PlanStep } from "./plan-types";
import { FILE_TOKENS_KEYWORD, PRICED_INPUTS, propertySchema, worstCaseMicroUsd, type JsonSchema } from "../prices/price";
import { isRecord, shownName, type GraphNode } from "../types";
import { member, placeholdersIn } from "../values/value";

/** The most tokens a provider counts for one file, where the model's schema doesn't say (`x-tokens` of the input). */
const FILE_TOKENS = 2_000;
const MESSAGE_OVERHEAD_TOKENS = 64;

/** What a model's input says of one file: of those that take several, what their items say. */
const fileSchema = (property: JsonSchema | undefined): JsonSchema | undefined =>
  property?.type === "array" && isRecord(property.items) ? property.items : property;

/** Inputs of a model that are files: they count as `fileTokens`, not by the length of their address. */
const fileInputs = (schema: JsonSchema, step: PlanStep): string[] => {
  const quoted = new Set(placeholdersIn(step.literals));
  return step.inputNames.filter((name) => fileSchema(propertySchema(schema, name))?.format === "media" && !quoted.has(name));
};

/** The most files of an input that one call is given. */
const mostFiles = (property: JsonSchema | undefined, step: PlanStep, name: string): number => {
  const [literal, flowing] = [member(step.literals, name), member(step.sources, name)];
  if (literal === undefined && flowing === undefined) return 0;
  if (property?.type !== "array") return 1;
  if (flowing === undefined && Array.isArray(literal)) return literal.length;
  return typeof property.maxItems === "number" ? property.maxItems : LIMITS.fanOutItems;
};

const fileTokens = (schema: JsonSchema, step: PlanStep): number =>
  fileInputs(schema, step)
    .map((name) => {
      const property = propertySchema(schema, name);
      return mostFiles(property, step, name) * Number(fileSchema(property)?.[FILE_TOKENS_KEYWORD] ?? FILE_TOKENS);
    })
    .reduce((sum, tokens) => sum + tokens, 0);

const requiredNames = (schema: JsonSchema): string[] => (Array.isArray(schema.required) ? (schema.required as string[]) : []);

/** Inputs of a step that will be known only when it runs: what flows in then, and texts that it is put into. */
const openInputs = (step: PlanStep, unknown: ReadonlySet<string>): Set<string> =>
  new Set([
    ...unknown,
    ...step.textPorts.filter((name) => placeholdersIn(member(step.literals, name)).some((placeholder) => unknown.has(placeholder))),
  ]);

const checkCalls = (
  planner: Planner,
  step: PlanStep,
  terms: ModelTerms,
  calls: readonly Record<string, unknown>[],
  open: ReadonlySet<string>,
): void => {
  const report = (message: string): void => void planner.issues.push({ nodeId: step.id, message });
  if (calls.length === 0) {
    // An empty list calls nothing, yet an input that nothing gives is missing.
    for (const name of requiredNames(terms.inputSchema))
      if (member(step.literals, name) === undefined && member(step.sources, name) === undefined) report(`${name}: is required`);
    return;
  }
  const problems = calls.flatMap((inputs) => terms.validate(inputs)).filter(({ path }) => !open.has(path.split(".")[0]!));
  const names = step.inputNames.filter((name) => member(step.literals, name) === undefined);
  const hint = (path: string): string => {
    const meant = member(step.literals, path) !== undefined && !step.inputNames.includes(path) ? nearestName(path, names) : undefined;
    return meant === undefined ? "" : `; did you mean ${meant}?`;
  };
  for (const message of new Set(problems.map(({ path, message }) => `${path}: ${message}${hint(path)}`))) report(message);
};

export const answerTokens = (schema: JsonSchema, inputs: Readonly<Record<string, unknown>>, unknown: ReadonlySet<string>): number => {
  const property = propertySchema(schema, PRICED_INPUTS.tokens);
  const given = unknown.has(PRICED_INPUTS.tokens) ? property?.maximum : (inputs[PRICED_INPUTS.tokens] ?? property?.default);
  return typeof given === "number" ? given : LIMITS.textValueBytes;
};

/** The model that a node names; undefined, with an issue, when the node can't use it. */
const termsOf = (planner: Planner, { modality = "" }: NodeKind, node: GraphNode): ModelTerms | undefined => {
  const report = (message: string): undefined => void planner.issues.push({ nodeId: node.id, message });
  const name = node.data.model;
  if (typeof name !== "string" || name === "") return report("needs a model");
  const terms = planner.request.models.get(name);
  const task = taskOf(name);
  if (!terms && task !== undefined)
    return report(planner.request.noModel?.get(name) ?? `there is no task ${shownName(name)}${didYouMean(name, TASK_NAMES.map(autoName))}`);
  if (!terms) return report(`there is no enabled model ${shownName(name)}${didYouMean(name, planner.request.modelNames ?? [])}`);
  if (terms.modality === modality) return terms;
  return report(`${terms.internalName} makes ${terms.modality}, but this node needs a model that makes ${modality}`);
};

/** A step that calls a model, and what is known of its calls. */
export interface PlannedCalls {
  step: PlanStep;
  terms: ModelTerms;
  /** What the calls are given, as far as it is known. */
  candidates: Record<string, unknown>[];
  bounds: ItemBounds;
  /** Ports that wait for nodes that have yet to run. */
  unknown: ReadonlySet<string>;
  /** The most one call may cost with so many tokens more going in, in milli-credits. */
  costWith(moreTokens: number): number;
}

/**
 * Plans the calls of a node's model: checked and priced as far as their inputs are known.
 * @param terms what is called, where that is no registered model
 * @param moreTokens tokens that go in beside the inputs
 */
export const planCalls = (
  planner: Planner,
  kind: NodeKind,
  node: GraphNode,
  { terms: own, moreTokens = 0 }: { terms?: ModelTerms; moreTokens?: number } = {},
): PlannedCalls | undefined => {
  const terms = own ?? termsOf(planner, kind, node);
  if (!terms) return undefined;
  const built = buildStep(planner, kind, node, terms);
  warnUnresolved(planner, built);
  const bound = knownItems(planner, built);
  const { unknown } = bound;
  const candidates =
    attempt(planner, node.id, () => tryInputs(planner, () => bound.items.map((item) => callInputs(built, item, planner.budget)))) ?? [];
  const open = openInputs(built, unknown);
  checkCalls(planner, built, terms, candidates, open);
  const bounds = stepItems(planner, node, built, bound, fileInputs(terms.inputSchema, built));
  const inputTokens = bounds.tokens + MESSAGE_OVERHEAD_TOKENS + fileTokens(terms.inputSchema, built) + moreTokens;
  const price = { price: terms.price, schema: terms.inputSchema, unknown: open };
  const costWith = (more: number): number => {
    const worst = candidates.map((inputs) => worstCaseMicroUsd({ ...price, inputs, inputTokens: inputTokens + more }));
    return millicreditsFor(Math.max(0, ...worst), planner.request.markupPermille);
  };
  planner.budget.calls(bounds.items);
  const step: PlanStep = {
    ...built,
    maxItems: bounds.items,
    itemLimit: bounds.limit,
    maxMillicredits: costWith(0),
  };
  return { step, terms, candidates, bounds, unknown, costWith };
};

/** The most tokens of one answer. */
export const textTokens = ({ terms, candidates, unknown }: PlannedCalls): number =>
  Math.max(0, ...candidates.map((inputs) => answerTokens(terms.inputSchema, inputs, unknown)));
