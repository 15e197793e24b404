/** Builds the bodies of webhooks. Notifications requests them for each attempt. */
import { executionNotFound, unavailable, type MediaUrls } from "@nodeloom/kernel";
import { batchJson, executionJson, falWebhookJson, predictionJson, withSignedUrls } from "@nodeloom/platform";
import { media as mediaProto, type executions } from "@nodeloom/proto";
import type { Media } from "../clients";
import { approvalOf } from "../lifecycle/approvals";
import { endEventOf } from "../run/delivery";
import { BATCH_COMPLETED } from "../run/batch";
import type { ExecutionView } from "../run/record";
import { isFinal, WAITING } from "../run/states";
import type { Stores } from "../record/stores";
import { batchMessage } from "../batches/view";
import { executionMessage, type Details } from "../reads/view";

export interface WebhookMessageOptions {
  stores: Pick<Stores, "log" | "rows" | "batches">;
  details: (record: ExecutionView) => Promise<Details>;
  /** Base URL of the console. */
  publicBaseUrl: string;
  urls: MediaUrls;
  media: Pick<Media, "signUrls">;
}

type Message = executions.WebhookMessage;

/** Returns the execution inside a message. It must be equal in every attempt, so it omits the delivery state. */
export const messageData = (record: ExecutionView, details: Details): Record<string, unknown> => ({
  ...executionJson(executionMessage(record, details), JSON.parse(record.resultJson ?? "null") ?? undefined),
  webhookDelivery: record.webhook ? { configured: true, url: record.webhook.url } : { configured: false },
});

/** Webhook bodies in the formats of other services. */
const FOREIGN_BODIES: Readonly<Record<string, (execution: executions.Execution, publicBaseUrl: string) => Record<string, unknown>>> = {
  fal: falWebhookJson,
  replicate: predictionJson,
};

export const createWebhookMessage = ({ stores, details, publicBaseUrl, urls, media }: WebhookMessageOptions) => {
  const consoleUrl = (executionId: string): string => `${publicBaseUrl.replace(/(?<!\/)\/+$/, "")}/executions/${executionId}`;

  /** Builds the message about a waiting node, with the address for the decision. If the node no longer waits, there is no message. */
  const waiting = async (record: ExecutionView, nodeId: string): Promise<Message | undefined> => {
    const approval = approvalOf(record, nodeId);
    if (!approval || record.waitingFor?.includes(nodeId) !== true) return undefined;
    const data = messageData(await stores.log.current(record), await details(record));
    return {
      // Encoded, because node ids can contain any character and this value is an HTTP header.
      id: `msg_${record._id}.waiting.${encodeURIComponent(nodeId)}`,
      type: WAITING,
      timestamp: approval.since,
      dataJson: JSON.stringify({ ...data, nodeId, consoleUrl: consoleUrl(record._id) }),
      bare: false,
    };
  };

  const endedMessage = async (record: ExecutionView, forEndpoint: boolean): Promise<Message> => {
    // The message of a run that is being ended from outside can be requested too early.
    if (!isFinal(record)) throw unavailable("the execution is not final yet");
    const [whole, knownDetails] = [await stores.log.whole(record), await details(record)];
    const foreign = forEndpoint ? undefined : FOREIGN_BODIES[record.webhook?.form ?? ""];
    const data = foreign ? foreign(executionMessage(whole, knownDetails), publicBaseUrl) : messageData(whole, knownDetails);
    const type = forEndpoint ? endEventOf(record) : `execution.${record.status}`;
    const head = { id: `msg_${record._id}`, type, timestamp: record.finishedAt ?? record.createdAt };
    return { ...head, dataJson: JSON.stringify(data), bare: foreign !== undefined };
  };

  const ofBatch = async (batchId: string): Promise<Message | undefined> => {
    const batch = await stores.batches.find(batchId);
    if (!batch?.finishedAt) return undefined;
    const data = batchJson(batchMessage(batch));
    return { id: `msg_${batchId}`, type: BATCH_COMPLETED, timestamp: batch.finishedAt, dataJson: JSON.stringify(data), bare: false };
  };

  /** Addresses are signed for each attempt, so that a late attempt has valid signatures. */
  const signed = async (message: Message | undefined, ownerId: string): Promise<Message | undefined> => {
    if (!message) return undefined;
    const reader = { ownerId, lifetime: mediaProto.UrlLifetime.URL_LIFETIME_UNSPECIFIED };
    return { ...message, dataJson: await withSignedUrls({ urls, media }, message.dataJson, reader) };
  };

  /** @returns undefined if there is nothing left to announce @throws SERVICE_UNAVAILABLE while the run isn't final */
  return async ({ about, nodeId, forEndpoint }: executions.GetWebhookMessageRequest): Promise<Message | undefined> => {
    if (!about) throw executionNotFound();
    if (about.$case === "batchId") return ofBatch(about.value);
    const record = await stores.rows.find(about.value);
    if (!record || record.status === "erased" || !(forEndpoint || record.webhook)) return undefined;
    return signed(await (nodeId === "" ? endedMessage(record, forEndpoint) : waiting(record, nodeId)), record.userId);
  };
};
