import { circuitBreaker, CircuitState, DelegateBackoff, handleWhen, type IBreaker } from "cockatiel";
import type { Logger } from "@nodeloom/platform";
import { TIMING } from "../run/timing";
import { ProviderError } from "@nodeloom/providers";
import { isAway } from "./failures";

/** Leaves a failing provider alone for a while. */

/** Failures in a row, over at least `TIMING.breakerOutage`, that open the circuit: a burst of requests that make a provider fail is no outage. */
export const FAILURES_TO_OPEN = 10;

/** Counts failures in a row; calls that began before the circuit opened, and fail later, don't count. */
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
 * The circuit breaker of a provider: after failures in a row it refuses calls for a pause, then lets one call through, whose
 * success closes it. A refused request is a success, because the provider answered. A call that was given up here is neither,
 * except as that one call: it opens the circuit again.
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
  circuit.onReset(() => logger.info({ provider: name }, "provider is back"));

  /** @throws ProviderError of the kind "unavailable" while calls are refused; it says for how long */
  const check = (): void => {
    if (isIn(CircuitState.Closed)) return;
    const waitMs = isIn(CircuitState.HalfOpen) ? TIMING.breakerProbe : pausedUntil - Date.now();
    if (waitMs <= 0) return;
    throw new ProviderError("unavailable", `provider ${name} is not available at the moment`, undefined, undefined, waitMs);
  };

  return {
    isOpen: () => !isIn(CircuitState.Closed),
    check,
    /** Makes a call. @throws what `check` throws, or what the call throws */
    run: async <T>(call: () => Promise<T>): Promise<T> => {
      check();
      const { value, refusal } = await circuit.execute(async (): Promise<{ value?: T; refusal?: ProviderError }> => {
        try {
          return { value: await call() };
        } catch (error) {
          if (error instanceof ProviderError && !isAway(error)) return { refusal: error };
          throw error;
        }
      });
      if (refusal) throw refusal;
      return value as T;
    },
  };
};
