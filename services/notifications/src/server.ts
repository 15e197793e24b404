/** The gRPC service of notifications. */
import { expiresBefore, invalidRequest, RETENTION } from "@nodeloom/kernel";
import { createErasure, createRemoval, unary, untilNone, type Erase, type EraseRuns } from "@nodeloom/platform";
import type { notifications } from "@nodeloom/proto";
import type { Identity } from "./clients";
import { createAcceptMail } from "./mail/requests";
import type { Mails } from "./mail/owners";
import { createAcceptRetiring } from "./retiring-models";
import type { DeliveryStore } from "./store/deliveries";
import type { MailStore } from "./store/mails";
import type { Deliveries } from "./webhooks/deliveries";
import type { Endpoints } from "./webhooks/endpoints";
import { deliveryMessage, endpointDeliveryMessage, newDelivery } from "./webhooks/messages";
import type { Webhooks } from "./webhooks/webhooks";

const MAX_IDS = 500;
const PAGE = 1_000;

interface RemovalStores {
  deliveries: Pick<DeliveryStore, "removeOld">;
  mails: Pick<MailStore, "removeOld">;
}

export interface HandlerOptions {
  deliveries: Pick<Deliveries, "add" | "again">;
  endpoints: Endpoints;
  webhooks: Pick<Webhooks, "test">;
  identity: Pick<Identity, "listKeys">;
  /** Undefined without a mail server. */
  mails: Mails | undefined;
  stores: { deliveries: Pick<DeliveryStore, "findAll" | "removeOld" | "removeOwned" | "removeRun">; mails: Pick<MailStore, "removeOld"> };
  /** Retention of executions in days. It also applies to their webhooks. */
  executionDays: number;
}

/** Deletes expired messages, one page per call. */
export const createRemoveExpired = (stores: RemovalStores, executionDays: number, now: () => Date = () => new Date()) =>
  createRemoval({
    deliveries: async () => untilNone(await stores.deliveries.removeOld(expiresBefore({ days: executionDays }, now()), PAGE)),
    mails: async () => untilNone(await stores.mails.removeOld(expiresBefore(RETENTION.mails, now()), PAGE)),
  });

export const notificationsHandlers = (options: HandlerOptions): notifications.NotificationsServiceServer => {
  const { deliveries, endpoints, webhooks, identity, mails, stores, executionDays } = options;
  const acceptMail = createAcceptMail(mails);
  const acceptRetiring = createAcceptRetiring({ identity, deliveries, endpoints, mails });
  const removeExpired = createRemoveExpired(stores, executionDays);
  return {
    send: unary(async ({ id, message }) => {
      if (message?.$case === "webhook") await (message.value.toEndpoints ? endpoints : deliveries).add(newDelivery(id, message.value));
      else if (message?.$case === "modelRetiring") await acceptRetiring(id, message.value);
      else await acceptMail(id, message);
      return {};
    }),
    getDeliveries: unary(async ({ ids }) => {
      if (ids.length > MAX_IDS) throw invalidRequest([{ path: "ids", message: `must be at most ${MAX_IDS}` }]);
      return { deliveries: (await stores.deliveries.findAll(ids)).map(deliveryMessage) };
    }),
    redeliver: unary(async ({ id, webhook }) => ({ delivery: deliveryMessage(await deliveries.again(newDelivery(id, webhook))) })),
    listEndpointDeliveries: unary(async (request) => {
      const { deliveries: page, nextCursor } = await endpoints.list(request);
      return { deliveries: page.map(endpointDeliveryMessage), nextCursor };
    }),
    redeliverToEndpoint: unary(async (request) => ({ delivery: endpointDeliveryMessage(await endpoints.again(request)) })),
    testEndpoint: unary(async (request) => ({ delivery: endpointDeliveryMessage(await endpoints.test(request)) })),
    testWebhook: unary((request) => webhooks.test(request)),
    getMail: unary(() => Promise.resolve({ configured: mails !== undefined })),
    removeExpired: unary(({ cursor }) => removeExpired(cursor)),
  };
};

/** Erases an account's messages. Workflows contain only ids. */
export const createEraseNotifications = (store: Pick<DeliveryStore, "removeOwned">): Erase =>
  createErasure<"notifications">((ownerId) => ({
    deliveries: async () => untilNone(await store.removeOwned(ownerId, PAGE)),
  }));

export const createEraseRuns =
  (store: Pick<DeliveryStore, "removeRun">): EraseRuns =>
  async (ownerId, executionIds) => {
    for (const id of executionIds) await store.removeRun(ownerId, id);
  };
