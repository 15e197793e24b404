/** Sends messages to webhook endpoints of accounts. Each endpoint that is subscribed to the event gets its own delivery. */
import { DomainError } from "@nodeloom/kernel";
import { derivedId, fromCursor, pageOf } from "@nodeloom/platform";
import type { Identity } from "../clients";
import type { DeliveryRecord, NewDelivery } from "../delivery";
import type { DeliveryStore } from "../store/deliveries";
import type { Deliveries } from "./deliveries";
import { isReceiver } from "./webhooks";

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
  /** Lists deliveries, newest first. */
  list(of: { ownerId: string; endpointId: string; limit: number; cursor: string }): Promise<EndpointPage>;
  /** @throws NOT_FOUND for another endpoint's message, PRECONDITION_FAILED */
  again(of: { ownerId: string; endpointId: string; id: string }): Promise<DeliveryRecord>;
}

export interface EndpointsOptions {
  identity: Pick<Identity, "listWebhookEndpoints">;
  deliveries: Pick<Deliveries, "add" | "again">;
  store: Pick<DeliveryStore, "find" | "ofEndpoint">;
}

/** The id starts with the run's id, so that messages of an erased run can be found. */
const deliveryId = ({ _id, about }: EndpointMessage, endpointId: string): string => {
  const derived = derivedId("endpoint", _id, endpointId);
  return about.kind === "run" ? `${about.executionId}.${derived}` : derived;
};

export const createEndpoints = ({ identity, deliveries, store }: EndpointsOptions): Endpoints => ({
  add: async (message) => {
    const { endpoints } = await identity.listWebhookEndpoints({ ownerId: message.ownerId });
    for (const endpoint of endpoints)
      if (isReceiver(endpoint, message.event))
        await deliveries.add({ ...message, _id: deliveryId(message, endpoint.id), keyId: "", endpointId: endpoint.id });
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
