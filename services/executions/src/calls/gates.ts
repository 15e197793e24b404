import { type ClusterSlots, createSlots, derivedId, doubling, type Logger, NoSlot, retry, type Slots } from "@nodeloom/platform";
import { accountConcurrency, type ProviderSettings } from "@nodeloom/providers";
import { LRUCache } from "lru-cache";
import { createBreaker } from "./breaker";
import type { CallClock } from "./clock";
import { final } from "./failures";
import type { MeterSources } from "../meters";
import type { SharedOutages } from "./shared-outages";
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

/** Limits and protects the calls of one provider. */
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

/** Connects the gates of all processes. */
export interface GateCluster {
  slots: Pick<ClusterSlots, "of">;
  outages: SharedOutages;
}

type Env = (name: string) => string | undefined;

const settingsOf = (providerJson: string, env: Env): GateSettings => {
  const settings = JSON.parse(providerJson) as ProviderSettings;
  const { baseUrl, auth, maxConcurrent } = settings;
  const name = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
  return { name, id: `${name} ${auth?.secretEnv ?? ""}`, maxConcurrent, accountConcurrent: accountConcurrency(settings, env) };
};

/** State for operators. It includes the load if concurrent calls are limited. */
type ProviderState = ReturnType<MeterSources["providers"]>[number];
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

/**
 * Creates the gates of all providers, keyed by their registry settings.
 * @param env reads an environment variable
 * @param cluster without it, limits and outages count in this process alone
 */
export const createGates = (logger: Logger, env: Env = () => undefined, cluster?: GateCluster) => {
  const breakers = new LRUCache<string, ReturnType<typeof createBreaker>, string>({
    max: REMEMBERED_PROVIDERS,
    memoMethod: (id, _stale, { context: name }) => {
      const breaker = createBreaker(name, logger, cluster?.outages.peersOf(id));
      cluster?.outages.follow(id, breaker.adopt);
      return breaker;
    },
    dispose: (_breaker, id) => cluster?.outages.forget(id),
  });
  const breakerOf = ({ id, name }: GateSettings): ReturnType<typeof createBreaker> => breakers.memo(id, { context: name });

  /** @param resource the same text is the same limit in all processes */
  const slotsOf = (resource: string, concurrency: number): Slots => {
    const options = { concurrency, queueLimit: QUEUE_LIMIT };
    return cluster ? cluster.slots.of(derivedId("provider", resource), options) : createSlots(options);
  };

  /** Limits of accounts, shared by all models that use the account. */
  const accounts = new LRUCache<string, { name: string; slots: Slots }, { name: string; concurrency: number }>({
    max: REMEMBERED_PROVIDERS,
    memoMethod: (id, _stale, { context: { name, concurrency } }) => ({ name, slots: slotsOf(`account ${id}`, concurrency) }),
  });
  const accountOf = ({ id, name, accountConcurrent: concurrency }: GateSettings): Slots | undefined =>
    concurrency === undefined ? undefined : accounts.memo(`${id} ${concurrency}`, { context: { name, concurrency } }).slots;

  const createGate = (settings: GateSettings): WatchedGate => {
    const { id, maxConcurrent, name } = settings;
    const breaker = breakerOf(settings);
    const own = maxConcurrent === undefined ? undefined : slotsOf(`${id} ${maxConcurrent}`, maxConcurrent);
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
  const isUnavailable = (providerJson: string): boolean => breakers.peek(settingsOf(providerJson, env).id)?.isOpen() ?? false;
  /** Time from which one call can test whether a failing provider is back; undefined while the provider responds. */
  const nextTrial = (providerJson: string): number | undefined => breakerOf(settingsOf(providerJson, env)).nextTrial();
  const states = (): ProviderState[] =>
    merged([
      ...[...gates.values()].map((gate) => gate.state()),
      ...[...accounts.values()].map(({ name, slots }) => ({ name, isOpen: false, load: slots.load() })),
    ]);
  return Object.assign(gateOf, { states, isUnavailable, nextTrial });
};
