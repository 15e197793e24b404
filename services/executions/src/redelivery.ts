import { type Client, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { DomainError } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { isFinal, type ExecutionStore, type ExecutionView } from "./store";
import { executionMessage } from "./view";
import type { deliverWebhook } from "./temporal/workflows";

const DELIVER: keyof { deliverWebhook: typeof deliverWebhook } = "deliverWebhook";

/** How long a delivery may wait for its run to become final before its first attempt. */
const HEAD_START = "5s";

/** Starts the first delivery of a run's webhook, if it has one, where the run itself can't. Idempotent. */
export const createFirstDelivery =
  ({ client, taskQueue }: { client: Client; taskQueue: string }) =>
  async ({ _id: executionId, webhook, keyId }: ExecutionView): Promise<void> => {
    if (!webhook || keyId === null) return;
    try {
      await client.workflow.start(DELIVER, {
        workflowId: `webhook-${executionId}`,
        taskQueue,
        args: [{ executionId, keyId }],
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        startDelay: HEAD_START,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };

/** Starts another delivery of a final execution's webhook, beside whatever the first one does. */
export const createRedelivery =
  ({ store, client, taskQueue }: { store: ExecutionStore; client: Client; taskQueue: string }) =>
  async (executionId: string, userId: string): Promise<executions.WebhookDelivery> => {
    const record = await store.findOwned(executionId, userId);
    if (!record) throw new DomainError("not_found", "EXECUTION_NOT_FOUND", "execution not found");
    if (!record.webhook || record.keyId === null)
      throw new DomainError("precondition", "PRECONDITION_FAILED", "the execution has no webhook");
    if (!isFinal(record)) throw new DomainError("precondition", "PRECONDITION_FAILED", "the execution is not final yet");
    await client.workflow.start(DELIVER, {
      workflowId: `webhook-${executionId}-${record.webhook.attempts}`,
      taskQueue,
      args: [{ executionId, keyId: record.keyId }],
      workflowIdConflictPolicy: "USE_EXISTING",
    });
    return executionMessage(record).webhookDelivery!;
  };
