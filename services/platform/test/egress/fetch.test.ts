import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createEgressClient, EgressError, type EgressClient } from "../../src/egress/client";
import { guardedFetch } from "../../src/egress/fetch";

const BOUNDS = { timeoutMs: 5_000, maxBytes: 100 };

let server: Server;
let egress: EgressClient;
let url: string;
let received: { request: IncomingMessage; body: string };

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      received = { request, body };
      const status = request.url === "/none" ? 204 : 200;
      response.writeHead(status, { "x-said": "yes" }).end(request.url === "/long" ? "x".repeat(BOUNDS.maxBytes + 1) : "");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  url = `http://${address}`;
  egress = createEgressClient({ ownServers: [address] });
});
afterAll(async () => {
  await egress.close();
  server.close();
});

it.each([
  ["a record", { authorization: "Bearer x" }],
  ["Headers", new Headers({ authorization: "Bearer x" })],
  ["a list of pairs", [["authorization", "Bearer x"]] satisfies [string, string][]],
])("sends headers given as %s, and a form as its text", async (_, headers) => {
  const answer = await guardedFetch(egress, BOUNDS)(url, { method: "POST", headers, body: new URLSearchParams({ a: "1" }) });
  expect(answer.headers.get("x-said")).toBe("yes");
  expect(received).toMatchObject({ request: { method: "POST", headers: { authorization: "Bearer x" } }, body: "a=1" });
});

it("returns no body if there is none, and rejects one beyond its limit", async () => {
  expect((await guardedFetch(egress, BOUNDS)(`${url}/none`)).status).toBe(204);
  await expect(guardedFetch(egress, BOUNDS)(`${url}/long`)).rejects.toBeInstanceOf(EgressError);
});
