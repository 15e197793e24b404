import { DomainError, LIMITS } from "@nodeloom/kernel";
import { requestContext, serverStream, unary } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import { collectPage, readCursor } from "./record/pages";
import type { Quotes } from "./plan/quotes";
import type { Runs } from "./lifecycle/runs";
import type { ExecutionStatus, ExecutionStore } from "./record/store";
import { executionMessage } from "./record/view";
import type { Watch } from "./record/watch";
import type { Webhooks } from "./webhooks/webhooks";

const DEFAULT_PAGE = 50;
const STATUSES: readonly string[] = ["processing", "cancel_requested", "completed", "failed", "cancelled"];

const readStatus = (status: string): ExecutionStatus | undefined => {
  if (status === "") return undefined;
  if (STATUSES.includes(status)) return status as ExecutionStatus;
  const message = `must be one of: ${STATUSES.join(", ")}`;
  throw new DomainError("invalid", "INVALID_REQUEST", `status: ${message}`, { issues: [{ path: "status", message }] });
};

export interface HandlerOptions {
  runs: Runs;
  quotes: Quotes;
  watch: Watch;
  store: ExecutionStore;
  redeliver: (executionId: string, userId: string) => Promise<executions.WebhookDelivery>;
  webhooks: Pick<Webhooks, "test">;
}

export const executionsHandlers = ({
  runs,
  quotes,
  watch,
  store,
  redeliver,
  webhooks,
}: HandlerOptions): executions.ExecutionsServiceServer => ({
  run: unary(async (request) =>
    executions.RunResponse.fromPartial({ execution: executionMessage(await runs.run(request, requestContext()?.deadlineMs)) }),
  ),
  quote: unary(async (request) => executions.QuoteResponse.fromPartial(await quotes.quote(request))),
  getExecution: unary(async ({ executionId, userId }) =>
    executions.GetExecutionResponse.fromPartial({ execution: executionMessage(await runs.get(executionId, userId)) }),
  ),
  cancelExecution: unary(async ({ executionId, userId }) =>
    executions.CancelExecutionResponse.fromPartial({ status: await runs.cancel(executionId, userId) }),
  ),
  listExecutions: unary(async ({ userId, status, workflowSlug, limit, cursor }) => {
    const size = Math.min(limit || DEFAULT_PAGE, LIMITS.usagePageRows);
    const rows = store.list({
      userId: userId || null,
      status: readStatus(status),
      workflowSlug: workflowSlug || undefined,
      limit: size + 1,
      before: readCursor(cursor),
    });
    return collectPage(rows, size);
  }),
  watchExecution: serverStream(({ executionId, userId, afterSequence }, signal) => watch(executionId, userId, afterSequence, signal)),
  redeliverWebhook: unary(async ({ executionId, userId }) =>
    executions.RedeliverWebhookResponse.fromPartial({ webhookDelivery: await redeliver(executionId, userId) }),
  ),
  testWebhook: unary((request) => webhooks.test(request)),
});
