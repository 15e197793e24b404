import type { IncomingMessage, ServerResponse } from "node:http";
import { withTimeout } from "../work/timeout";
import { startHttpServer } from "./http";

export type Check = () => boolean | Promise<boolean>;
export type Checks = Readonly<Record<string, Check>>;

export type ProcessState = "starting" | "ready" | "draining";

export interface OpsOptions {
  listen: string;
  name: string;
  state: () => ProcessState;
  checks: () => Checks;
  metrics: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
}

const CHECK_MS = 2_000;

const passes = async (check: Check): Promise<boolean> => {
  try {
    return await withTimeout(check(), CHECK_MS, () => false);
  } catch {
    return false;
  }
};

/** Checks whether each dependency is available. A dependency that doesn't respond before the deadline counts as unavailable. */
export const runChecks = async (checks: Checks): Promise<Record<string, "ok" | "away">> => {
  const results = await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, (await passes(check)) ? "ok" : "away"]));
  return Object.fromEntries(results) as Record<string, "ok" | "away">;
};

const answer = (response: ServerResponse, status: number, body: object): void => {
  const json = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(json),
    "cache-control": "no-store",
  });
  response.end(json);
};

/**
 * Serves probes and metrics: `/livez` (the process runs), `/readyz` (it has started and isn't stopping), `/status` (its dependencies,
 * checked now) and `/metrics`. `/readyz` ignores dependencies, because one unavailable service would remove all others from their load
 * balancers.
 */
export const startOps = async ({ listen, name, state, checks, metrics }: OpsOptions): Promise<{ port: number; stop(): Promise<void> }> => {
  let running: Promise<Record<string, string>> | undefined;
  // Concurrent requests share one check of the dependencies.
  const sharedChecks = (): Promise<Record<string, string>> => (running ??= runChecks(checks()).finally(() => (running = undefined)));
  const startedAt = new Date();
  const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => void | Promise<void>> = {
    "/livez": (_request, response) => answer(response, 200, { status: "ok" }),
    "/readyz": (_request, response) => answer(response, state() === "ready" ? 200 : 503, { status: state() }),
    "/status": async (_request, response) =>
      answer(response, 200, { name, state: state(), startedAt, node: process.version, checks: await sharedChecks() }),
    "/metrics": metrics,
  };
  const server = await startHttpServer({
    listen,
    app: (request, response) => {
      const route = routes[request.url?.split("?")[0] ?? ""];
      if (route === undefined) return answer(response, 404, { error: "not found" });
      if (request.method !== "GET" && request.method !== "HEAD") return answer(response, 405, { error: "only GET" });
      void route(request, response);
    },
    requestTimeoutMs: 5_000,
    graceMs: 1_000,
  });
  return { port: server.port, stop: server.stop };
};
