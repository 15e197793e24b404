/** Starts and decides approvals of runs, and manages a run's place while it waits. */
import { CONFLICT_ATTEMPTS, LIMITS, tooManyWaiting, unavailable } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { isForEndpoints } from "../run/delivery";
import { elapsed, endKey, event, type ExecutionEvent } from "../run/events";
import type { ExecutionView } from "../run/record";
import { DECIDED, WAITING, type OutboxEntry } from "../run/states";
import type { RunInput } from "../run/types";
import type { Decision, Approval } from "../run/approvals";
import type { Stores } from "../record/stores";
import type { Execution } from "./execution";
import type { Outbox } from "./outbox";
import type { Queue } from "./queue";

export interface ApprovalsOptions {
  stores: Pick<Stores, "rows" | "approvals">;
  execution: Pick<Execution, "announce">;
  queue: Pick<Queue, "admitApproval" | "stepAside" | "comeBack">;
  outbox: Pick<Outbox, "deliverLater">;
}

export type Approvals = ReturnType<typeof createApprovals>;

const beginEvents = ({ nodeId, title, since, until }: Approval): ExecutionEvent[] => [
  { ...event(`started:${nodeId}`, "node.started", { nodeId, items: 1 }), at: since },
  { ...event(`waiting:${nodeId}`, WAITING, { nodeId, title, until: until.toISOString() }), at: since },
];

const decisionEvents = ({ nodeId, isApproved, by, at }: Decision, { since }: Approval): ExecutionEvent[] => [
  { ...event(`decided:${nodeId}`, DECIDED, { nodeId, decision: isApproved ? "approve" : "reject", by }), at },
  { ...event(endKey("completed", nodeId), "node.completed", { nodeId, durationMs: elapsed(since.getTime(), at.getTime()) }), at },
];

export const approvalOf = ({ waits = [] }: ExecutionView, nodeId: string): Approval | undefined =>
  waits.find((approval) => approval.nodeId === nodeId);
export const decisionOf = ({ decisions = [] }: ExecutionView, nodeId: string): Decision | undefined =>
  decisions.find((decision) => decision.nodeId === nodeId);
export const isOpen = ({ waitingFor = [] }: ExecutionView, nodeId: string): boolean => waitingFor.includes(nodeId);

/** Approvers of a published graph get a link by mail. */
const mailsApprovers = ({ mailsApprovers: isAllowed }: ExecutionView, { approvers = [] }: Approval): boolean =>
  isAllowed === true && approvers.length > 0;

/** Only a webhook that subscribes to the event receives it. */
const sendsWaiting = (row: ExecutionView): boolean => row.webhook?.events.includes(WAITING) === true || isForEndpoints(row, WAITING);

export const createApprovals = ({ stores, execution, queue, outbox }: ApprovalsOptions) => {
  const announceAll = (executionId: string, events: readonly ExecutionEvent[]): void => {
    for (const one of events) execution.announce(executionId, one);
  };

  return {
    /**
     * Records that a node waits. Repeated calls keep the first time.
     * @param isSilent sends no message, because the approval is decided at once
     * @returns the row; null if the run isn't under way
     */
    begin: async (executionId: string, attempt: number, approval: Approval, isSilent = false): Promise<ExecutionView | null> => {
      const row = await stores.rows.find(executionId);
      if (!row) return null;
      const events = beginEvents(approval);
      const { nodeId } = approval;
      const messages: OutboxEntry[] = [
        ...(sendsWaiting(row) ? [`waiting:${nodeId}` as const] : []),
        ...(mailsApprovers(row, approval) ? [`mail:${nodeId}` as const] : []),
      ];
      const approvalRow = await stores.approvals.begin(executionId, attempt, approval, { events, outbox: isSilent ? [] : messages });
      if (!approvalRow) {
        const now = await stores.rows.find(executionId);
        return now && now.attempt === attempt && now.status === "processing" && approvalOf(now, approval.nodeId) ? now : null;
      }
      announceAll(executionId, events);
      if (approvalRow.outbox.length > 0) void outbox.deliverLater(approvalRow);
      return approvalRow;
    },

    /**
     * Decides an approval. The first decision wins.
     * @param where further conditions on the row
     * @returns the row with the decision; null if the node doesn't wait
     */
    decide: async (row: ExecutionView, decision: Decision, where?: object): Promise<ExecutionView | null> => {
      const { nodeId, by } = decision;
      const approval = approvalOf(row, nodeId);
      if (!approval) return null;
      const events = decisionEvents(decision, approval);
      // Otherwise the workflow itself decided and needs no signal.
      const owedEntries = { events, outbox: by === "owner" ? [`decided:${nodeId}` as const] : [] };
      const decided = await retryOnConflict(CONFLICT_ATTEMPTS.decision, async () => {
        const decidedRow = await stores.approvals.decide(row._id, decision, owedEntries, where);
        if (decidedRow) return decidedRow;
        const now = await stores.rows.find(row._id);
        return now && now.status === "processing" && !now.ending && isOpen(now, nodeId) ? undefined : null;
      });
      if (decided === undefined) throw unavailable("the execution is changing too often: retry", 1);
      if (!decided) return null;
      announceAll(row._id, events);
      if (by === "owner") void outbox.deliverLater(decided);
      return decided;
    },

    /** Admits a run with an approval. @throws CONCURRENCY_LIMIT_EXCEEDED */
    admit: async ({ userId, holdId }: Pick<RunInput, "userId" | "holdId">): Promise<void> => {
      if (!(await queue.admitApproval(userId, holdId, LIMITS.waitingRuns))) throw tooManyWaiting(LIMITS.waitingRuns);
    },

    /** Frees a run's place while all its steps under way wait for decisions. */
    stepAside: (userId: string, holdId: string): Promise<void> => queue.stepAside(userId, holdId),

    /** Resumes a run after a decision. @returns its position in the queue; 0 if it has a place */
    comeBack: (userId: string, holdId: string, limit: number): Promise<number> => queue.comeBack(userId, holdId, limit),
  };
};
