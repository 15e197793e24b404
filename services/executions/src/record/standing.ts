import type { BaseTier } from "@nodeloom/kernel";
import { LRUCache } from "lru-cache";
import { TIMING } from "../contract/timing";
import type { ExecutionView } from "./execution-record";

/** What must be known of a run before a call of it is made: whether it may be, and whose budget holds (none is known for runs of earlier releases). */
export interface Standing {
  isCancelled: boolean;
  baseTier: BaseTier | undefined;
}

/** Runs that are remembered as claimed. */
const CLAIMED_RUNS = 10_000;

/**
 * How runs stand that are about to make a call. One that this process has claimed a moment ago was seen under way by that, and is not
 * read again for its first call. A cancellation that another process accepts in that moment is as late as one that comes with the call.
 */
export const createStandings = (read: (id: string) => Promise<Standing>, now = Date.now) => {
  const claimed = new LRUCache<string, Standing & { until: number }>({ max: CLAIMED_RUNS });
  return {
    claimed: ({ _id, baseTier }: Pick<ExecutionView, "_id" | "baseTier">): void =>
      void claimed.set(_id, { isCancelled: false, baseTier, until: now() + TIMING.claimSeen }),
    changed: (id: string): void => void claimed.delete(id),
    of: async (id: string): Promise<Standing> => {
      const seen = claimed.get(id);
      return seen && now() <= seen.until ? seen : read(id);
    },
  };
};
