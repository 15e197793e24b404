import {
  DomainError,
  heldMillicredits,
  itemHolds,
  itemKey,
  mostMillicredits,
  stepModels,
  userCostMicroUsd,
  type PlanStep,
} from "@nodeloom/kernel";
import { billing as billingProto, executions } from "@nodeloom/proto";
import type { Billing } from "../clients";
import type { PlannedRun, Planning } from "../plan/planning";
import type { PlannedReuse } from "../plan/reruns";
import { consideredMessages } from "../plan/models";
import type { CanaryRun } from "../run/types";
import type { Runner } from "../run/runner";
import type { Reruns } from "../reuse/reruns";

/**
 * Returns the most that a step can cost beyond its hold: calls for a list of unknown length, inputs that are longer than expected, and
 * repeated requests for an answer. Trial grants may be used up by then.
 */
export const unheldMillicredits = (step: PlanStep, free = 0): number => {
  const { model, maxItems, itemLimit = maxItems, fallback = [] } = step;
  if (model === undefined) return 0;
  const most = Math.max(maxItems, itemLimit);
  const call = mostMillicredits(step);
  const dearestRepair = Math.max(...[step, ...fallback].map(({ answer }) => answer?.maxRepairMillicredits ?? 0));
  return (most - maxItems) * call + (maxItems - free) * (call - heldMillicredits(step)) + (most - free) * dearestRepair;
};

const MICRO_USD_PER_MILLICREDIT = 10;

const itemsOf = ({ id, maxItems }: PlanStep): string[] => Array.from({ length: maxItems }, (_, item) => itemKey(id, item));

/** Returns the number of a step's calls that a rerun reuses without charge. */
export const freeCalls = (step: PlanStep, reused: PlannedReuse | undefined): number =>
  reused ? itemsOf(step).filter((key) => reused.free.has(key)).length : 0;

/** Returns the share of a step's calls that a rerun reuses without charge. */
const freeOf = (step: PlanStep, reused: PlannedReuse | undefined, markupPermille: number) => {
  const keys = reused ? itemsOf(step) : [];
  const savedMicroUsd = keys.reduce((sum, key) => sum + (reused?.saved.get(key) ?? 0), 0);
  return {
    free: freeCalls(step, reused),
    reusedItems: keys.flatMap((key, item) => (reused?.saved.has(key) ? [item] : [])),
    savedMillicredits: Math.ceil(userCostMicroUsd(savedMicroUsd, markupPermille) / MICRO_USD_PER_MILLICREDIT),
  };
};

/** True if a step can cost less than its hold: a fallback may be called, the step may be skipped, or its model is priced by token usage. */
export const mayCostLess = ({ conditional, isMetered, maxMillicredits, fallback = [] }: PlanStep): boolean =>
  ((conditional === true || isMetered === true) && maxMillicredits > 0) || fallback.some((one) => one.maxMillicredits !== maxMillicredits);

/** Returns the most that a planned run can cost. */
export const mostOf = ({ plan, holds }: Pick<PlannedRun, "plan" | "holds">): number =>
  plan.steps.reduce((sum, step) => sum + unheldMillicredits(step), 0) +
  holds.reduce((sum, { maxMillicredits }) => sum + maxMillicredits, 0);

/** Returns the dearer of the quotes of an alias's version and its canary. Either may run. */
const dearer = (one: executions.QuoteResponse, other: executions.QuoteResponse): executions.QuoteResponse => {
  const mostMillicredits = Math.max(one.maxMillicredits, other.maxMillicredits);
  const differs = one.millicredits !== other.millicredits;
  const [most] = [one, other].sort((a, b) => b.millicredits - a.millicredits || b.maxMillicredits - a.maxMillicredits);
  return { ...most!, maxMillicredits: mostMillicredits, mayCostLess: one.mayCostLess || other.mayCostLess || differs };
};

export type Quotes = ReturnType<typeof createQuotes>;

interface QuotesOptions {
  planning: Planning;
  reruns: Pick<Reruns, "planningOf">;
  billing: Billing;
}

export const createQuotes = ({ planning, reruns, billing }: QuotesOptions) => {
  const planArm = async (
    { target, runner, inputsJson, rerun, unsaved }: executions.QuoteRequest,
    arm: CanaryRun["arm"],
  ): Promise<PlannedRun> => {
    if (!runner) throw new DomainError("invalid", "INVALID_REQUEST", "a quote needs a runner");
    const version = target?.version ?? "";
    return planning.plan({
      target: target?.target,
      version,
      alias: target?.alias,
      until: target?.until ?? "",
      runner,
      inputsJson,
      isAsync: false,
      storesNothing: true,
      armOf: () => arm,
      ...(unsaved ? { unsaved } : {}),
      ...(rerun && (await reruns.planningOf(rerun, { runner, inputsJson, version, alias: target?.alias, pins: false }))),
    });
  };

  const quoteOf = async ({ plan, holds, reused }: PlannedRun, runner: Runner): Promise<executions.QuoteResponse> => {
    const free = new Map(plan.steps.map((step) => [step.id, freeOf(step, reused, runner.markupPermille)]));
    const quoted = await billing.quoteHold({ userId: runner.userId, items: holds.map((item) => ({ alternativeTo: "", ...item })) });
    const byKey = new Map(quoted.items.map((item) => [item.key, item]));
    const { HOLD_SOURCE_GRANT } = billingProto.HoldSource;
    const nodes = plan.steps
      .filter((step) => step.model !== undefined)
      .map((step) => {
        const { reusedItems, savedMillicredits } = free.get(step.id)!;
        const items = itemsOf(step)
          .flatMap((key, item) => (reused?.free.has(key) ? [] : itemHolds(step, item)))
          .map(({ key }) => byKey.get(key));
        return executions.QuoteNode.fromPartial({
          id: step.id,
          type: step.type,
          model: step.model ?? "",
          items: step.maxItems,
          millicredits: items.reduce(
            (sum, item) => sum + (item?.source === HOLD_SOURCE_GRANT ? 0 : (item?.millicredits ?? heldMillicredits(step))),
            0,
          ),
          grant: items.some((item) => item?.source === HOLD_SOURCE_GRANT),
          ...{ reusedItems, savedMillicredits },
          considered: consideredMessages(plan, step.id),
        });
      });
    const more = plan.steps.reduce((sum, step) => sum + unheldMillicredits(step, free.get(step.id)!.free), 0);
    const models = new Set(plan.steps.flatMap(stepModels));
    const millicredits = nodes.reduce((sum, node) => sum + node.millicredits, 0);
    return executions.QuoteResponse.fromPartial({
      millicredits,
      maxMillicredits: millicredits + more,
      mayCostLess: plan.steps.some((step) => {
        const isFree = free.get(step.id)!.free >= step.maxItems;
        return !isFree && (mayCostLess(step) || (reused?.open.has(step.id) === true && step.maxMillicredits > 0));
      }),
      nodes,
      warnings: Object.entries(plan.warnings).flatMap(([nodeId, messages]) => messages.map((message) => ({ nodeId, message }))),
      grants: quoted.grants.filter((grant) => models.has(grant.model)),
    });
  };

  return {
    quote: async (request: executions.QuoteRequest): Promise<executions.QuoteResponse> => {
      const planned = await planArm(request, "base");
      const quote = await quoteOf(planned, request.runner!);
      const canary = planned.canary && (await planArm(request, "canary"));
      return canary?.canary && !canary.canary.isUnplanned ? dearer(quote, await quoteOf(canary, request.runner!)) : quote;
    },
  };
};
