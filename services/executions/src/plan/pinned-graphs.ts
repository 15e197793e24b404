import { DomainError } from "@nodeloom/kernel";
import { LRUCache } from "lru-cache";
import type { PinnedGraphs } from "./kept-graphs";
import type { Stores } from "../record/stores";

/** Maximum characters of cached JSON. */
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
