import type { Response } from "express";
import { MAX_LATENCY_MS, type Fault } from "./inputs";
import { refuseIfAsked } from "./jobs";
import { ProviderError } from "./provider-error";
import { waitWithClient } from "./requests";

export interface Exchanges {
  /**
   * Takes the time, and makes the trouble, that a request asked for. Resolves to whether its client is still there.
   * @throws ProviderError when the request asked to fail.
   */
  undergo(response: Response, body: { sandbox?: Fault | undefined }, latencyMs: number): Promise<boolean>;
  /** Requests so far, refused ones included. */
  count(): number;
}

/** Requests of a dialect that answers each of them at once, without jobs: with no polls, `flap` changes nothing. */
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
