/** What webhooks say of executions. */
import { executionJson } from "@nodeloom/platform";
import { approvalOf } from "../lifecycle/approvals";
import type { ExecutionView } from "../run/record";
import { WAITING } from "../run/states";
import type { Stores } from "../store/stores";
import { executionMessage, type Details } from "../requests/view";
import type { Message } from "./send";

/** The execution as a message has it: the same at every attempt, so without how far its delivery has come. */
export const messageData = (record: ExecutionView, details: Details): Record<string, unknown> => ({
  ...executionJson(executionMessage(record, details), JSON.parse(record.resultJson ?? "null") ?? undefined),
  webhookDelivery: { configured: true, url: record.webhook?.url },
});

export interface WaitingMessageOptions {
  stores: Pick<Stores, "log">;
  details: (record: ExecutionView) => Promise<Details>;
  publicBaseUrl: string;
}

/** Says that a node waits for a decision, and where it can be made. Nothing is said once it does not wait any more. */
export const createWaitingMessage =
  ({ stores, details, publicBaseUrl }: WaitingMessageOptions) =>
  async (record: ExecutionView, nodeId: string): Promise<Message | undefined> => {
    const approval = approvalOf(record, nodeId);
    if (!approval || record.waitingFor?.includes(nodeId) !== true) return undefined;
    const { _id: executionId } = record;
    const consoleUrl = `${publicBaseUrl.replace(/(?<!\/)\/+$/, "")}/executions/${executionId}`;
    return {
      // A node's id may have any characters, and this is a header.
      id: `msg_${executionId}.waiting.${encodeURIComponent(nodeId)}`,
      type: WAITING,
      timestamp: approval.since,
      data: { ...messageData(await stores.log.current(record), await details(record)), nodeId, consoleUrl },
    };
  };
