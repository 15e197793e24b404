import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { splitHostPort } from "../config";
import { inServerSpans } from "../telemetry/tracing";

export interface HttpServerOptions {
  listen: string;
  app: RequestListener;
  /** Time limit for receiving a request. */
  requestTimeoutMs?: number;
  graceMs?: number;
}

export interface RunningHttpServer {
  port: number;
  server: Server;
  /** After this call, every response closes its connection, so that clients reconnect to another process. */
  drain(): void;
  /** Rejects new connections and waits for running requests within the grace period. Then closes all connections. */
  stop(): Promise<void>;
}

/**
 * Delay before closing a connection whose response headers were already sent without `connection: close`. If the client sends another
 * request meanwhile, the response to it closes the connection. Without the delay, that request would fail with a connection reset.
 */
const LINGER_MS = 1_000;

type Close = () => void;

/**
 * Makes responses close their connections while the server drains. Node's own close leaves busy connections open and would cut off their
 * next request.
 */
const connectionCloser = (server: Server): Close => {
  const open = new Set<ServerResponse>();
  let closing = false;
  const close = (response: ServerResponse): void => {
    if (response.headersSent) return;
    response.setHeader("connection", "close");
    const setHeader = response.setHeader.bind(response);
    // A proxy would copy this header from the response that it forwards.
    response.setHeader = (name, value) => (name.toLowerCase() === "connection" ? response : setHeader(name, value));
  };
  // Runs before the application, which can respond immediately.
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
  // Without this setting, Node answers a request without Host itself, with an empty body.
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
