import type { OnTimeout, ValueType } from "@nodeloom/kernel/graph";
import type { StoredText } from "./types";

export interface Approval {
  nodeId: string;
  title: string;
  instructions: string;
  since: Date;
  until: Date;
  onTimeout: OnTimeout;
  /** JSON of the value under review; absent if the runner can't read values of nodes. */
  value?: StoredText;
  /** Set if the value is longer than the stored part. */
  truncated?: true;
  type: ValueType;
  /** Approvers that can decide; absent if everyone who can run the workflow can decide. See `ApprovalSettings`. */
  approvers?: readonly string[];
  /** Set if the person who started the run can't decide. */
  notStarter?: true;
}

export interface Decision {
  nodeId: string;
  isApproved: boolean;
  /** `rerun`: the decision was reused from an earlier run. */
  by: "owner" | "timeout" | "rerun";
  at: Date;
  /** Person who decided in a session. */
  userId?: string;
  /** Key that decided. */
  keyId?: string;
  /** Address of the approver who decided by a mailed link. */
  address?: string;
  comment?: string;
  /** JSON of the value that replaces the reviewed value. */
  value?: StoredText;
}

/** Approvals in a run's row; absent if the run never waited. */
export interface Approvals {
  waits?: Approval[];
  decisions?: Decision[];
  /** Nodes that wait; absent if no node waits. */
  waitingFor?: string[];
  /** Set while any node waits. Lists filter by it. */
  waiting?: true;
}

export interface ApprovalOutcome {
  isApproved: boolean;
  /** Set if the decision replaces the value. */
  changed?: { value: unknown };
}

/** Maximum characters of JSON stored for review. */
export const SHOWN_CHARS = 64 * 1024;

/** Measures how many milliseconds at least one approval was open. */
export const createWaitingTime = () => {
  let [open, since, total] = [0, 0, 0];
  const totalMs = (now: number): number => total + (open > 0 ? now - since : 0);
  return {
    totalMs,
    isOpen: (): boolean => open > 0,
    begin: (now: number): void => {
      if (open === 0) since = now;
      open += 1;
    },
    end: (now: number): void => {
      if (open === 1) total = totalMs(now);
      open -= 1;
    },
  };
};
