/** Builds a message's body at each attempt. */
import type { executions } from "@nodeloom/proto";
import type { Executions } from "../clients";
import type { About, DeliveryRecord } from "../delivery";
import type { Message } from "./send";

const aboutOf = (about: Exclude<About, { kind: "body" }>, forEndpoint: boolean): executions.GetWebhookMessageRequest =>
  about.kind === "batch"
    ? { about: { $case: "batchId", value: about.batchId }, nodeId: "", forEndpoint }
    : { about: { $case: "executionId", value: about.executionId }, nodeId: about.nodeId ?? "", forEndpoint };

/**
 * @returns undefined if there is nothing left to announce
 * @throws SERVICE_UNAVAILABLE while a run isn't final
 */
export const createReadMessage =
  (services: { executions: Pick<Executions, "getWebhookMessage"> }) =>
  async ({ about, event, endpointId }: Pick<DeliveryRecord, "about" | "event" | "endpointId">): Promise<Message | undefined> => {
    if (about.kind === "body")
      return { id: about.messageId, type: event, timestamp: about.at, data: JSON.parse(about.dataJson) as unknown };
    const { message } = await services.executions.getWebhookMessage(aboutOf(about, endpointId !== undefined));
    if (!message) return undefined;
    const { id, type, timestamp, dataJson, bare } = message;
    return { id, type, timestamp: timestamp!, data: JSON.parse(dataJson) as unknown, isBare: bare };
  };
