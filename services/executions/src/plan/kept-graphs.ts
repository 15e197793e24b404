/** Stores the graph of each run with its execution. */
import { LRUCache } from "lru-cache";
import type { StoredText } from "../run/types";
import type { PayloadStore } from "../record/payloads";

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
