import type { RunPlan } from "@nodeloom/kernel/graph";
import { withTimeout, type Logger } from "@nodeloom/platform";
import type { Claim, ClaimingAnswer, ShortAnswer } from "../contract/activity-types";
import type { CallContext, HeldItem, RunEnd, RunInput, RunOutcome } from "../contract/run-types";
import { TIMING } from "../contract/timing";

export interface FirstCallOptions {
  /** @returns whether the run is this workflow's to carry */
  claim: (claim: Claim) => Promise<boolean>;
  settle: (input: RunInput, end: RunEnd, held: HeldItem[]) => Promise<RunOutcome>;
  logger: Pick<Logger, "warn">;
}

/** How a run ends with what its only call gave; null where its workflow must say that. */
type EndOf<Call, Result> = (plan: RunPlan, call: Call, result: Result) => RunEnd | null;

/**
 * A run's first call claims it, and settles it where it is the only one: a step of the workflow each that need not be made. What
 * can't be done now the workflow does by itself, as often as it takes.
 */
export const createFirstCalls = ({ claim: claimRun, settle, logger }: FirstCallOptions) => {
  /** It is waited for only as long as an attempt of the workflow's own would be: the call's answer is not to be lost with it. */
  const settledInTime = async (input: RunInput, endOf: () => RunEnd | null): Promise<RunOutcome | null> => {
    try {
      const end = endOf();
      return end && (await withTimeout(settle(input, end, input.held ?? []), TIMING.localActivity, () => null));
    } catch (error) {
      logger.warn({ err: error, executionId: input.executionId }, "a run could not be settled with its only call");
      return null;
    }
  };

  /** @param record notes what a call gave whose run was to tell that, and does not; without it the call notes that itself */
  return <Call extends CallContext, Result>(
      make: (call: Call) => Promise<ShortAnswer<Result>>,
      endOf: EndOf<Call, Result> = () => null,
      record?: (call: Call, result: Result) => Promise<void>,
    ) =>
    async (call: Call, claim?: Claim): Promise<ClaimingAnswer<Result>> => {
      if (!claim) return make(call);
      try {
        if (!(await claimRun(claim))) return { declined: true, isClaimed: false };
      } catch (error) {
        logger.warn({ err: error, executionId: claim.executionId }, "a run could not be claimed with its first call");
        return { declined: true };
      }
      const run = call.items > 1 ? undefined : claim.run;
      const answer = await make(run ? { ...call, isToldByRun: true } : call);
      if (!run || !("result" in answer)) return { ...answer, isClaimed: true };
      const outcome = await settledInTime(run, () => endOf(run.plan, call, answer.result));
      if (!outcome) await record?.(call, answer.result).catch((error: unknown) => logger.warn({ err: error }, "a call was not recorded"));
      return { ...answer, isClaimed: true, ...(outcome ? { outcome } : {}) };
    };
};
