import type { Logger } from "@nodeloom/platform";
import { ProviderError } from "@nodeloom/providers";
import { circuitBreaker, CircuitState, DelegateBackoff, handleWhen, type IBreaker } from "cockatiel";
import { isUnavailableError } from "./failures";
import { TIMING } from "../run/timing";
import type { OutagePeers, SharedOutage } from "./shared-outages";

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

const ALONE: OutagePeers = { publish: () => undefined, clear: () => undefined, beginTrial: () => Promise.resolve(() => undefined) };

/**
 * Circuit breaker of one provider. After consecutive failures it rejects calls for a pause, then admits one trial call. If the trial call
 * succeeds, the circuit closes. A rejected request counts as success, because the provider responded. A call that the platform stopped
 * counts as neither; if it was the trial call, the circuit opens again.
 */
export const createBreaker = (name: string, logger: Logger, { publish, clear, beginTrial }: OutagePeers = ALONE) => {
  const pauses = TIMING.breakerPauses;
  let pausedUntil = 0;
  let openings = 0;
  /** Consecutive failures, with the times of the first and the last one. */
  let outage: { failures: number; since: number; at: number } | undefined;
  const isIn = (state: CircuitState): boolean => circuit.state === state;

  const share = (): void => {
    const { failures, since, at } = outage ?? { failures: FAILURES_TO_OPEN, since: 0, at: 0 };
    publish({ failures, lastedMs: at - since, openings });
  };
  const noteFailure = (): void => {
    const at = Date.now();
    outage = { failures: (outage?.failures ?? 0) + 1, since: outage?.since ?? at, at };
    if (isIn(CircuitState.Closed) && outage.failures >= FAILURES_TO_SLOW_DOWN) share();
  };
  const noteAnswer = (): void => {
    const wasShared = (outage?.failures ?? 0) >= FAILURES_TO_SLOW_DOWN;
    outage = undefined;
    if (wasShared && isIn(CircuitState.Closed)) clear();
  };

  /** @param opened how often in a row the circuit has opened; 0 creates a closed circuit */
  const createCircuit = (opened: number) => {
    const created = circuitBreaker(
      handleWhen((error) => isUnavailableError(error) || isIn(CircuitState.HalfOpen)),
      {
        breaker: failuresInARow(() => isIn(CircuitState.Closed)),
        halfOpenAfter: new DelegateBackoff(({ attempt }) => {
          const pauseMs = pauses[Math.min(attempt, pauses.length) - 1]!;
          pausedUntil = Date.now() + pauseMs;
          openings = attempt;
          return pauseMs;
        }),
        ...(opened > 0
          ? { initialState: { ownState: { value: CircuitState.Open, openedAt: Date.now(), attemptNo: opened }, breakerState: undefined } }
          : {}),
      },
    );
    // Calls of a circuit that was replaced no longer count.
    created.onBreak((reason) => {
      if (created !== circuit) return;
      const message = "error" in reason ? reason.error.message : undefined;
      logger.warn({ provider: name, reason: message, pauseMs: pausedUntil - Date.now() }, "provider is away: calls are held back");
      share();
    });
    created.onReset(() => {
      if (created !== circuit) return;
      openings = 0;
      outage = undefined;
      logger.info({ provider: name }, "provider is back");
      clear();
    });
    return created;
  };
  let circuit = createCircuit(0);

  const unavailable = (waitMs: number): ProviderError =>
    new ProviderError("unavailable", `provider ${name} is not available at the moment`, undefined, undefined, waitMs);

  /** @throws ProviderError of the kind "unavailable" with the remaining pause while calls are rejected */
  const check = (): void => {
    if (isIn(CircuitState.Closed)) return;
    const waitMs = isIn(CircuitState.HalfOpen) ? TIMING.breakerProbe : pausedUntil - Date.now();
    if (waitMs > 0) throw unavailable(waitMs);
  };

  /** Makes a call and notes whether the provider responded. */
  const noted = async <T>(call: () => Promise<T>): Promise<{ value?: T; refusal?: ProviderError }> => {
    try {
      const value = await call();
      noteAnswer();
      return { value };
    } catch (error) {
      if (isUnavailableError(error)) noteFailure();
      if (!(error instanceof ProviderError) || isUnavailableError(error)) throw error;
      noteAnswer();
      return { refusal: error };
    }
  };

  const execute = async <T>(call: () => Promise<T>): Promise<T> => {
    const { value, refusal } = await circuit.execute(() => noted(call));
    if (refusal) throw refusal;
    return value as T;
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
    /** Takes over the state that another process has found; undefined if the provider responds. A trial call of this process continues. */
    adopt: (shared: SharedOutage | undefined): void => {
      if (isIn(CircuitState.HalfOpen)) return;
      // The other process didn't know yet that the circuit is open.
      if (shared && isIn(CircuitState.Open) && shared.openings < openings) return share();
      const at = Date.now();
      outage = shared && { failures: Math.max(shared.failures, outage?.failures ?? 0), since: at - shared.lastedMs, at };
      const opened = shared?.openings ?? 0;
      if (opened === 0 && isIn(CircuitState.Closed)) return;
      openings = opened;
      circuit = createCircuit(opened);
      logger.info({ provider: name }, opened === 0 ? "provider is back for another process" : "provider is away for another process");
    },
    /** @throws the error of `check` or of the call */
    run: async <T>(call: () => Promise<T>): Promise<T> => {
      check();
      if (isIn(CircuitState.Closed)) return execute(call);
      const endTrial = await beginTrial();
      if (!endTrial) throw unavailable(TIMING.breakerProbe);
      try {
        // Another call of this process may have begun its trial meanwhile.
        check();
        return await execute(call);
      } finally {
        endTrial();
      }
    },
  };
};
