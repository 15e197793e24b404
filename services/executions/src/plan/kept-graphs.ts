/** Stores the graph of each run with its execution, and reads the graphs that a batch pins. */
import { LRUCache } from "lru-cache";
import type { StoredText } from "../run/types";
import type { PayloadStore } from "../record/payloads";
import { DomainError } from "@nodeloom/kernel";
import type { Stores } from "../record/stores";

export interface KeptGraph {
  nodesJson: string;
  edgesJson: string;
  /** For a version: models that its tasks resolved to when it was published. */
  pinnedModels: Readonly<Record<string, string>>;
}

/** `version` is 0 for the draft. */
export type KeptVersion = KeptGraph & { version: number };

/** Pins the graphs of all items of a batch, so that later changes to the workflows don't affect them. */
export interface PinnedGraphs {
  graph: KeptVersion;
  /** References without a version number; see `findInlined`. */
  inner: Record<string, KeptVersion>;
}

interface UsersGraph {
  userId: string;
  graph: KeptGraph;
}

/** A stored graph isn't written again during this time. */
const WRITTEN_MS = 120_000;
/** After this time, no process treats a graph as written, so the next run with the graph writes it again. */
export const GRAPH_SETTLED_MS = WRITTEN_MS + 60_000;
const REMEMBERED = 2_000;

export type KeepGraph = ReturnType<typeof createKeepGraph>;

/**
 * Stores each graph at most once per user in two minutes, however many runs use it. A version and its draft share a key but have separate
 * models.
 */
export const createKeepGraph = (payloads: Pick<PayloadStore, "putShared">) => {
  const graphTexts = new LRUCache<string, Promise<StoredText>>({
    max: REMEMBERED,
    ttl: WRITTEN_MS,
    memoMethod: (key, _stale, { context }) => {
      const { userId, graph } = context as UsersGraph;
      const { nodesJson, edgesJson, pinnedModels } = graph;
      const stored = payloads.putShared(JSON.stringify({ nodesJson, edgesJson, pinnedModels } satisfies KeptGraph), userId);
      stored.catch(() => graphTexts.delete(key));
      return stored;
    },
  });
  /** @param key changes with nodes and edges */
  return (key: string, graph: KeptGraph, userId: string): Promise<StoredText> =>
    graphTexts.memo(`${userId} ${key} ${JSON.stringify(graph.pinnedModels)}`, { context: { userId, graph } satisfies UsersGraph });
};

interface Lookup<T> {
  value: Promise<T>;
  until: number;
}

export type PinnedReads<T> = (pinned: PinnedGraphs | undefined, read: () => Promise<T>) => Promise<T>;

/**
 * Shares what the items of a batch look up: keeps the result of a lookup with the pinned graphs. The garbage collector removes it with the
 * graphs. A lookup that fails isn't kept.
 * @param keptMs after this time, a workflow that was changed or is no longer accessible is read again
 */
export const createPinnedReads = <T>(keptMs: number): PinnedReads<T> => {
  const lookups = new WeakMap<PinnedGraphs, Lookup<T>>();
  return (pinned, read) => {
    if (!pinned) return read();
    const lastLookup = lookups.get(pinned);
    if (lastLookup && lastLookup.until > Date.now()) return lastLookup.value;
    const lookup = { value: read(), until: Date.now() + keptMs };
    lookups.set(pinned, lookup);
    lookup.value.catch(() => lookups.get(pinned) === lookup && lookups.delete(pinned));
    return lookup.value;
  };
};

/** Maximum characters of cached JSON of batches. */
const CACHED_CHARS = 32 * 1024 * 1024;

export type PinnedOf = (batchId: string) => Promise<PinnedGraphs | undefined>;

/**
 * Returns the graphs of a batch's items; undefined for a model, and for batches created before graphs were pinned. A batch never changes
 * its graphs.
 */
export const createPinnedOf = ({ batches, payloads }: Pick<Stores, "batches" | "payloads">): PinnedOf => {
  const cache = new LRUCache<string, { pinned: PinnedGraphs | undefined; size: number }>({
    maxSize: CACHED_CHARS,
    sizeCalculation: ({ size }) => size,
    fetchMethod: async (batchId) => {
      const graph = (await batches.find(batchId))?.graph;
      if (!graph) return { pinned: undefined, size: 1 };
      const json = await payloads.getText(graph);
      if (json === null) throw new DomainError("failed", "EXECUTION_FAILED", "the graph of the batch was deleted: create a new batch");
      return { pinned: JSON.parse(json) as PinnedGraphs, size: json.length };
    },
  });
  return async (batchId) => (await cache.fetch(batchId))?.pinned;
};
