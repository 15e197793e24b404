import { circuitBreaker, CircuitState, handleWhen, isBrokenCircuitError, IterableBackoff, type IBreaker } from "cockatiel";
import type { Logger } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { isAway } from "./provider-failures";
import { ProviderError } from "../providers";
import { createSlots, NoSlot } from "../lifecycle/slots";
import { TIMING } from "../contract/timing";

/** Failures in a row, over a while, after which a provider is left alone. */
export const FAILURES_TO_OPEN = 10;
/** Calls that may wait for one of a provider's `maxConcurrent`. */
const PLACES = 1_000;
const REMEMBERED_PROVIDERS = 500;

export interface PassOptions {
  /** For whom; users take turns. */
  key?: string;
  signal?: AbortSignal | undefined;
  /** When the call must have begun, in milliseconds since the epoch. */
  until: number;
}

/** What stands before a provider, in this process. */
export interface Gate {
  /**
   * Makes one submission, or one call of a text model, when the provider may be called.
   * @throws ProviderError of the kind "unavailable" when it may not: nothing was sent then
   */
  pass<T>(call: () => Promise<T>, options: PassOptions): Promise<T>;
}

interface GateSettings {
  /** How the provider is called in messages: its host. */
  name: string;
  /** The same for all models that share an address and a secret. */
  id: string;
  maxConcurrent: number | undefined;
}

const settingsOf = (providerJson: string): GateSettings => {
  const {
    baseUrl = "",
    auth,
    maxConcurrent,
  } = JSON.parse(providerJson) as {
    baseUrl?: string;
    auth?: { secretEnv?: string };
    maxConcurrent?: number;
  };
  const name = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
  return { name, id: `${name} ${auth?.secretEnv ?? ""}`, maxConcurrent };
};

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

interface Breaker {
  isOpen(): boolean;
  run<T>(call: () => Promise<T>): Promise<T>;
  /** Throws while the provider is left alone. */
  check(): void;
}

/**
 * Leaves a provider alone that is away: after failures in a row for a pause, then until one call has succeeded. Only what
 * a provider does counts: neither refusals of a request, nor calls that were given up here.
 */
const createBreaker = (name: string, logger: Logger): Breaker => {
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

/** A provider as an operator sees it. */
interface ProviderState {
  name: string;
  isOpen: boolean;
  /** Where its calls are bounded. */
  load?: { inUse: number; waiting: number };
}
interface WatchedGate extends Gate {
  state(): ProviderState;
}

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

export interface Gates {
  (providerJson: string): Gate;
  /** Every provider that was called, once. */
  states(): ProviderState[];
}

/** The gates of all providers, by what a registry entry says of them. */
export const createGates = (logger: Logger): Gates => {
  const breakers = new LRUCache<string, Breaker>({ max: REMEMBERED_PROVIDERS });
  const gates = new LRUCache<string, WatchedGate>({ max: REMEMBERED_PROVIDERS });
  const breakerOf = ({ id, name }: GateSettings): Breaker => {
    const breaker = breakers.get(id) ?? createBreaker(name, logger);
    breakers.set(id, breaker);
    return breaker;
  };

  const createGate = (settings: GateSettings): WatchedGate => {
    const breaker = breakerOf(settings);
    const { maxConcurrent, name } = settings;
    if (maxConcurrent === undefined) {
      return {
        state: () => ({ name, isOpen: breaker.isOpen() }),
        pass: async (call) => {
          breaker.check();
          return breaker.run(call);
        },
      };
    }
    const slots = createSlots({ slots: maxConcurrent, places: PLACES });
    const run = async <T>(call: () => Promise<T>): Promise<T> => {
      // It may have gone away while this call waited.
      breaker.check();
      return breaker.run(call);
    };
    return {
      state: () => ({ name, isOpen: breaker.isOpen(), load: slots.load() }),
      pass: async (call, { key, signal, until }) => {
        breaker.check();
        try {
          return await slots.use(() => run(call), { key, signal, maxWaitMs: Math.max(0, until - Date.now()) });
        } catch (error) {
          if (!(error instanceof NoSlot)) throw error;
          throw new ProviderError(
            "unavailable",
            `provider ${name} has no time: ${error.message}`,
            undefined,
            undefined,
            TIMING.breakerProbe,
          );
        }
      },
    };
  };

  const gateOf = (providerJson: string): Gate => {
    const settings = settingsOf(providerJson);
    const key = `${settings.id} ${settings.maxConcurrent ?? ""}`;
    const gate = gates.get(key) ?? createGate(settings);
    gates.set(key, gate);
    return gate;
  };
  return Object.assign(gateOf, { states: () => merged([...gates.values()].map((gate) => gate.state())) });
};
