import { sleep, TimeoutFailure } from "@temporalio/workflow";
import type { ShortAnswer } from "../../activity-types";
import { causeOf } from "./failures";

/** What takes too long is made again by the activity, which has the attempts. */
const declinedWhenLate = (error: unknown): { declined: true; afterMs?: number } => {
  if (causeOf(error) instanceof TimeoutFailure) return { declined: true };
  throw error;
};

/**
 * Makes a call in this workflow task where that is possible, else by an activity. While a task is open its run hears of
 * nothing else: only a call besides which nothing is under way may be made so.
 */
export const shortly = async <T>(isAlone: boolean, inTask: () => Promise<ShortAnswer<T>>, activity: () => Promise<T>): Promise<T> => {
  if (!isAlone) return activity();
  const answer = await inTask().catch(declinedWhenLate);
  if ("result" in answer) return answer.result;
  if (answer.afterMs) await sleep(answer.afterMs);
  return activity();
};
