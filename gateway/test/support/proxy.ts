import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface CuttableProxy {
  url: string;
  /** Breaks every connection and rejects new ones. */
  cut(): void;
  restore(): void;
  stop(): void;
}

/** A proxy that can make its server unavailable. */
export const startCuttableProxy = async (target: string): Promise<CuttableProxy> => {
  const { protocol, hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let open = true;
  const server = createServer((client) => {
    if (!open) return void client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    open = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    restore: () => {
      open = true;
    },
    stop: () => {
      cut();
      server.close();
    },
  };
};
