import { ApplicationFailure, CancellationScope, workflowInfo } from "@temporalio/workflow";
import type { Claim, ClaimingAnswer, ShortAnswer } from "../../contract/activity-types";
import { RUN_CANCELLED, type RunInput, type RunOutcome } from "../../contract/run-types";
import { causeOf } from "./cause";
import { hasOneCaller } from "./only-call";
import { claim } from "./steps";

/** The claim of a run's row, before which the run has no effect: a step of its own, or a part of the run's first call. */
export interface RunClaim {
  isMade(): boolean;
  /** Claims the run, unless that has happened. @returns whether it is this workflow's to carry */
  make(): Promise<boolean>;
  /** The same, for a step that needs it. @throws what ends the steps of a run that is another's */
  need(): Promise<void>;
  /** Makes a call that claims the run, where that has not happened. */
  withCall<T>(call: (claim?: Claim) => Promise<ClaimingAnswer<T>>): Promise<ShortAnswer<T>>;
  /** How the run was settled, where that was done with its only call. */
  outcome(): RunOutcome | undefined;
}

const notOurs = (): ApplicationFailure => ApplicationFailure.nonRetryable("the run is carried by another workflow", RUN_CANCELLED);

export const createRunClaim = (input: RunInput, attempt: number): RunClaim => {
  const { executionId, plan } = input;
  const request: Claim = { executionId, attempt, claimedBy: workflowInfo().firstExecutionRunId };
  let settled: RunOutcome | undefined;
  /** Undefined while it is not known. */
  let isOurs: boolean | undefined;
  /** The claim by itself, once: steps that begin together need the same. */
  let made: Promise<boolean> | undefined;
  const make = async (): Promise<boolean> => {
    isOurs ??= await (made ??= CancellationScope.nonCancellable(() => claim(request)));
    return isOurs;
  };
  const need = async (): Promise<void> => {
    if (!(await make())) throw notOurs();
  };
  return {
    isMade: () => isOurs === true,
    make,
    need,
    withCall: async (call) => {
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
    outcome: () => settled,
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
