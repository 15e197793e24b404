import type { Response } from "express";
import { MAX_LATENCY_MS, type Fault } from "./inputs";
import { refuseIfAsked } from "./jobs";
import { ProviderError } from "./provider-error";
import { seedOf } from "./render/random";
import { waitWithClient } from "./requests";

const FLAP_PERIOD = 3;
/** Flapping requests remembered, to know which of their attempts may succeed. */
const MAX_FLAPPING = 10_000;

export interface Exchanges {
  /**
   * Takes the time, and makes the trouble, that a request asked for. Resolves to whether its client is still there.
   * @throws ProviderError when the request asked to fail.
   */
  undergo(response: Response, body: { sandbox?: Fault | undefined }, latencyMs: number): Promise<boolean>;
  /** Requests so far, refused ones included. */
  count(): number;
}

/** Requests of a dialect that answers each of them at once, without jobs. */
export const createExchanges = (): Exchanges => {
  const attempts = new Map<string, number>();
  let count = 0;

  /** Of every so many attempts at the same request, only the last succeeds. */
  const flap = (body: object): void => {
    const key = seedOf(JSON.stringify(body));
    const attempt = (attempts.get(key) ?? 0) + 1;
    attempts.delete(key);
    if (attempt % FLAP_PERIOD === 0) return;
    attempts.set(key, attempt);
    for (const oldest of attempts.keys()) if (attempts.size > MAX_FLAPPING) attempts.delete(oldest);
    throw new ProviderError(500, "flapping", "the sandbox was asked to answer some attempts with an error");
  };

  return {
    undergo: async (response, body, usualMs) => {
      count += 1;
      const fault = body.sandbox;
      refuseIfAsked(fault);
      if (fault?.fail === "flap") flap(body);
      const latencyMs = fault?.fail === "hang" ? MAX_LATENCY_MS : (fault?.latencyMs ?? usualMs);
      if (!(await waitWithClient(response, latencyMs))) return false;
      if (fault?.fail === "job" || fault?.fail === "hang")
        throw new ProviderError(500, "generation_failed", "the sandbox was asked to fail this request");
      return true;
    },
    count: () => count,
  };
};
