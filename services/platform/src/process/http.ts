import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { splitHostPort } from "../config";
import { inServerSpans } from "../telemetry/tracing";

export interface HttpServerOptions {
  listen: string;
  app: RequestListener;
  /** Longest time a client may take to send its request. */
  requestTimeoutMs?: number;
  graceMs?: number;
}

export interface RunningHttpServer {
  port: number;
  server: Server;
  /** From now on every answer ends its connection, so that clients come back by another one, to another process. */
  drain(): void;
  /** Refuses new connections, lets running requests end within the grace, then closes what is left. */
  stop(): Promise<void>;
}

/**
 * How long a connection stays open whose answer could not say `connection: close`, because its headers had left before. The client's
 * next request is answered on it and told to go elsewhere; without the pause it would meet a reset.
 */
const LINGER_MS = 1_000;

type Close = () => void;

/**
 * Makes answers end their connections once the server drains. Node's own close leaves connections open that are in use, and would cut
 * off the next request on them.
 */
const connectionCloser = (server: Server): Close => {
  const open = new Set<ServerResponse>();
  let closing = false;
  const close = (response: ServerResponse): void => {
    if (response.headersSent) return;
    response.setHeader("connection", "close");
    const setHeader = response.setHeader.bind(response);
    // A proxy sets the header of the answer that it passes on.
    response.setHeader = (name, value) => (name.toLowerCase() === "connection" ? response : setHeader(name, value));
  };
  // Runs before the application, which may answer at once.
  server.prependListener("request", (_request: IncomingMessage, response: ServerResponse) => {
    if (closing) return close(response);
    open.add(response);
    response.once("close", () => open.delete(response));
  });
  return () => {
    closing = true;
    for (const response of open) {
      close(response);
      if (!response.headersSent) continue;
      const { socket } = response;
      response.once("finish", () => socket?.setTimeout(LINGER_MS));
    }
  };
};

export const startHttpServer = async ({
  listen,
  app,
  requestTimeoutMs = 60_000,
  graceMs = 10_000,
}: HttpServerOptions): Promise<RunningHttpServer> => {
  // Node would answer a request without Host by itself, with an empty body.
  const server = createServer({ requestTimeout: requestTimeoutMs, keepAliveTimeout: 65_000, requireHostHeader: false }, inServerSpans(app));
  const drain = connectionCloser(server);
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
    drain,
    stop: () =>
      new Promise((resolve) => {
        drain();
        const forced = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(forced);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
};
