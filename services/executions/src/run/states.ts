import { RETENTION } from "@nodeloom/kernel";
import type { FinalStatus } from "./types";

/**
 * States of a run, stored in its row. Every change of `status` is one of these transitions. A transition is one conditional update, which
 * also writes the row's outbox.
 *
 *   accepted ─┬─► queued ─┬─► processing ─► cancel_requested
 *     ▲  │    └───────────┘       └──────────────┴─► completed | failed | cancelled
 *     │  └──► refused ───► accepted again, as the next attempt
 *
 * A final run can be erased. Its row becomes a tombstone: nothing can be held, claimed or started under its id again.
 */

/** The API never shows `accepted`, `refused` and `erased`. It shows `queued` as `processing`. */
export type RunStatus = "accepted" | "queued" | "processing" | "cancel_requested" | FinalStatus | "refused" | "erased";

/**
 * Work that a transition leaves to do. The process delivers it at once and then clears it; the relay delivers the rest. `void:<attempt>`:
 * release the hold of an attempt. `place:<attempt>`: free its place. `usage`: write its usage row. `webhook`: notify its webhook and
 * endpoints that the run has ended. `batch`: count the ended run in its batch. `canary`: count it in its alias's canary. `erase`: remove the data that is stored outside the row of
 * an erased run. `cancel`: signal the cancellation to its workflow. `waiting:<node>`: announce that the node waits for a decision.
 * `decided:<node>`: signal the decision to its workflow. `mail:<node>`: mail the approvers of the node.
 */
export type OutboxEntry =
  | `void:${number}`
  | `place:${number}`
  | "usage"
  | "webhook"
  | "batch"
  | "canary"
  | "cancel"
  | "erase"
  | `waiting:${string}`
  | `decided:${string}`
  | `mail:${string}`;

export type Transition = Partial<Record<RunStatus, readonly RunStatus[]>>;

export const FINAL_STATUSES: readonly FinalStatus[] = ["completed", "failed", "cancelled"];
/** States in which a workflow runs. */
export const RUNNING: readonly RunStatus[] = ["processing", "cancel_requested"];
/** States in which the run may still start. The relay checks these runs. */
export const UNDECIDED: readonly RunStatus[] = ["accepted", "queued"];
/** States of runs that clients can neither list nor find. */
export const HIDDEN: readonly RunStatus[] = ["accepted", "refused", "erased"];
/** States in which nothing runs or will run. */
export const OVER: readonly RunStatus[] = [...FINAL_STATUSES, "refused", "erased"];

const FINAL: ReadonlySet<string> = new Set(FINAL_STATUSES);
export const isFinal = ({ status }: { status: RunStatus }): boolean => FINAL.has(status);

/** True if nothing of this attempt runs or will run. */
export const isOver = (row: { status: RunStatus }): boolean => OVER.includes(row.status);

export const TRANSITIONS = {
  /** No place is free. The run waits in the queue with its credits held. */
  queue: { accepted: ["queued"] },
  /** First step of the workflow. No other transition sets `processing`. */
  claim: { accepted: ["processing"], queued: ["processing"] },
  /** Refuses a run before anything runs. */
  refuse: { accepted: ["refused"] },
  /** The client repeated the request after a temporary refusal. */
  retry: { refused: ["accepted"] },
  /** Possible until the run has decided how it ends. */
  cancel: { processing: ["cancel_requested"] },
  /** Ends a queued run as cancelled, or as failed after waiting too long. */
  leave: { queued: ["cancelled", "failed"] },
  finish: { processing: FINAL_STATUSES, cancel_requested: ["cancelled"] },
  /** The owner erases a final run. */
  erase: { completed: ["erased"], failed: ["erased"], cancelled: ["erased"] },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof TRANSITIONS;

/** Event that announces a cancellation to calls under way. */
export const CANCEL_REQUESTED = "cancel_requested";
/** Event for waiting requests: a run waits for a decision, or a decision was made. */
export const WAITING = "execution.waiting";
export const DECIDED = "node.decided";
/** Events of changes to the row. Requests that wait for a run receive them. */
export const TRANSITION_EVENTS: ReadonlySet<string> = new Set([
  "admitted",
  "queued",
  "started",
  "submitted",
  CANCEL_REQUESTED,
  WAITING,
  "settled",
  "refused",
]);

export const sourcesOf = (name: TransitionName, to: RunStatus): RunStatus[] => {
  const entries = Object.entries(TRANSITIONS[name]) as [RunStatus, readonly RunStatus[]][];
  return entries.filter(([, targets]) => targets.includes(to)).map(([from]) => from);
};

/** A refused attempt may have credits and a place, or may be about to get them. */
export const refusalOutbox = (attempt: number): OutboxEntry[] => [`void:${attempt}`, `place:${attempt}`];

export const endOutbox = (isSent: boolean, { isItem, isCompared }: { isItem: boolean; isCompared: boolean }): OutboxEntry[] => [
  "usage",
  ...(isSent ? (["webhook"] as const) : []),
  ...(isItem ? (["batch"] as const) : []),
  ...(isCompared ? (["canary"] as const) : []),
];

/** Clients check usage, credits and places directly after the end of a run. */
const isLookedFor = (entry: OutboxEntry): boolean => /^(usage|void|place)\b/.test(entry);

/** True if the end of the run must still be announced. */
export const isUndelivered = (row: { status: RunStatus; outbox: readonly OutboxEntry[] }): boolean =>
  isFinal(row) && row.outbox.some(isLookedFor);

export const REFUSED_MS = RETENTION.refusedRuns.days * 86_400_000;
