import { createSlots, doubling, type Logger, NoSlot, retry, type Slots } from "@nodeloom/platform";
import { accountConcurrency, ProviderError, type ProviderSettings } from "@nodeloom/providers";
import { circuitBreaker, CircuitState, DelegateBackoff, handleWhen, type IBreaker } from "cockatiel";
import { LRUCache } from "lru-cache";
import type { CallClock } from "./clock";
import { final, isAway } from "./failures";
import type { Watched } from "../meters";
import { TIMING } from "../run/timing";

/** What stands before a provider in this process: its circuit breaker, and places for `maxConcurrent` calls. */

/** Calls that may wait for one of a provider's `maxConcurrent`. */
const QUEUE_LIMIT = 1_000;
const REMEMBERED_PROVIDERS = 500;

export interface PassOptions {
  /** For whom; users take turns. */
  key?: string;
  signal?: AbortSignal | undefined;
  clock: CallClock;
}

/** What stands before a provider, in this process. */
export interface Gate {
  /**
   * Makes one submission, or one call of a text model, when the provider may be called.
   * @throws ProviderError of the kind "unavailable" while it is left alone: nothing was sent then. DomainError where the run's
   * own time ended before it had a place
   */
  pass<T>(call: () => Promise<T>, options: PassOptions): Promise<T>;
}

interface GateSettings {
  /** How the provider is called in messages: its host. */
  name: string;
  /** The same for all models that share an address and a secret. */
  id: string;
  /** Of models that say this number. */
  maxConcurrent: number | undefined;
  /** Of all models together. */
  accountConcurrent: number | undefined;
}

type Env = (name: string) => string | undefined;

const settingsOf = (providerJson: string, env: Env): GateSettings => {
  const settings = JSON.parse(providerJson) as ProviderSettings;
  const { baseUrl, auth, maxConcurrent } = settings;
  const name = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
  return { name, id: `${name} ${auth?.secretEnv ?? ""}`, maxConcurrent, accountConcurrent: accountConcurrency(settings, env) };
};

/** A provider as an operator sees it; its load where its calls are bounded. */
type ProviderState = ReturnType<Watched["providers"]>[number];
type WatchedGate = Gate & { state: () => ProviderState };

/** Several models may share a provider, each with places of its own: what is told of it is told once. */
const merged = (states: readonly ProviderState[]): ProviderState[] => {
  const byName = new Map<string, ProviderState>();
  for (const { name, isOpen, load } of states) {
    const known = byName.get(name);
    const inUse = (known?.load?.inUse ?? 0) + (load?.inUse ?? 0);
    const waiting = (known?.load?.waiting ?? 0) + (load?.waiting ?? 0);
    byName.set(name, { name, isOpen: isOpen || known?.isOpen === true, ...(load || known?.load ? { load: { inUse, waiting } } : {}) });
  }
  return [...byName.values()];
};

/** The gates of all providers, by what a registry entry says of them. @param env reads a variable of the environment */
export const createGates = (logger: Logger, env: Env = () => undefined) => {
  const breakers = new LRUCache<string, ReturnType<typeof createBreaker>, string>({
    max: REMEMBERED_PROVIDERS,
    memoMethod: (_id, _stale, { context: name }) => createBreaker(name, logger),
  });

  /** Of accounts: shared by the gates of all models that use one. */
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
    // In this order everywhere, so that no two calls wait for each other.
    const lines = [own, accountOf(settings)].filter((line) => line !== undefined);
    /** A place, however long the line: those that find it full come again. */
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
        throw final("EXECUTION_FAILED", `no place among the calls of ${name} came free while the run had time: ${error.message}`);
      }
    };
    return {
      state: () => ({ name, isOpen: breaker.isOpen(), ...(own ? { load: own.load() } : {}) }),
      pass: async (call, options) => {
        breaker.check();
        const taken: (() => void)[] = [];
        try {
          for (const line of lines) taken.push(await options.clock.waiting(() => place(line, options)));
          // It may have gone away while this call waited.
          return await breaker.run(() => {
            options.clock.asked();
            return call();
          });
        } finally {
          for (const leave of taken.reverse()) leave();
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
  /** Every provider that was called, once. */
  const states = (): ProviderState[] =>
    merged([
      ...[...gates.values()].map((gate) => gate.state()),
      ...[...accounts.values()].map(({ name, slots }) => ({ name, isOpen: false, load: slots.load() })),
    ]);
  return Object.assign(gateOf, { states });
};

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
