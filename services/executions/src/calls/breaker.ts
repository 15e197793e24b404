import { circuitBreaker, CircuitState, handleWhen, isBrokenCircuitError, IterableBackoff, type IBreaker } from "cockatiel";
import type { Logger } from "@nodeloom/platform";
import { TIMING } from "../contract/timing";
import { ProviderError } from "../providers";
import { isAway } from "./failures";

/** Leaves providers alone that are away. */

/** Failures in a row, over a while, after which a provider is left alone. */
export const FAILURES_TO_OPEN = 10;

type Answer<T> = { value: T } | { refusal: ProviderError };

/** What a provider answered, a refusal included; whatever else happened is thrown. */
const answerOf = async <T>(call: () => Promise<T>): Promise<Answer<T>> => {
  try {
    return { value: await call() };
  } catch (error) {
    if (error instanceof ProviderError && !isAway(error)) return { refusal: error };
    throw error;
  }
};

/** Opens after failures in a row that went on for a while: a burst of requests that make a provider fail is no outage. */
const outage = (): IBreaker => {
  let failures = 0;
  let since = 0;
  return {
    state: undefined,
    success: () => {
      failures = 0;
    },
    failure: () => {
      if (failures === 0) since = Date.now();
      failures += 1;
      return failures >= FAILURES_TO_OPEN && Date.now() - since >= TIMING.breakerOutage;
    },
  };
};

export interface Breaker {
  isOpen(): boolean;
  run<T>(call: () => Promise<T>): Promise<T>;
  /** Throws while the provider is left alone. */
  check(): void;
}

/**
 * Leaves a provider alone that is away: after failures in a row for a pause, then until one call has succeeded. Only what
 * a provider does counts: neither refusals of a request, nor calls that were given up here.
 */
export const createBreaker = (name: string, logger: Logger): Breaker => {
  const pauses = TIMING.breakerPauses;
  let opened = { times: 0, at: 0 };
  const policy = circuitBreaker(
    // A probe that was given up has shown nothing.
    handleWhen((error) => isAway(error) || policy.state === CircuitState.HalfOpen),
    { breaker: outage(), halfOpenAfter: new IterableBackoff(pauses) },
  );
  policy.onBreak((reason) => {
    opened = { times: opened.times + 1, at: Date.now() };
    const error = "error" in reason ? reason.error.message : undefined;
    logger.warn({ provider: name, reason: error, pauseMs: pauseMs() }, "provider is away: calls are held back");
  });
  policy.onReset(() => {
    opened = { times: 0, at: 0 };
    logger.info({ provider: name }, "provider is back");
  });
  const pauseMs = (): number => pauses[Math.min(opened.times, pauses.length) - 1] ?? 0;
  const away = (retryAfterMs: number): ProviderError =>
    new ProviderError("unavailable", `provider ${name} is not available at the moment`, undefined, undefined, retryAfterMs);

  return {
    isOpen: () => policy.state === CircuitState.Open || policy.state === CircuitState.HalfOpen,
    check: () => {
      if (policy.state === CircuitState.HalfOpen) throw away(TIMING.breakerProbe);
      const leftMs = opened.at + pauseMs() - Date.now();
      if (policy.state === CircuitState.Open && leftMs > 0) throw away(leftMs);
    },
    run: async (call) => {
      try {
        const answer = await policy.execute(() => answerOf(call));
        if ("refusal" in answer) throw answer.refusal;
        return answer.value;
      } catch (error) {
        throw isBrokenCircuitError(error) ? away(TIMING.breakerProbe) : error;
      }
    },
  };
};
