import { withTimeout } from "@nodeloom/platform";
import { ApplicationFailure } from "@temporalio/activity";
import { LRUCache } from "lru-cache";
import type { ShortAnswer } from "./activity-types";
import type { CallContext } from "../run/types";
import { TIMING } from "../run/timing";

/**
 * Makes calls inside a workflow task. A run with only short calls needs one task and no activities. Other calls are declined, and an
 * activity makes them.
 */

/** Concurrent calls per process. Each call keeps a workflow task open, and a worker has a hundred task slots. */
const PLACES = 60;
/** Maximum claimed runs that this process keeps in memory. */
const CARRIED_RUNS = 10_000;

export interface ShortCallOptions {
  /** Registers a listener that is called at once when the run is cancelled. The returned function removes it. */
  onCancel: (executionId: string, listener: () => void) => () => void;
  places?: number;
}

export const createShortCalls = ({ onCancel, places = PLACES }: ShortCallOptions) => {
  /**
   * Calls of runs that this process claimed, by run and key. A repeated workflow task finds its call here. On another process the call is
   * declined.
   */
  const runsById = new LRUCache<string, Map<string, Promise<unknown>>>({ max: CARRIED_RUNS });
  let inUse = 0;

  const declined = (): { declined: true } => ({ declined: true });
  /** The call failed temporarily. The activity repeats it after the pause. */
  const postponed = (error: unknown): { declined: true; afterMs: number } => {
    const pause = error instanceof ApplicationFailure ? error.nextRetryDelay : undefined;
    return { declined: true, afterMs: typeof pause === "number" ? pause : TIMING.firstPause };
  };

  const callInRun = <T>(calls: Map<string, Promise<unknown>>, key: string, work: () => Promise<T>): Promise<T> => {
    const earlier = calls.get(key);
    if (earlier) return earlier as Promise<T>;
    inUse += 1;
    const call = work().finally(() => (inUse -= 1));
    calls.set(key, call);
    return call;
  };

  /** Final failures fail the node. The activity retries all other failures. */
  const answered = async <T>(work: Promise<T>): Promise<ShortAnswer<T>> => {
    try {
      return { result: await work };
    } catch (error) {
      if (error instanceof ApplicationFailure && error.nonRetryable) throw error;
      return postponed(error);
    }
  };

  return {
    /** Records that this process claimed the run. */
    carry: (executionId: string): void => void runsById.set(executionId, new Map()),
    forget: (executionId: string): void => void runsById.delete(executionId),

    /** Makes a call of limited duration inside the workflow task. */
    short:
      <Call extends CallContext, Result>(activity: (call: Call) => Promise<Result>) =>
      async (call: Call): Promise<ShortAnswer<Result>> => {
        const calls = runsById.get(call.executionId);
        if (!calls || (inUse >= places && !calls.has(call.key))) return declined();
        const answer = await answered(callInRun(calls, call.key, () => activity(call)));
        if (!("result" in answer)) calls.delete(call.key);
        return answer;
      },

    /** Makes a call that is repeatable but possibly slow, and stops waiting after a while. @param giveUp aborts the call */
    shortLook:
      <Call extends CallContext, Rest extends unknown[], Result>(
        activity: (call: Call, ...rest: Rest) => Promise<Result>,
        giveUp: (call: Call) => void,
      ) =>
      async (call: Call, ...rest: Rest): Promise<ShortAnswer<Result>> => {
        if (!runsById.has(call.executionId) || inUse >= places) return declined();
        inUse += 1;
        let unsubscribe = (): void => undefined;
        const cancelled = new Promise<"over">((resolve) => (unsubscribe = onCancel(call.executionId, () => resolve("over"))));
        try {
          const looked = Promise.race([answered(activity(call, ...rest)), cancelled]);
          const answer = await withTimeout(looked, TIMING.shortPoll, () => "over" as const);
          if (answer !== "over") return answer;
          giveUp(call);
          return declined();
        } finally {
          unsubscribe();
          inUse -= 1;
        }
      },
  };
};
