import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Server that http-request nodes of random graphs call. Its response depends only on the request. */

/** Response to `GET /items/<count>?x=<text>`. */
export const answerTo = (url: URL): { count: number; x: string; items: string[] } => {
  const count = Number(url.pathname.split("/").at(-1));
  const x = url.searchParams.get("x") ?? "";
  return { count, x, items: Array.from({ length: count }, (_, index) => `${index} of ${count}`) };
};

export const startOrigin = async (port = 0): Promise<{ address: string; stop: () => void }> => {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answerTo(new URL(request.url!, "http://origin.test"))));
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
