import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createHmac, randomUUID } from "node:crypto";

export interface Delivery {
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

export interface Inbox {
  url: string;
  deliveries: Delivery[];
}

/** Signature of a delivery in the format of Standard Webhooks. */
export const signature = (secret: string, { headers, body }: Delivery): string => {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
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

/** Listens on loopback, with port 0 on any port. `origin` is its address for the deployment. */
export const startReceiver = async (port: number): Promise<Receiver & { address: string }> => {
  const inboxes = new Map<string, { inbox: Inbox; respond: Respond }>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const subscriber = inboxes.get(request.url ?? "");
      if (!subscriber) return void response.writeHead(404).end();
      subscriber.inbox.deliveries.push({ headers: request.headers, body: Buffer.concat(chunks).toString(), at: Date.now() });
      subscriber.respond(response, subscriber.inbox.deliveries.length);
    });
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    inbox: (respond = accept) => {
      const path = `/${randomUUID()}`;
      const inbox: Inbox = { url: `http://${address}${path}`, deliveries: [] };
      inboxes.set(path, { inbox, respond });
      return inbox;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};
