/** Sends messages to webhook endpoints of accounts. Each endpoint that is subscribed to the event gets its own delivery. */
import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import { derivedId, fromCursor, pageOf, type TakeOutgoing } from "@nodeloom/platform";
import type { Identity } from "../clients";
import type { DeliveryRecord, NewDelivery } from "../delivery";
import type { DeliveryStore } from "../store/deliveries";
import type { Deliveries } from "./deliveries";
import { isReceiver, TEST_EVENT, testLimit } from "./webhooks";

const PAGE = { usual: 50, most: 500 } as const;

/** A message whose receivers aren't looked up yet. */
export type EndpointMessage = Pick<NewDelivery, "_id" | "ownerId" | "baseTier" | "event" | "about">;

export interface EndpointPage {
  deliveries: DeliveryRecord[];
  /** Cursor of the next page; empty on the last page. */
  nextCursor: string;
}

export interface Endpoints {
  /**
   * Accepts a message for each endpoint of its owner that is subscribed to it. Repeating is safe, because an endpoint gets a message once.
   */
  add(message: EndpointMessage): Promise<void>;
  /**
   * Sends a test message, with one attempt.
   * @throws NOT_FOUND for another owner's endpoint, PRECONDITION_FAILED for a disabled one, RATE_LIMIT_EXCEEDED
   */
  test(of: { ownerId: string; endpointId: string }): Promise<DeliveryRecord>;
  /** Lists deliveries, newest first. */
  list(of: { ownerId: string; endpointId: string; limit: number; cursor: string }): Promise<EndpointPage>;
  /** @throws NOT_FOUND for another endpoint's message, PRECONDITION_FAILED */
  again(of: { ownerId: string; endpointId: string; id: string }): Promise<DeliveryRecord>;
}

export interface EndpointsOptions {
  identity: Pick<Identity, "listWebhookEndpoints">;
  deliveries: Pick<Deliveries, "add" | "again">;
  store: Pick<DeliveryStore, "find" | "ofEndpoint">;
  outgoing: TakeOutgoing;
}

/** The id starts with the run's id, so that messages of an erased run can be found. */
const deliveryId = ({ _id, about }: EndpointMessage, endpointId: string): string => {
  const derived = derivedId("endpoint", _id, endpointId);
  return about.kind === "run" ? `${about.executionId}.${derived}` : derived;
};

export const createEndpoints = ({ identity, deliveries, store, outgoing }: EndpointsOptions): Endpoints => ({
  add: async (message) => {
    const { endpoints } = await identity.listWebhookEndpoints({ ownerId: message.ownerId });
    for (const endpoint of endpoints)
      if (isReceiver(endpoint, message.event))
        await deliveries.add({ ...message, _id: deliveryId(message, endpoint.id), keyId: "", endpointId: endpoint.id });
  },

  test: async ({ ownerId, endpointId }) => {
    const { endpoints } = await identity.listWebhookEndpoints({ ownerId });
    const endpoint = endpoints.find(({ id }) => id === endpointId);
    if (!endpoint) throw new DomainError("not_found", "NOT_FOUND", "webhook endpoint not found");
    if (endpoint.disabledAt)
      throw new DomainError("precondition", "PRECONDITION_FAILED", "the webhook endpoint is disabled; enable it first");
    const over = await testLimit(outgoing, ownerId, endpoint.url);
    if (over) throw over;
    const id = randomUUID();
    const about = { kind: "body" as const, messageId: `msg_${id}`, at: new Date(), dataJson: JSON.stringify({ endpointId }) };
    await deliveries.add({ _id: id, ownerId, keyId: "", event: TEST_EVENT, about, endpointId });
    const record = await store.find(id);
    if (!record) throw new Error("a test was erased while it was accepted");
    return record;
  },

  list: async ({ ownerId, endpointId, limit, cursor }) => {
    const size = Math.min(limit || PAGE.usual, PAGE.most);
    const records = await store.ofEndpoint(ownerId, endpointId, fromCursor(cursor), size + 1);
    const { rows, nextCursor } = pageOf(records, size, ({ createdAt }) => createdAt);
    return { deliveries: rows, nextCursor };
  },

  again: async ({ ownerId, endpointId, id }) => {
    const record = await store.find(id);
    if (record?.ownerId !== ownerId || record.endpointId !== endpointId)
      throw new DomainError("not_found", "NOT_FOUND", "delivery not found");
    return deliveries.again(record);
  },
});
