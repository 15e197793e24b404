/** Messages to webhook endpoints of accounts: each endpoint that wants the event gets a delivery of its own. */
import { DomainError } from "@nodeloom/kernel";
import { derivedId, fromCursor, toCursor } from "@nodeloom/platform";
import type { Identity } from "../clients";
import type { DeliveryRecord, NewDelivery } from "../delivery";
import type { DeliveryStore } from "../store/deliveries";
import type { Deliveries } from "./deliveries";
import { isReceiver } from "./webhooks";

const PAGE = { usual: 50, most: 500 } as const;

/** A message, before its receivers are known. */
export type EndpointMessage = Pick<NewDelivery, "_id" | "ownerId" | "baseTier" | "event" | "about">;

export interface EndpointPage {
  deliveries: DeliveryRecord[];
  /** Empty on the last page. */
  nextCursor: string;
}

export interface Endpoints {
  /** Accepts a message for each endpoint of its owner that wants it. Repeating is safe: an endpoint gets it once. */
  add(message: EndpointMessage): Promise<void>;
  /** Newest first. */
  list(of: { ownerId: string; endpointId: string; limit: number; cursor: string }): Promise<EndpointPage>;
  /** @throws NOT_FOUND for another endpoint's message, PRECONDITION_FAILED */
  again(of: { ownerId: string; endpointId: string; id: string }): Promise<DeliveryRecord>;
}

export interface EndpointsOptions {
  identity: Pick<Identity, "listWebhookEndpoints">;
  deliveries: Pick<Deliveries, "add" | "again">;
  store: Pick<DeliveryStore, "find" | "ofEndpoint">;
}

/** Begins with the run's id, by which messages of an erased run are found. */
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
    const found = await store.ofEndpoint(ownerId, endpointId, fromCursor(cursor), size + 1);
    const page = found.slice(0, size);
    const last = page.at(-1);
    return { deliveries: page, nextCursor: last && found.length > size ? toCursor({ at: last.createdAt, id: last._id }) : "" };
  },

  again: async ({ ownerId, endpointId, id }) => {
    const record = await store.find(id);
    if (record?.ownerId !== ownerId || record.endpointId !== endpointId)
      throw new DomainError("not_found", "NOT_FOUND", "delivery not found");
    return deliveries.again(record);
  },
});
