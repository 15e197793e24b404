import { sleep, TimeoutFailure } from "@temporalio/workflow";
import type { Claim, ClaimingAnswer, ShortAnswer } from "../../../contract/activity-types";
import type { RunClaim } from "../run-claim";
import { causeOf } from "./failures";

/** What takes too long is made again by the activity, which has the attempts. */
const declinedWhenLate = (error: unknown): { declined: true; afterMs?: number } => {
  if (causeOf(error) instanceof TimeoutFailure) return { declined: true };
  throw error;
};

/** How a call is made. */
export interface CallManner {
  /** Nothing else of its run is under way. */
  isAlone: boolean;
  claim: RunClaim;
}

/** The same for one call among several. */
export const onlyIf = ({ isAlone, claim }: CallManner, isOnly: boolean): CallManner => ({ isAlone: isAlone && isOnly, claim });

/**
 * Makes a call in this workflow task where that is possible, else by an activity. While a task is open its run hears of
 * nothing else: only a call besides which nothing is under way may be made so.
 * @param inTask is given the claim of the run that goes with its first call
 */
export const shortly = async <T>(
  { isAlone, claim }: CallManner,
  inTask: (claim: [] | [Claim]) => Promise<ClaimingAnswer<T>>,
  activity: () => Promise<T>,
): Promise<T> => {
  const inOne = (made?: Claim): Promise<ClaimingAnswer<T>> => inTask(made ? [made] : []).catch(declinedWhenLate);
  const answer: ShortAnswer<T> = isAlone ? await claim.withCall(inOne) : { declined: true };
  if ("result" in answer) return answer.result;
  if (answer.afterMs) await sleep(answer.afterMs);
  // What comes between has its place in histories: runs of before rows came first wait for nothing here.
  if (!claim.isMade()) await claim.need();
  return activity();
};
