import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A fake model server whose answers the test sets. */
export interface StandIn {
  url: string;
  host: string;
  /** Answers by path: JSON, or a status. */
  answers: Record<string, unknown>;
  /** Requested paths with their keys. */
  requests: string[];
  stop(): Promise<void>;
  /** Restarts the server at the same port. */
  start(): Promise<void>;
}

const listen = async (server: Server, port: number): Promise<number> => {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

export const startStandIn = async (answers: Record<string, unknown>): Promise<StandIn> => {
  const standIn = { answers, requests: [] as string[] };
  const open = (): Server =>
    createServer((request, response) => {
      const path = request.url ?? "";
      standIn.requests.push(`${path} ${request.headers.authorization ?? "-"}`);
      const answer = standIn.answers[path];
      if (typeof answer === "string") return void response.writeHead(302, { location: answer }).end();
      const status = typeof answer === "number" ? answer : answer === undefined ? 404 : 200;
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(typeof answer === "object" ? answer : {}));
    });
  let server = open();
  const port = await listen(server, 0);
  return Object.assign(standIn, {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
    start: async () => {
      server = open();
      await listen(server, port);
    },
  });
};
