import { DomainError, LIMITS, UUID } from "@nodeloom/kernel";
import { serverStream, unary } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import type { Quotes } from "./quotes";
import type { Runs } from "./runs";
import type { ExecutionStatus, ExecutionStore } from "./store";
import { executionMessage } from "./view";
import type { Watch } from "./watch";
import type { Webhooks } from "./webhooks";

const DEFAULT_PAGE = 50;
const STATUSES: readonly string[] = ["processing", "cancel_requested", "completed", "failed", "cancelled"];

const cursorOf = (record: { createdAt: Date; _id: string }): string =>
  Buffer.from(`${record.createdAt.getTime()}:${record._id}`).toString("base64url");

const readCursor = (cursor: string): { createdAt: Date; id: string } | undefined => {
  if (cursor === "") return undefined;
  const [at, id] = Buffer.from(cursor, "base64url").toString("utf8").split(":");
  if (!/^\d{1,15}$/.test(at ?? "") || !UUID.test(id ?? "")) {
    throw new DomainError("invalid", "INVALID_REQUEST", "cursor: is not one of ours", {
      issues: [{ path: "cursor", message: "is not one of ours" }],
    });
  }
  return { createdAt: new Date(Number(at)), id: id! };
};

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
  run: unary(async (request) => executions.RunResponse.fromPartial({ execution: executionMessage(await runs.run(request)) })),
  quote: unary(async (request) => executions.QuoteResponse.fromPartial(await quotes.quote(request))),
  getExecution: unary(async ({ executionId, userId }) =>
    executions.GetExecutionResponse.fromPartial({ execution: executionMessage(await runs.get(executionId, userId)) }),
  ),
  cancelExecution: unary(async ({ executionId, userId }) =>
    executions.CancelExecutionResponse.fromPartial({ status: await runs.cancel(executionId, userId) }),
  ),
  listExecutions: unary(async ({ userId, status, workflowSlug, limit, cursor }) => {
    const size = Math.min(limit || DEFAULT_PAGE, LIMITS.usagePageRows);
    const rows = await store.list({
      userId: userId || null,
      status: readStatus(status),
      workflowSlug: workflowSlug || undefined,
      limit: size + 1,
      before: readCursor(cursor),
    });
    const page = rows.slice(0, size);
    return executions.ListExecutionsResponse.fromPartial({
      executions: page.map(executionMessage),
      nextCursor: rows.length > size ? cursorOf(page[page.length - 1]!) : "",
    });
  }),
  watchExecution: serverStream(({ executionId, userId, afterSequence }, signal) => watch(executionId, userId, afterSequence, signal)),
  redeliverWebhook: unary(async ({ executionId, userId }) =>
    executions.RedeliverWebhookResponse.fromPartial({ webhookDelivery: await redeliver(executionId, userId) }),
  ),
  testWebhook: unary((request) => webhooks.test(request)),
});
