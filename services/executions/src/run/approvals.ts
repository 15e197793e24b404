/** What runs wait for: decisions of people. */
import type { OnTimeout, ValueType } from "@nodeloom/kernel/graph";
import type { StoredText } from "./types";

/** A decision that a run waits for, or has waited for. */
export interface Approval {
  nodeId: string;
  title: string;
  instructions: string;
  since: Date;
  until: Date;
  onTimeout: OnTimeout;
  /** JSON of what is looked at; none where its runner may not see values of nodes. */
  value?: StoredText;
  /** The value is longer than what is kept of it. */
  truncated?: true;
  type: ValueType;
}

/** How a wait has ended. */
export interface Decision {
  nodeId: string;
  isApproved: boolean;
  /** `rerun`: reused from an earlier run. */
  by: "owner" | "timeout" | "rerun";
  at: Date;
  /** JSON of what goes on in the place of the value. */
  value?: StoredText;
}

/** Of a row: what its run waits for and has waited for. Rows of runs that never waited have nothing of it. */
export interface Approvals {
  waits?: Approval[];
  decisions?: Decision[];
  /** Nodes that wait, while any does. */
  waitingFor?: string[];
  /** Set while any node waits: what lists look for. */
  waiting?: true;
}

/** How a run goes on behind an approval. */
export interface Decided {
  isApproved: boolean;
  /** What takes the place of the value. */
  changed?: { value: unknown };
}

/** What of a value is kept to be looked at, as JSON. */
export const SHOWN_CHARS = 64 * 1024;

/** How long a run has waited for decisions: the time in which at least one was open. Milliseconds. */
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
