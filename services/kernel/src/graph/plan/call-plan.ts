import { callInputs } from "../values/bind";
import { givenMaxMillicredits } from "../auto/route";
import { autoName, TASK_NAMES, taskOf } from "../auto/tasks";
import type { NodeKind } from "../kinds/kind";
import { toCredits } from "../../credits/money";
import { didYouMean } from "../../text/nearest-name";
import { callProblems, fileInputs, knownCalls, openInputs, type KnownCalls } from "./call-costs";
import { planFallback, planOthers, type PlannedAlternative } from "./fallback";
import { skipsFailed } from "./item-errors";
import { attempt, tryInputs, type ModelTerms, type Planner } from "./planner";
import {
  buildStep,
  givenMaxInputChars,
  inputCharsProblem,
  knownItems,
  stepItems,
  typicalCall,
  warnUnresolved,
  type ItemBounds,
} from "./plan-step";
import { modelGone, warnOfRetirement } from "./retirement";
import type { PlanStep } from "./plan-types";
import { unitPrices } from "../prices/price";
import { finding, findingInWords, type Finding } from "../../issues";
import type { GraphNode } from "../types";
import { shownName } from "../../text/shown-name";

/** Returns the node's model. If the node can't use it, reports an issue and returns undefined. */
const termsOf = (planner: Planner, { modality = "" }: NodeKind, node: GraphNode): ModelTerms | undefined => {
  const report = (callFinding: Finding): undefined => void planner.issues.push({ nodeId: node.id, ...callFinding });
  const name = node.data.model;
  if (typeof name !== "string" || name === "") return report(finding("MODEL_MISSING"));
  const terms = planner.request.models.get(name);
  const task = taskOf(name);
  if (!terms && task !== undefined)
    return report(
      findingInWords(
        "MODEL_UNFIT",
        planner.request.noModel?.get(node.id) ?? `there is no task ${shownName(name)}${didYouMean(name, TASK_NAMES.map(autoName))}`,
      ),
    );
  if (!terms) return report(modelGone(planner, name));
  if (terms.modality === modality) return terms;
  const unfit = `${terms.internalName} generates ${terms.modality}, but this node needs a model that generates ${modality}`;
  return report(findingInWords("MODEL_UNFIT", unfit, "model"));
};

/** Reports a call that can cost more than the node's setting allows. */
const checkMaxCredits = (planner: Planner, node: GraphNode, { internalName }: ModelTerms, millicredits: number): void => {
  const most = givenMaxMillicredits(node);
  if (most === undefined || millicredits <= most) return;
  const message = `one call of ${internalName} can cost ${toCredits(millicredits)} credits, more than maxCredits (${toCredits(most)})`;
  planner.issues.push({ nodeId: node.id, ...findingInWords("LIMIT_EXCEEDED", message, "maxCredits") });
};

export interface PlannedCalls extends KnownCalls {
  step: PlanStep;
  bounds: ItemBounds;
  alternatives: readonly PlannedAlternative[];
}

/**
 * Plans the calls of a node's model. Known inputs are checked and priced.
 * @param terms replaces the registered model, for example with an operation
 * @param moreTokens input tokens in addition to the inputs
 */
export const planCalls = (
  planner: Planner,
  kind: NodeKind,
  node: GraphNode,
  { terms: own, moreTokens = 0 }: { terms?: ModelTerms; moreTokens?: number } = {},
): PlannedCalls | undefined => {
  const terms = own ?? termsOf(planner, kind, node);
  if (!terms) return undefined;
  warnOfRetirement(planner, node, terms);
  const built = buildStep(planner, kind, node, terms);
  warnUnresolved(planner, built);
  const bound = knownItems(planner, node, built);
  const { unknown } = bound;
  const candidates =
    attempt(planner, node.id, () => tryInputs(planner, () => bound.items.map((item) => callInputs(built, item, planner.budget)))) ?? [];
  const problems = callProblems(built, terms, candidates, openInputs(built, unknown));
  for (const problem of problems) planner.issues.push({ nodeId: node.id, ...problem });
  const bounds = stepItems(planner, node, built, bound, fileInputs(terms.inputSchema, built));
  const inputTokens = bounds.tokens + moreTokens;
  const calls = knownCalls(built, { terms, candidates, unknown, inputTokens }, planner.request.markupPermille);
  const typical = (of: KnownCalls) => typicalCall(of, bounds);
  const ownCalls = { step: built, terms, items: bound.items, unknown, inputTokens, typical };
  const alternatives = own ? [] : planFallback(planner, kind, node, ownCalls);
  const maxMillicredits = calls.costWith(0);
  const others = planner.request.others?.get(node.id);
  if (others) {
    const price = problems[0] ? { problem: problems[0].message } : { millicredits: maxMillicredits };
    planner.prices.set(node.id, new Map([[terms.internalName, price], ...planOthers(planner, kind, ownCalls, others)]));
  } else checkMaxCredits(planner, node, terms, maxMillicredits);
  planner.budget.calls(bounds.items);
  const maxInputChars = givenMaxInputChars(node);
  const tooLong = unknown.size === 0 ? inputCharsProblem(candidates, built.textPorts, maxInputChars) : undefined;
  if (tooLong !== undefined) planner.issues.push({ nodeId: node.id, ...findingInWords("INPUT_INVALID", tooLong, "maxInputChars") });
  const step: PlanStep = {
    ...built,
    ...skipsFailed(node),
    maxItems: bounds.items,
    itemLimit: bounds.limit,
    maxMillicredits,
    ...typical(calls),
    ...(unitPrices(terms.price).some(({ basis }) => basis === "tokens") ? { isMetered: true } : {}),
    ...(maxInputChars === undefined ? {} : { maxInputChars }),
    ...(alternatives.length > 0 ? { fallback: alternatives.map(({ alternative }) => alternative) } : {}),
  };
  return { ...calls, step, bounds, alternatives };
};
