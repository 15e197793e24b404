import { DomainError, itemKey } from "@nodeloom/kernel";
import { billing as billingProto, executions } from "@nodeloom/proto";
import type { Billing } from "../clients";
import type { Planning } from "./planning";

export type Quotes = ReturnType<typeof createQuotes>;

/** Validates and prices a run without running it. */
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
    // Calls that a list of unknown length may make beyond those that are held for. Trial grants may be gone by then.
    const more = plan.steps
      .filter((step) => step.model !== undefined)
      .reduce((sum, step) => sum + Math.max(0, (step.itemLimit ?? step.maxItems) - step.maxItems) * step.maxMillicredits, 0);
    const models = new Set(nodes.map((node) => node.model));
    const millicredits = nodes.reduce((sum, node) => sum + node.millicredits, 0);
    return executions.QuoteResponse.fromPartial({
      millicredits,
      maxMillicredits: millicredits + more,
      nodes,
      warnings: Object.entries(plan.warnings).flatMap(([nodeId, messages]) => messages.map((message) => ({ nodeId, message }))),
      grants: quoted.grants.filter((grant) => models.has(grant.model)),
    });
  },
});
