import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

/** First byte of a TLS connection. */
const HANDSHAKE = 0x16;

/** Ends TLS in front of a server that can't. It also passes on connections without TLS, by which servers reach one another. */
export interface TlsFront {
  tlsConnections(): number;
  stop(): void;
}

export const startTlsFront = async (port: number, target: number, certificate: { cert: Buffer; key: Buffer }): Promise<TlsFront> => {
  const sockets = new Set<Socket>();
  let tlsConnections = 0;
  const passOn = (incoming: Socket): void => {
    const outgoing = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from);
      from.pipe(to).on("error", () => from.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  };
  const secure = createTlsServer(certificate, (incoming) => {
    tlsConnections += 1;
    passOn(incoming);
  }).on("tlsClientError", () => undefined);
  const server = createServer((incoming) => {
    sockets.add(incoming.on("error", () => incoming.destroy()));
    incoming.once("data", (first) => {
      incoming.pause();
      incoming.unshift(first);
      if (first[0] === HANDSHAKE) secure.emit("connection", incoming);
      else passOn(incoming);
    });
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    tlsConnections: () => tlsConnections,
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};
