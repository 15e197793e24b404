import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

import { freePort } from "../deploy/local/servers/ports.cjs";

/** A relay in front of a server that can make it unreachable. */
export interface Relay {
  url: string;
  /** Breaks every connection and rejects new ones. */
  cut(): Promise<void>;
  /** Accepts connections and bytes but passes nothing on. */
  freeze(): void;
  mend(): Promise<void>;
  stop(): Promise<void>;
}

export const startRelay = async (target: string): Promise<Relay> => {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((incoming) => {
    const outgoing = connect(Number(port), hostname);
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => frozen || to.write(bytes));
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = async (at: number): Promise<number> => {
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  // A port that stays reserved while the relay is cut.
  const own = await listen(await freePort());
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String(own);
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    dropAll();
    await closed;
  };
  return {
    url: url.href,
    cut,
    freeze: () => (frozen = true),
    mend: async () => {
      // Swallowed bytes are lost, so those connections are useless.
      if (frozen) dropAll();
      frozen = false;
      if (!server.listening) await listen(own);
    },
    stop: cut,
  };
};
