import { ApplicationFailure, CancellationScope, workflowInfo } from "@temporalio/workflow";
import type { Claim, ClaimingAnswer, ShortAnswer } from "../../contract/activity-types";
import { RUN_CANCELLED, type RunInput, type RunOutcome } from "../../contract/run-types";
import { causeOf } from "./calls/failures";
import { hasOneCaller } from "./only-call";
import { claim } from "./steps";

export type RunClaim = ReturnType<typeof createRunClaim>;

const notOurs = (): ApplicationFailure => ApplicationFailure.nonRetryable("the run is carried by another workflow", RUN_CANCELLED);

/** The claim of a run's row, before which the run has no effect: a step of its own, or a part of the run's first call. */
export const createRunClaim = (input: RunInput, attempt: number) => {
  const { executionId, plan } = input;
  const request: Claim = { executionId, attempt, claimedBy: workflowInfo().firstExecutionRunId };
  let settled: RunOutcome | undefined;
  /** Undefined while it is not known. */
  let isOurs: boolean | undefined;
  /** The claim by itself, once: steps that begin together need the same. */
  let made: Promise<boolean> | undefined;
  /** Claims the run, unless that has happened. @returns whether it is this workflow's to carry */
  const make = async (): Promise<boolean> => {
    isOurs ??= await (made ??= CancellationScope.nonCancellable(() => claim(request)));
    return isOurs;
  };
  /** The same, for a step that needs it. @throws what ends the steps of a run that is another's */
  const need = async (): Promise<void> => {
    if (!(await make())) throw notOurs();
  };
  return {
    isMade: (): boolean => isOurs === true,
    make,
    need,
    /** Makes a call that claims the run, where that has not happened. */
    withCall: async <T>(call: (claim?: Claim) => Promise<ClaimingAnswer<T>>): Promise<ShortAnswer<T>> => {
      if (isOurs) return call();
      const { isClaimed, outcome, ...answer } = await call(hasOneCaller(plan) ? { ...request, run: input } : request).catch(
        (error: unknown) => {
          // Only a call that was made has a failure of its own.
          if (causeOf(error) instanceof ApplicationFailure) isOurs = true;
          throw error;
        },
      );
      isOurs = isClaimed;
      settled = outcome;
      if (isClaimed === undefined) await need();
      if (isClaimed === false) throw notOurs();
      return answer;
    },
    /** How the run was settled, where that was done with its only call. */
    outcome: (): RunOutcome | undefined => settled,
  };
};

/** Of a run that needs none (any more). */
export const CLAIMED: RunClaim = {
  isMade: () => true,
  make: () => Promise.resolve(true),
  need: () => Promise.resolve(),
  withCall: (call) => call(),
  outcome: () => undefined,
};
