import type { Response } from "express";
import { MAX_LATENCY_MS, type Fault } from "./inputs";
import { refuseIfAsked } from "./jobs";
import { ProviderError } from "./provider-error";
import { waitWithClient } from "./requests";

export interface Exchanges {
  /**
   * Applies a request's latency and fault. @returns false if the client has disconnected
   * @throws ProviderError for a requested failure
   */
  undergo(response: Response, body: { sandbox?: Fault | undefined }, latencyMs: number): Promise<boolean>;
  /** Number of requests, including rejected ones. */
  count(): number;
}

/** Latency and faults for dialects without jobs. `flap` has no effect, because there are no polls. */
export const createExchanges = (): Exchanges => {
  let count = 0;

  return {
    undergo: async (response, body, usualMs) => {
      count += 1;
      const fault = body.sandbox;
      refuseIfAsked(fault);
      const latencyMs = fault?.fail === "hang" ? MAX_LATENCY_MS : (fault?.latencyMs ?? usualMs);
      if (!(await waitWithClient(response, latencyMs))) return false;
      if (fault?.fail === "job" || fault?.fail === "hang")
        throw new ProviderError(500, "generation_failed", "the sandbox was asked to fail this request");
      return true;
    },
    count: () => count,
  };
};
