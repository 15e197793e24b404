import { EventEmitter } from "node:events";
import { DomainError } from "@nodeloom/kernel";
import { createLogger } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import type { Response } from "express";
import { createKeyRequests, type KeyRequests, type RequestOutcome } from "../../src/edge/key-requests";

const RUN = "1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11";
const logger = createLogger("test", "silent");
const KEY = { key: { id: "key", webhook: null, metadata: {} } };

/** Ends a request by a key. */
const end = (
  log: KeyRequests,
  outcome: RequestOutcome,
  { status = 200, path = "/api/usage", headers = {} }: { status?: number; path?: string; headers?: Record<string, string> } = {},
): void => {
  const events = new EventEmitter();
  const responseHeaders: Record<string, string> = { "X-Request-Id": "request", ...headers };
  const response = Object.assign(events, {
    statusCode: status,
    getHeader: (name: string) => responseHeaders[name],
    req: { method: "GET", ip: "203.0.113.7", params: { id: RUN }, url: "/api/usage?secret=1" },
  });
  log.follow({ route: { path }, response: response as unknown as Response, outcome });
  events.emit("close");
};

const storing = (recordKeyRequests: (request: identity.RecordKeyRequestsRequest) => Promise<object>, mostWaiting = 10) =>
  createKeyRequests({ identity: { recordKeyRequests }, logger, intervalMs: 60_000, mostWaiting });

const stored = async (use: (log: KeyRequests) => void, mostWaiting?: number): Promise<identity.KeyRequest[]> => {
  const all: identity.KeyRequest[] = [];
  const log = storing((request) => Promise.resolve(all.push(...request.requests)).then(() => ({})), mostWaiting);
  use(log);
  await log.stop();
  return all;
};

it("stores what is waiting when the gateway stops: route, outcome and ids, and nothing that the caller wrote", async () => {
  const [request] = await stored((log) => end(log, { caller: KEY as never }));
  expect(request).toEqual({
    ...{ keyId: "key", at: expect.any(Date) as Date, method: "GET", route: "/api/usage", status: 200, errorCode: "" },
    ...{ durationMs: expect.any(Number) as number, requestId: "request", executionId: "", ip: "203.0.113.7" },
  });
});

it("names the error of a failed request, also if the response was rendered earlier", async () => {
  const caller = KEY as never;
  const requests = await stored((log) => {
    end(log, { caller, error: new DomainError("not_found", "WORKFLOW_NOT_FOUND", "none") }, { status: 404 });
    end(log, { caller, error: new Error("a driver's message") }, { status: 500 });
    end(log, { caller, reply: { status: 422, text: '{"error":"no","code":"WORKFLOW_INVALID"}' } }, { status: 422 });
    end(log, { caller, reply: { status: 402, text: '{"error":{"message":"no","code":"INSUFFICIENT_CREDITS"}}' } }, { status: 402 });
    end(log, { caller, reply: { status: 400, text: '{"code":"what a caller wrote"}' } }, { status: 400 });
  });
  const codes = ["WORKFLOW_NOT_FOUND", "INTERNAL", "WORKFLOW_INVALID", "INSUFFICIENT_CREDITS", ""];
  expect(requests.map(({ errorCode }) => errorCode)).toEqual(codes);
});

it("names the run of a request, unless the request was rejected", async () => {
  const caller = KEY as never;
  const requests = await stored((log) => {
    end(log, { caller }, { headers: { "X-Execution-Id": RUN } });
    end(log, { caller }, { status: 422, headers: { "X-Execution-Id": RUN } });
    end(log, { caller }, { path: "/api/executions/:id/events" });
    end(log, { caller }, { path: "/api/batches/:id" });
  });
  expect(requests.map(({ executionId }) => executionId)).toEqual([RUN, "", RUN, ""]);
});

it("leaves out sessions, visitors of apps, senders of hooks, and requests without a caller", async () => {
  const requests = await stored((log) => {
    for (const caller of [undefined, { key: null }, { ...KEY, visitor: "one" }, { ...KEY, hook: {} }])
      end(log, { caller: caller as never });
  });
  expect(requests).toEqual([]);
});

it("drops requests that don't fit and batches that can't be stored, and never delays or fails a request", async () => {
  const fitting = await stored((log) => Array.from({ length: 5 }, () => end(log, { caller: KEY as never })), 3);
  expect(fitting).toHaveLength(3);
  let calls = 0;
  const log = storing(() => Promise.reject(new Error(`identity is down: ${(calls += 1)}`)));
  end(log, { caller: KEY as never });
  await log.stop();
  expect(calls).toBe(1);
});
