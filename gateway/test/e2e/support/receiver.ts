import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Delivery {
  id: string;
  timestamp: string;
  signature: string;
  body: string;
}

export interface Receiver {
  /** `host:port` for the platform's egress exceptions. */
  address: string;
  url: string;
  deliveries: Delivery[];
  /** Rejects the first delivery of each message from now on. */
  refuseFirst(): void;
  close(): void;
}

/** Path that returns its request. */
export const ECHO = "/echo";

/** A webhook receiver on loopback that records its requests. */
export const startReceiver = async (): Promise<Receiver> => {
  const deliveries: Delivery[] = [];
  const ids = new Set<string>();
  let refusing = false;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.url?.startsWith(ECHO)) {
        const { url, headers } = request;
        return void response
          .setHeader("content-type", "application/json")
          .end(JSON.stringify({ url, headers, body: Buffer.concat(chunks).toString() }));
      }
      const header = (name: string): string => String(request.headers[name]);
      const id = header("webhook-id");
      deliveries.push({
        id,
        timestamp: header("webhook-timestamp"),
        signature: header("webhook-signature"),
        body: Buffer.concat(chunks).toString(),
      });
      response.writeHead(refusing && !ids.has(id) ? 503 : 204).end();
      ids.add(id);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, url: `http://${address}/hook`, deliveries, refuseFirst: () => (refusing = true), close: () => server.close() };
};

/** Signature by Standard Webhooks, computed independently of the library. */
export const signatureOf = ({ id, timestamp, body }: Delivery, secret: string): string =>
  `v1,${createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
    .update(`${id}.${timestamp}.${body}`)
    .digest("base64")}`;
