/** Converts webhooks from and to gRPC messages. */
import { invalidRequest, isBaseTier } from "@nodeloom/kernel";
import { notifications as proto } from "@nodeloom/proto";
import { NEW_STANDING, type About, type DeliveryRecord, type DeliveryState, type NewDelivery, type Standing } from "../delivery";

const STATES: readonly DeliveryState[] = ["pending", "delivered", "failed", "disabled", "skipped"];

const aboutOf = ({ about }: proto.Webhook): About => {
  switch (about?.$case) {
    case "run":
      return { kind: "run", executionId: about.value.executionId, ...(about.value.nodeId === "" ? {} : { nodeId: about.value.nodeId }) };
    case "batchId":
      return { kind: "batch", batchId: about.value };
    case "body": {
      const { messageId, timestamp = new Date(0), dataJson } = about.value;
      return { kind: "body", messageId, at: timestamp, dataJson };
    }
    default:
      throw invalidRequest([{ path: "about", message: "is required" }]);
  }
};

const earlierOf = ({ state, delivery, attempts, deliveredAt, lastError, nextAttemptAt, history }: proto.Delivery): Standing => ({
  ...NEW_STANDING,
  ...{ delivery, attempts },
  state: STATES.find((one) => one === state) ?? "pending",
  deliveredAt: deliveredAt ?? null,
  lastError: lastError ?? null,
  nextAttemptAt: nextAttemptAt ?? null,
  history: history.map(({ at = new Date(0), status, error, ...attempt }) => ({
    ...attempt,
    at,
    status: status ?? null,
    error: error ?? null,
    key: `${attempt.delivery}:${attempt.attempt}`,
  })),
});

/** @throws INVALID_REQUEST */
export const newDelivery = (id: string, webhook: proto.Webhook | undefined): NewDelivery => {
  if (id === "" || !webhook) throw invalidRequest([{ path: id === "" ? "id" : "webhook", message: "is required" }]);
  const { ownerId, keyId, event, baseTier, url, events, earlier } = webhook;
  return {
    ...{ _id: id, ownerId, keyId, event, about: aboutOf(webhook) },
    ...(isBaseTier(baseTier) ? { baseTier } : {}),
    ...(url === "" ? {} : { url, events }),
    ...(earlier ? { earlier: earlierOf(earlier) } : {}),
  };
};

export const deliveryMessage = ({
  _id,
  deliveredAt,
  lastError,
  nextAttemptAt,
  history,
  ...standing
}: Omit<DeliveryRecord, "about" | "createdAt" | "event">): proto.Delivery =>
  proto.Delivery.fromPartial({
    id: _id,
    ...standing,
    deliveredAt: deliveredAt ?? undefined,
    lastError: lastError ?? undefined,
    nextAttemptAt: nextAttemptAt ?? undefined,
    history: history.map(({ status, error, ...attempt }) => ({ ...attempt, status: status ?? undefined, error: error ?? undefined })),
  });

/** Returns the webhook-id header of a message that executions builds; see the webhooks of executions. */
const messageIdOf = (about: About): string => {
  switch (about.kind) {
    case "run":
      return `msg_${about.executionId}${about.nodeId === undefined ? "" : `.waiting.${encodeURIComponent(about.nodeId)}`}`;
    case "batch":
      return `msg_${about.batchId}`;
    case "auditRow":
      return `msg_audit_${about.rowId}`;
    case "body":
      return about.messageId;
  }
};

/** Returns a message in the form of an endpoint's list. */
export const endpointDeliveryMessage = ({ about, event, createdAt, ...record }: DeliveryRecord): proto.Delivery => ({
  ...deliveryMessage(record),
  ...{ event, createdAt, messageId: messageIdOf(about) },
  executionId: about.kind === "run" ? about.executionId : "",
  batchId: about.kind === "batch" ? about.batchId : "",
});
