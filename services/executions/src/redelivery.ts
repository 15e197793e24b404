import type { Client } from "@temporalio/client";
import { DomainError } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import type { ExecutionStore } from "./store";
import { executionMessage } from "./view";
import type { deliverWebhook } from "./temporal/workflows";

const DELIVER: keyof { deliverWebhook: typeof deliverWebhook } = "deliverWebhook";
const FINAL = new Set(["completed", "failed", "cancelled"]);

/** Starts another delivery of a final execution's webhook, beside whatever the first one does. */
export const createRedelivery =
  ({ store, client, taskQueue }: { store: ExecutionStore; client: Client; taskQueue: string }) =>
  async (executionId: string, userId: string): Promise<executions.WebhookDelivery> => {
    const record = await store.findOwned(executionId, userId);
    if (!record) throw new DomainError("not_found", "EXECUTION_NOT_FOUND", "execution not found");
    if (!record.webhook || record.keyId === null)
      throw new DomainError("precondition", "PRECONDITION_FAILED", "the execution has no webhook");
    if (!FINAL.has(record.status)) throw new DomainError("precondition", "PRECONDITION_FAILED", "the execution is not final yet");
    await client.workflow.start(DELIVER, {
      workflowId: `webhook-${executionId}-${record.webhook.attempts}`,
      taskQueue,
      args: [{ executionId, keyId: record.keyId }],
      workflowIdConflictPolicy: "USE_EXISTING",
    });
    return executionMessage(record).webhookDelivery!;
  };
