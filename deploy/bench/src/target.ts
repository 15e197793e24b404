import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Target of HTTP nodes: a loopback server that answers with a little JSON. */
export interface Target {
  url: string;
  host: string;
  stop: () => void;
}

export const startTarget = async (): Promise<Target> => {
  const server = createServer((_, response) => response.setHeader("content-type", "application/json").end('{"ok":true}'));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}/`, host, stop: () => void server.close().closeAllConnections() };
};
