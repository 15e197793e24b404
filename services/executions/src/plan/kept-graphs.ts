/** The graphs that runs ran, kept with their executions. */
import { LRUCache } from "lru-cache";
import type { StoredText } from "../run/types";
import type { PayloadStore } from "../record/payloads";

/** A graph as a run has it. */
export interface KeptGraph {
  nodesJson: string;
  edgesJson: string;
  /** Of a version: what its tasks became when it was published. */
  pinnedModels: Readonly<Record<string, string>>;
}

/** A kept graph with its version; 0: the draft. */
export type KeptVersion = KeptGraph & { version: number };

/** What all items of a batch run, however the workflows change meanwhile. */
export interface PinnedGraphs {
  graph: KeptVersion;
  /** Workflows in it that its nodes don't name by a version's number: see `findInlined`. */
  inner: Record<string, KeptVersion>;
}

interface UsersGraph {
  userId: string;
  graph: KeptGraph;
}

/** How long a graph that was written is not written again: well within what texts are kept longer than rows. */
const WRITTEN_MS = 86_400_000;
const REMEMBERED = 2_000;

export type KeepGraph = ReturnType<typeof createKeepGraph>;

/** Keeps graphs, each once a day and user, however many runs have it: a version and the draft that it was have one key, and models of their own. */
export const createKeepGraph = (payloads: Pick<PayloadStore, "putShared">) => {
  const written = new LRUCache<string, Promise<StoredText>>({
    max: REMEMBERED,
    ttl: WRITTEN_MS,
    memoMethod: (key, _stale, { context }) => {
      const { userId, graph } = context as UsersGraph;
      const { nodesJson, edgesJson, pinnedModels } = graph;
      const stored = payloads.putShared(JSON.stringify({ nodesJson, edgesJson, pinnedModels } satisfies KeptGraph), userId);
      stored.catch(() => written.delete(key));
      return stored;
    },
  });
  /** @param key changes with nodes and edges */
  return (key: string, graph: KeptGraph, userId: string): Promise<StoredText> =>
    written.memo(`${userId} ${key} ${JSON.stringify(graph.pinnedModels)}`, { context: { userId, graph } satisfies UsersGraph });
};
