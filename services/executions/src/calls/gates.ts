import { createSlots, doubling, type Logger, NoSlot, retry, type Slots } from "@nodeloom/platform";
import { accountConcurrency, ProviderError, type ProviderSettings } from "@nodeloom/providers";
import { circuitBreaker, CircuitState, DelegateBackoff, handleWhen, type IBreaker } from "cockatiel";
import { LRUCache } from "lru-cache";
import type { CallClock } from "./clock";
import { final, isAway } from "./failures";
import type { Watched } from "../meters";
import { TIMING } from "../run/timing";

/** Maximum number of calls that wait for one of a provider's `maxConcurrent` places. */
const QUEUE_LIMIT = 1_000;
const REMEMBERED_PROVIDERS = 500;

export interface PassOptions {
  /** User id. Users take turns. */
  key?: string;
  signal?: AbortSignal | undefined;
  clock: CallClock;
}

/** Limits and protects the calls of one provider in this process. */
export interface Gate {
  /**
   * Makes one submission or text call as soon as the provider can be called.
   * @throws ProviderError "unavailable" while the circuit is open (nothing is sent); DomainError if the run's time ends while it waits for
   *   a place
   */
  pass<T>(call: () => Promise<T>, options: PassOptions): Promise<T>;
}

interface GateSettings {
  /** The provider's host, used in messages. */
  name: string;
  /** Id shared by all models with the same address and secret. */
  id: string;
  /** Maximum concurrent calls of the models with this setting. */
  maxConcurrent: number | undefined;
  /** Maximum concurrent calls over all models of the account. */
  accountConcurrent: number | undefined;
}

type Env = (name: string) => string | undefined;

const settingsOf = (providerJson: string, env: Env): GateSettings => {
  const settings = JSON.parse(providerJson) as ProviderSettings;
  const { baseUrl, auth, maxConcurrent } = settings;
  const name = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
  return { name, id: `${name} ${auth?.secretEnv ?? ""}`, maxConcurrent, accountConcurrent: accountConcurrency(settings, env) };
};

/** State for operators. It includes the load if concurrent calls are limited. */
type ProviderState = ReturnType<Watched["providers"]>[number];
type WatchedGate = Gate & { state: () => ProviderState };

/** Models of one provider have separate places, but the provider's state is reported once. */
const merged = (states: readonly ProviderState[]): ProviderState[] => {
  const byName = new Map<string, ProviderState>();
  for (const { name, isOpen, load } of states) {
    const gate = byName.get(name);
    const inUse = (gate?.load?.inUse ?? 0) + (load?.inUse ?? 0);
    const waiting = (gate?.load?.waiting ?? 0) + (load?.waiting ?? 0);
    byName.set(name, { name, isOpen: isOpen || gate?.isOpen === true, ...(load || gate?.load ? { load: { inUse, waiting } } : {}) });
  }
  return [...byName.values()];
};

/** Creates the gates of all providers, keyed by their registry settings. @param env reads an environment variable */
export const createGates = (logger: Logger, env: Env = () => undefined) => {
  const breakers = new LRUCache<string, ReturnType<typeof createBreaker>, string>({
    max: REMEMBERED_PROVIDERS,
    memoMethod: (_id, _stale, { context: name }) => createBreaker(name, logger),
  });

  /** Limits of accounts, shared by all models that use the account. */
  const accounts = new LRUCache<string, { name: string; slots: Slots }, { name: string; concurrency: number }>({
    max: REMEMBERED_PROVIDERS,
    memoMethod: (_id, _stale, { context: { name, concurrency } }) => ({
      name,
      slots: createSlots({ concurrency, queueLimit: QUEUE_LIMIT }),
    }),
  });
  const accountOf = ({ id, name, accountConcurrent: concurrency }: GateSettings): Slots | undefined =>
    concurrency === undefined ? undefined : accounts.memo(`${id} ${concurrency}`, { context: { name, concurrency } }).slots;

  const createGate = (settings: GateSettings): WatchedGate => {
    const { id, maxConcurrent, name } = settings;
    const breaker = breakers.memo(id, { context: name });
    const own = maxConcurrent === undefined ? undefined : createSlots({ concurrency: maxConcurrent, queueLimit: QUEUE_LIMIT });
    // Places are taken in a fixed order, so that two calls can't wait for each other.
    const lines = [own, accountOf(settings)].filter((line) => line !== undefined);
    /** Takes a place. If the queue is full, the call is retried later. */
    const place = async (line: Slots, { key, signal, clock: { deadline } }: PassOptions): Promise<() => void> => {
      try {
        return await retry(() => line.enter({ key, signal, maxWaitMs: Math.max(0, deadline - Date.now()) }), {
          pausesMs: doubling(TIMING.lineFull, TIMING.lineFull),
          shouldRetry: (error) => error instanceof NoSlot && Date.now() < deadline,
          signal,
          until: deadline,
        });
      } catch (error) {
        if (!(error instanceof NoSlot)) throw error;
        throw final("EXECUTION_FAILED", `no call of ${name} ended before the deadline of the run: ${error.message}`);
      }
    };
    return {
      state: () => ({ name, isOpen: breaker.isOpen(), ...(own ? { load: own.load() } : {}) }),
      pass: async (call, options) => {
        breaker.check();
        const releases: (() => void)[] = [];
        try {
          for (const line of lines) releases.push(await options.clock.waiting(() => place(line, options)));
          // The circuit may have opened while the call waited.
          return await breaker.run(() => {
            options.clock.asked();
            return call();
          });
        } finally {
          for (const leave of releases.reverse()) leave();
        }
      },
    };
  };

  const gates = new LRUCache<string, WatchedGate, GateSettings>({
    max: REMEMBERED_PROVIDERS,
    memoMethod: (_key, _stale, { context: settings }) => createGate(settings),
  });
  const gateOf = (providerJson: string): Gate => {
    const settings = settingsOf(providerJson, env);
    const { id, maxConcurrent, accountConcurrent } = settings;
    return gates.memo(`${id} ${maxConcurrent ?? ""} ${accountConcurrent ?? ""}`, { context: settings });
  };
  /** True while calls to the provider are held back. */
  const isAway = (providerJson: string): boolean => breakers.peek(settingsOf(providerJson, env).id)?.isOpen() ?? false;
  const states = (): ProviderState[] =>
    merged([
      ...[...gates.values()].map((gate) => gate.state()),
      ...[...accounts.values()].map(({ name, slots }) => ({ name, isOpen: false, load: slots.load() })),
    ]);
  return Object.assign(gateOf, { states, isAway });
};

/**
 * Number of consecutive failures that open the circuit. The failures must span at least `TIMING.breakerOutage`, because a burst of requests
 * that make a provider fail isn't an outage.
 */
export const FAILURES_TO_OPEN = 10;

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
    /** @throws the error of `check` or of the call */
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
