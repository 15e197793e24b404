import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { splitHostPort } from "./config";

export interface HttpServerOptions {
  /** host:port; port 0 picks a free one. */
  listen: string;
  app: RequestListener;
  /** Longest time a client may take to send its request. */
  requestTimeoutMs?: number;
  graceMs?: number;
}

export interface RunningHttpServer {
  port: number;
  server: Server;
  /** Refuses new connections, lets running requests end within the grace, then closes what is left. */
  stop(): Promise<void>;
}

export const startHttpServer = async ({
  listen,
  app,
  requestTimeoutMs = 60_000,
  graceMs = 10_000,
}: HttpServerOptions): Promise<RunningHttpServer> => {
  // Node would answer a request without Host itself, with an empty body.
  const server = createServer({ requestTimeout: requestTimeoutMs, keepAliveTimeout: 65_000, requireHostHeader: false }, app);
  const { host, port } = splitHostPort(listen);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    server,
    stop: () =>
      new Promise((resolve) => {
        const forced = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(forced);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
};
