import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Replicate's paths in front of a cog server. cog runs inside Replicate's containers: it accepts predictions, runs and cancels them, and
 * reports their states to a webhook, but doesn't store them. So this front stores the contents of cog's webhooks, for `GET
 * /v1/predictions/:id`. Every member except `urls` is cog's.
 */
export interface ReplicateFront {
  url: string;
  stop(): Promise<void>;
}

type Prediction = Record<string, unknown>;

const FINAL: ReadonlySet<unknown> = new Set(["succeeded", "failed", "canceled"]);

const readJson = async (request: IncomingMessage): Promise<Prediction> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? {} : (JSON.parse(text) as Prediction);
};

export const startReplicateFront = async (cog: string, token: string): Promise<ReplicateFront> => {
  const predictions = new Map<string, Prediction>();
  let url = "";
  const view = (id: string): Prediction => ({
    ...predictions.get(id),
    urls: { get: `${url}/v1/predictions/${id}`, cancel: `${url}/v1/predictions/${id}/cancel` },
  });
  const keep = (id: string, prediction: Prediction): void => {
    // cog's webhooks can arrive out of order.
    if (!FINAL.has(predictions.get(id)?.status)) predictions.set(id, { ...predictions.get(id), ...prediction });
  };

  const create = async (body: Prediction): Promise<[number, Prediction]> => {
    const id = randomUUID().replaceAll("-", "");
    keep(id, { id, input: body.input, status: "starting" });
    const answer = await fetch(`${cog}/predictions/${id}`, {
      method: "PUT",
      headers: { "content-type": "application/json", prefer: "respond-async" },
      body: JSON.stringify({ input: body.input, webhook: `${url}/webhook/${id}` }),
    });
    if (!answer.ok) return [answer.status, (await answer.json()) as Prediction];
    return [201, view(id)];
  };

  const answer = async (request: IncomingMessage): Promise<[number, Prediction]> => {
    const body = await readJson(request);
    const [, root, kind, id, action] = request.url!.split("/");
    if (root === "webhook") {
      keep(kind!, body);
      return [200, {}];
    }
    if (request.headers.authorization !== `Bearer ${token}`)
      return [401, { title: "Unauthenticated", detail: "You did not pass a valid authentication token" }];
    if (request.method === "POST" && kind === "predictions" && id === undefined) return create(body);
    if (kind !== "predictions" || !predictions.has(id!))
      return [404, { detail: "The requested resource could not be found.", status: 404 }];
    if (action !== "cancel") return [200, view(id!)];
    const cancelled = await fetch(`${cog}/predictions/${id}/cancel`, { method: "POST" });
    return [cancelled.status, view(id!)];
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [status, body] = await answer(request);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => void respond(request, response).catch((error: Error) => response.destroy(error)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
};
