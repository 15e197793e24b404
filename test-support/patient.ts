import type { CallOptions } from "@nodeloom/platform";

const PATIENCE_MS = 60_000;

type Method = (request: unknown, options?: CallOptions) => unknown;

/** A client whose calls can each take a minute, for tests that don't measure the callee's time. */
export const patient = <C extends object>(client: C): C =>
  new Proxy(client, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function" || name === "close") return member;
      const method = member as Method;
      return (request: unknown, options: CallOptions = {}) =>
        method(request, { ...options, deadlineMs: Math.max(PATIENCE_MS, options.deadlineMs ?? 0) });
    },
  });
