import type { Logger } from "@nodeloom/platform";
import { ProviderError } from "@nodeloom/providers";
import { circuitBreaker, CircuitState, DelegateBackoff, handleWhen, type IBreaker } from "cockatiel";
import { isAway } from "./failures";
import { TIMING } from "../run/timing";

/**
 * Number of consecutive failures that open the circuit. The failures must span at least `TIMING.breakerOutage`, because a burst of requests
 * that make a provider fail isn't an outage.
 */
export const FAILURES_TO_OPEN = 10;

/** Number of consecutive failures after which work that can wait starts one call at a time. */
const FAILURES_TO_SLOW_DOWN = 3;

/** Counts consecutive failures. Calls that started before the circuit opened don't count afterwards. */
const failuresInARow = (isClosed: () => boolean): IBreaker => {
  let failures = 0;
  let since = 0;
  return {
    state: undefined,
    success: () => void (failures = 0),
    failure: () => {
      if (!isClosed()) return false;
      if (failures === 0) since = Date.now();
      failures += 1;
      return failures >= FAILURES_TO_OPEN && Date.now() - since >= TIMING.breakerOutage;
    },
  };
};

/**
 * Circuit breaker of one provider. After consecutive failures it rejects calls for a pause, then admits one trial call. If the trial call
 * succeeds, the circuit closes. A rejected request counts as success, because the provider responded. A call that the platform stopped
 * counts as neither; if it was the trial call, the circuit opens again.
 */
export const createBreaker = (name: string, logger: Logger) => {
  const pauses = TIMING.breakerPauses;
  let pausedUntil = 0;
  const isIn = (state: CircuitState): boolean => circuit.state === state;
  const circuit = circuitBreaker(
    handleWhen((error) => isAway(error) || isIn(CircuitState.HalfOpen)),
    {
      breaker: failuresInARow(() => isIn(CircuitState.Closed)),
      halfOpenAfter: new DelegateBackoff(({ attempt }) => {
        const pauseMs = pauses[Math.min(attempt, pauses.length) - 1]!;
        pausedUntil = Date.now() + pauseMs;
        return pauseMs;
      }),
    },
  );
  circuit.onBreak((reason) => {
    const message = "error" in reason ? reason.error.message : undefined;
    logger.warn({ provider: name, reason: message, pauseMs: pausedUntil - Date.now() }, "provider is away: calls are held back");
  });
  /** Consecutive failures, with the times of the first and the last one. */
  let outage: { failures: number; since: number; at: number } | undefined;
  const noteFailure = (): void => {
    const at = Date.now();
    outage = { failures: (outage?.failures ?? 0) + 1, since: outage?.since ?? at, at };
  };
  circuit.onReset(() => logger.info({ provider: name }, "provider is back"));

  /** @throws ProviderError of the kind "unavailable" with the remaining pause while calls are rejected */
  const check = (): void => {
    if (isIn(CircuitState.Closed)) return;
    const waitMs = isIn(CircuitState.HalfOpen) ? TIMING.breakerProbe : pausedUntil - Date.now();
    if (waitMs <= 0) return;
    throw new ProviderError("unavailable", `provider ${name} is not available at the moment`, undefined, undefined, waitMs);
  };

  return {
    isOpen: () => !isIn(CircuitState.Closed),
    check,
    /**
     * Time from which one call can test whether the provider is back; undefined while the provider responds. The pauses between such calls
     * grow with the outage, so that work that can wait doesn't fail piece by piece.
     */
    nextTrial: (): number | undefined => {
      const isClosed = isIn(CircuitState.Closed);
      if (isClosed && (outage?.failures ?? 0) < FAILURES_TO_SLOW_DOWN) return undefined;
      const ofCircuit = isClosed ? 0 : isIn(CircuitState.HalfOpen) ? Date.now() + TIMING.breakerProbe : pausedUntil;
      if (!outage) return ofCircuit;
      const pauseMs = Math.min(Math.max(outage.at - outage.since, TIMING.breakerOutage), TIMING.batchTrial);
      return Math.max(ofCircuit, outage.at + pauseMs);
    },
    /** @throws the error of `check` or of the call */
    run: async <T>(call: () => Promise<T>): Promise<T> => {
      check();
      const { value, refusal } = await circuit.execute(async (): Promise<{ value?: T; refusal?: ProviderError }> => {
        try {
          const value = await call();
          outage = undefined;
          return { value };
        } catch (error) {
          if (isAway(error)) noteFailure();
          if (!(error instanceof ProviderError) || isAway(error)) throw error;
          outage = undefined;
          return { refusal: error };
        }
      });
      if (refusal) throw refusal;
      return value as T;
    },
  };
};
