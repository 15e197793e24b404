import type { Logger } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { createBreaker, type Breaker } from "./breaker";
import { ProviderError } from "../providers";
import { createSlots, NoSlot } from "../lifecycle/slots";
import { TIMING } from "../contract/timing";

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
