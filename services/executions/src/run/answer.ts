import { type DomainError, unavailable } from "@nodeloom/kernel";
import { errorOf } from "./refusals";
import type { ExecutionView } from "./record";
import { isFinal } from "./states";

/**
 * What a client waits for. `sync`: the end. `async`: the first submission, or the end. `respond-async`: that the run is certain
 * to end.
 */
export type RunMode = "sync" | "async" | "respond-async";

export type Answer = { kind: "wait" } | { kind: "reply"; row: ExecutionView } | { kind: "refusal"; error: DomainError };

const WAIT: Answer = { kind: "wait" };

const hasWhatIsWaitedFor = (row: ExecutionView, mode: RunMode): boolean => {
  if (isFinal(row) || mode === "respond-async") return true;
  return mode === "async" && (row.requestId !== null || row.status === "queued");
};

/**
 * What a client is told of a run, from its row alone. While a run is `accepted` nothing is told: it may still be refused.
 * @param isLate whether the client's time is over
 */
export const answer = (row: ExecutionView | null, mode: RunMode, isLate: boolean): Answer => {
  if (!row) return { kind: "refusal", error: unavailable("the run is not known any more", 1) };
  if (row.status === "refused")
    return { kind: "refusal", error: row.refusal ? errorOf(row.refusal) : unavailable("the run was refused", 1) };
  if (row.status === "accepted") return WAIT;
  if (hasWhatIsWaitedFor(row, mode) || isLate) return { kind: "reply", row };
  return WAIT;
};
