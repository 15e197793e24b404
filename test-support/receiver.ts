import { createHmac, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { startRecorder, type RecordedRequest } from "./recorder";

export type Delivery = Pick<RecordedRequest, "headers" | "body" | "at">;

export interface Inbox {
  url: string;
  deliveries: Delivery[];
}

/** Id of a delivered message. */
export const idOf = ({ headers }: Delivery): string => String(headers["webhook-id"]);

/** Signature of a delivery by Standard Webhooks, computed independently of the library. */
export const signature = (secret: string, delivery: Delivery): string => {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signed = `${idOf(delivery)}.${String(delivery.headers["webhook-timestamp"])}.${delivery.body}`;
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
};
export const signatures = ({ headers }: Delivery): string[] => String(headers["webhook-signature"]).split(" ");
export const isSignedBy = (secret: string, delivery: Delivery): boolean => signatures(delivery).includes(signature(secret, delivery));

/** Answers one delivery. `count` is 1 for the first one. */
export type Respond = (response: ServerResponse, count: number) => void;

/** An HTTP server that deployments under test can call: for webhooks and http-request nodes. */
export interface Receiver {
  /** A unique path with all its deliveries. */
  inbox(respond?: Respond): Inbox;
  close(): Promise<void>;
}

const accept: Respond = (response) => void response.writeHead(204).end();

/** Listens on loopback, with port 0 on any port. `address` is its `host:port` for the deployment. */
export const startReceiver = async (port = 0): Promise<Receiver & { address: string }> => {
  const inboxes = new Map<string, { inbox: Inbox; respond: Respond }>();
  const { address, url, close } = await startRecorder((response, request) => {
    const subscriber = inboxes.get(request.path);
    if (!subscriber) return void response.writeHead(404).end();
    subscriber.inbox.deliveries.push(request);
    subscriber.respond(response, subscriber.inbox.deliveries.length);
  }, port);
  return {
    ...{ address, close },
    inbox: (respond = accept) => {
      const path = `/${randomUUID()}`;
      const inbox: Inbox = { url: `${url}${path}`, deliveries: [] };
      inboxes.set(path, { inbox, respond });
      return inbox;
    },
  };
};
