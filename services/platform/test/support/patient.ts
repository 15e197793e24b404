import type { CallOptions } from "../../src/grpc/client";

const PATIENCE_MS = 60_000;

type Method = (request: unknown, options?: CallOptions) => unknown;

/** A client of which every call may take a minute: for tests that are not about how long a callee takes. */
export const patient = <C extends object>(client: C): C =>
  new Proxy(client, {
    get: (target, name) => {
      const found: unknown = Reflect.get(target, name);
      if (typeof found !== "function" || name === "close") return found;
      const method = found as Method;
      return (request: unknown, options: CallOptions = {}) =>
        method(request, { ...options, deadlineMs: Math.max(PATIENCE_MS, options.deadlineMs ?? 0) });
    },
  });
