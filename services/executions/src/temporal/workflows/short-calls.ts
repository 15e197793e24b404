import { ActivityFailure, proxyLocalActivities, sleep, TimeoutFailure, type ActivityCancellationType } from "@temporalio/workflow";
import type { ShortAnswer, ShortCalls } from "../../contract/activity-types";
import { TIMING } from "../../contract/timing";

// What is declined, or fails for want of something, is made by an activity: there are no retries here.
const retry = { maximumAttempts: 1 };
/** Aborts what runs, and hears how that ended. */
const cancellationType: ActivityCancellationType = "WAIT_CANCELLATION_COMPLETED";

const { shortSubmit } = proxyLocalActivities<ShortCalls>({ startToCloseTimeout: TIMING.direct, cancellationType, retry });
const { shortPoll } = proxyLocalActivities<ShortCalls>({ startToCloseTimeout: TIMING.minute, cancellationType, retry });
const { shortHttpRequest } = proxyLocalActivities<ShortCalls>({ startToCloseTimeout: TIMING.httpRequest, cancellationType, retry });
const { shortKeepFile } = proxyLocalActivities<ShortCalls>({ startToCloseTimeout: TIMING.keepFile, cancellationType, retry });

export const short = { submit: shortSubmit, poll: shortPoll, httpRequest: shortHttpRequest, keepFile: shortKeepFile };

/** Why a call failed: the failure of an activity carries it; that of a call in the workflow task is it. */
export const causeOf = (error: unknown): unknown => (error instanceof ActivityFailure ? error.cause : error);

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
