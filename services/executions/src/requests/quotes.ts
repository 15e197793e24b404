/** What a run would cost. */
import { DomainError, itemKey, type PlanStep } from "@nodeloom/kernel";
import { billing as billingProto, executions } from "@nodeloom/proto";
import type { Billing } from "../clients";
import type { Planning } from "../plan/planning";

/**
 * The most that a step may cost beyond what is held for it: calls of a list of unknown length, and answers that are asked for
 * once more. Trial grants may be gone by then.
 */
const unheldMillicredits = ({ model, maxItems, itemLimit = maxItems, maxMillicredits, answer }: PlanStep): number => {
  if (model === undefined) return 0;
  const most = Math.max(maxItems, itemLimit);
  return (most - maxItems) * maxMillicredits + most * (answer?.maxRepairMillicredits ?? 0);
};

export type Quotes = ReturnType<typeof createQuotes>;

export const createQuotes = ({ planning, billing }: { planning: Planning; billing: Billing }) => ({
  quote: async ({ target, runner, inputsJson }: executions.QuoteRequest): Promise<executions.QuoteResponse> => {
    if (!runner) throw new DomainError("invalid", "INVALID_REQUEST", "a quote needs a runner");
    const { plan, holds } = await planning.plan({
      target: target?.target,
      version: target?.version ?? "",
      until: target?.until ?? "",
      runner,
      inputsJson,
      isAsync: false,
      storesNothing: true,
    });
    const quoted = await billing.quoteHold({ userId: runner.userId, items: holds });
    const byKey = new Map(quoted.items.map((item) => [item.key, item]));
    const { HOLD_SOURCE_GRANT } = billingProto.HoldSource;
    const nodes = plan.steps
      .filter((step) => step.model !== undefined)
      .map((step) => {
        const items = Array.from({ length: step.maxItems }, (_, item) => byKey.get(itemKey(step.id, item)));
        return executions.QuoteNode.fromPartial({
          id: step.id,
          type: step.type,
          model: step.model ?? "",
          items: step.maxItems,
          millicredits: items.reduce(
            (sum, item) => sum + (item?.source === HOLD_SOURCE_GRANT ? 0 : (item?.millicredits ?? step.maxMillicredits)),
            0,
          ),
          grant: items.some((item) => item?.source === HOLD_SOURCE_GRANT),
        });
      });
    const more = plan.steps.reduce((sum, step) => sum + unheldMillicredits(step), 0);
    const models = new Set(nodes.map((node) => node.model));
    const millicredits = nodes.reduce((sum, node) => sum + node.millicredits, 0);
    return executions.QuoteResponse.fromPartial({
      millicredits,
      maxMillicredits: millicredits + more,
      mayCostLess: plan.steps.some(({ conditional, maxMillicredits }) => conditional === true && maxMillicredits > 0),
      nodes,
      warnings: Object.entries(plan.warnings).flatMap(([nodeId, messages]) => messages.map((message) => ({ nodeId, message }))),
      grants: quoted.grants.filter((grant) => models.has(grant.model)),
    });
  },
});
