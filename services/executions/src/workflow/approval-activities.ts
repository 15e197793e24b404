/** Runs approvals as short steps in the workflow task. Each step is idempotent for its node. */
import { ApplicationFailure } from "@temporalio/activity";
import { nodeName } from "@nodeloom/kernel";
import { RunCancelled } from "../calls/failures";
import { decisionOf, approvalOf, type Approvals } from "../lifecycle/approvals";
import type { ExecutionView } from "../run/record";
import type { RunError, StoredText } from "../run/types";
import { SHOWN_CHARS, type ApprovalOutcome, type Decision, type Approval } from "../run/approvals";
import type { Stores } from "../record/stores";
import type { ApprovalActivities, ApprovalInput } from "./activity-types";
import { cancelledFailure, local } from "./step-failures";

export interface ApprovalActivityOptions {
  approvals: Pick<Approvals, "begin" | "decide" | "stepAside" | "comeBack">;
  stores: Pick<Stores, "rows" | "payloads">;
}

/** A run that can't wait is being cancelled, or a database restore lost its row. */
const notWaiting = (row: ExecutionView | null, { nodeId, label }: Pick<ApprovalInput, "nodeId" | "label">): ApplicationFailure => {
  if (row) return cancelledFailure(new RunCancelled());
  const message = `node ${nodeName(nodeId, label)}: the run is no longer stored, so it can't be decided on`;
  const problem: RunError = { code: "EXECUTION_FAILED", message, nodeId };
  return ApplicationFailure.nonRetryable(message, problem.code, problem);
};

export const createApprovalActivities = ({ approvals, stores }: ApprovalActivityOptions): ApprovalActivities => {
  /** Returns the stored part of the value under review. */
  const shownValue = async ({ executionId, shown }: ApprovalInput): Promise<Pick<Approval, "value" | "truncated">> => {
    if (!shown) return {};
    const json = JSON.stringify(shown.value ?? null);
    return json.length <= SHOWN_CHARS ? { value: await stores.payloads.putText(json, executionId) } : { truncated: true };
  };

  const textOf = (stored: StoredText | undefined): Promise<string | null> =>
    stored ? stores.payloads.getText(stored) : Promise.resolve(null);

  /** Returns the decision of an earlier run on an equal value; undefined if there is none or the value is too long to compare. */
  const earlierDecision = async (
    { executionId, nodeId, sources = [] }: ApprovalInput,
    { value }: Pick<Approval, "value">,
  ): Promise<Decision | undefined> => {
    const json = await textOf(value);
    for (const id of json === null ? [] : sources) {
      const row = await stores.rows.find(id);
      const decision = row && decisionOf(row, nodeId);
      if (!decision || (await textOf(approvalOf(row, nodeId)?.value)) !== json) continue;
      const changed = await textOf(decision.value);
      // If the replacement value was deleted, a new decision is needed.
      if (decision.value && changed === null) continue;
      const { isApproved } = decision;
      return {
        nodeId,
        isApproved,
        by: "rerun",
        at: new Date(),
        ...(changed === null ? {} : { value: await stores.payloads.putText(changed, executionId) }),
      };
    }
    return undefined;
  };

  const begin = async (input: ApprovalInput): Promise<{ until: number; isDecided: boolean }> => {
    const { executionId, attempt, nodeId, title, instructions, onTimeout, since, until } = input;
    const { approvers = [], notStarter = false } = input;
    const approval: Approval = {
      ...{ nodeId, title, instructions, onTimeout },
      since: new Date(since),
      until: new Date(until),
      ...(await shownValue(input)),
      type: input.type,
      ...(approvers.length > 0 ? { approvers } : {}),
      ...(notStarter ? { notStarter } : {}),
    };
    // The person who decided the earlier run may not be an approver of this run.
    const earlier = approvers.length > 0 || notStarter ? undefined : await earlierDecision(input, approval);
    const row = await approvals.begin(executionId, attempt, approval, earlier !== undefined);
    const waitingApproval = row && approvalOf(row, nodeId);
    if (!waitingApproval) throw notWaiting(await stores.rows.find(executionId), input);
    if (earlier) await approvals.decide(row, earlier);
    return { until: waitingApproval.until.getTime(), isDecided: earlier !== undefined };
  };

  const decidedAs = async ({ isApproved, value }: Decision): Promise<ApprovalOutcome> => {
    if (!value) return { isApproved };
    const json = await stores.payloads.getText(value);
    if (json === null) throw new Error("the value that a decision brought is gone");
    return { isApproved, changed: { value: JSON.parse(json) as unknown } };
  };

  return {
    beginWait: (input) => local(() => begin(input)),

    takeDecision: ({ executionId, nodeId, label, late }) =>
      local(async () => {
        const row = await stores.rows.find(executionId);
        const storedDecision = row && decisionOf(row, nodeId);
        if (storedDecision) return decidedAs(storedDecision);
        if (row && (row.status !== "processing" || row.ending))
          throw notWaiting(row, { nodeId, ...(label === undefined ? {} : { label }) });
        if (!late) return null;
        const decision: Decision = { nodeId, isApproved: late === "approve", by: "timeout", at: new Date() };
        // After a database restore, the row may be missing or older. The run uses the decision as usual.
        if (!row || !approvalOf(row, nodeId)) return decidedAs(decision);
        const decided = (await approvals.decide(row, decision)) ?? (await stores.rows.find(executionId));
        const standing = decided && decisionOf(decided, nodeId);
        return standing ? decidedAs(standing) : null;
      }),

    stepAside: ({ userId, holdId }) => local(() => approvals.stepAside(userId, holdId)),
    comeBack: ({ userId, holdId, concurrency }) => local(() => approvals.comeBack(userId, holdId, concurrency)),
  };
};
