import { withTimeout } from "@nodeloom/platform";
import { ApplicationFailure } from "@temporalio/activity";
import { LRUCache } from "lru-cache";
import type { ShortAnswer } from "./activity-types";
import type { CallContext } from "../run/types";
import { TIMING } from "../run/timing";

/**
 * Calls that are made in the workflow task that needs them: a run of short calls is one task, and no activity. A call that
 * can't be made so is declined, and made by an activity of its own.
 */

/** Calls of one process at a time: each keeps a workflow task open, of which a worker has a hundred. */
const PLACES = 60;
/** Runs of which it is remembered that this process carries them. */
const CARRIED_RUNS = 10_000;

export interface ShortCallOptions {
  /** Hears at once that a run is being cancelled, until the returned function is called. */
  onCancel: (executionId: string, listener: () => void) => () => void;
  places?: number;
}

export const createShortCalls = ({ onCancel, places = PLACES }: ShortCallOptions) => {
  /**
   * Calls of the runs that this process was the first to carry, by run and key. A workflow task that is repeated here finds
   * the call that it made before; one that is repeated elsewhere is declined.
   */
  const carried = new LRUCache<string, Map<string, Promise<unknown>>>({ max: CARRIED_RUNS });
  let inUse = 0;

  const declined = (): { declined: true } => ({ declined: true });
  /** A call that was made, and failed for now: the activity makes it again after the pause that it asks for. */
  const postponed = (error: unknown): { declined: true; afterMs: number } => {
    const pause = error instanceof ApplicationFailure ? error.nextRetryDelay : undefined;
    return { declined: true, afterMs: typeof pause === "number" ? pause : TIMING.firstPause };
  };

  const made = <T>(calls: Map<string, Promise<unknown>>, key: string, work: () => Promise<T>): Promise<T> => {
    const known = calls.get(key);
    if (known) return known as Promise<T>;
    inUse += 1;
    const call = work().finally(() => (inUse -= 1));
    calls.set(key, call);
    return call;
  };

  /** What fails for good fails its node; all else is tried again by the activity. */
  const answered = async <T>(work: Promise<T>): Promise<ShortAnswer<T>> => {
    try {
      return { result: await work };
    } catch (error) {
      if (error instanceof ApplicationFailure && error.nonRetryable) throw error;
      return postponed(error);
    }
  };

  return {
    /** This process has claimed a run, and was the first to. */
    carry: (executionId: string): void => void carried.set(executionId, new Map()),
    /** A run is over. */
    forget: (executionId: string): void => void carried.delete(executionId),

    /** An activity that is bounded by itself, made in the workflow task. */
    short:
      <Call extends CallContext, Result>(activity: (call: Call) => Promise<Result>) =>
      async (call: Call): Promise<ShortAnswer<Result>> => {
        const calls = carried.get(call.executionId);
        if (!calls || (inUse >= places && !calls.has(call.key))) return declined();
        const answer = await answered(made(calls, call.key, () => activity(call)));
        if (!("result" in answer)) calls.delete(call.key);
        return answer;
      },

    /**
     * A look at what may take long, which does no harm when it is repeated: given up after a while.
     * @param giveUp breaks it off
     */
    shortLook:
      <Call extends CallContext, Rest extends unknown[], Result>(
        activity: (call: Call, ...rest: Rest) => Promise<Result>,
        giveUp: (call: Call) => void,
      ) =>
      async (call: Call, ...rest: Rest): Promise<ShortAnswer<Result>> => {
        if (!carried.has(call.executionId) || inUse >= places) return declined();
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
