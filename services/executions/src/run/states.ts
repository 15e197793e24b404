import { RETENTION } from "@nodeloom/kernel";
import type { FinalStatus } from "./types";

/**
 * The life of a run, which is its row. Every change of `status` is one of these transitions: one conditional update, which
 * also writes what it leaves to be done: the row's outbox.
 *
 *   accepted ─┬─► queued ─┬─► processing ─► cancel_requested
 *     ▲  │    └───────────┘       └──────────────┴─► completed | failed | cancelled
 *     │  └──► refused ───► accepted again, as the next attempt
 */

/** `accepted` and `refused` are never shown; `queued` is shown as `processing`. */
export type RunStatus = "accepted" | "queued" | "processing" | "cancel_requested" | FinalStatus | "refused";

/**
 * What a transition leaves to be done. It is delivered at once and cleared; the relay delivers the rest.
 * `void:<attempt>`: the hold of an attempt must be given up. `place:<attempt>`: its place in the queue. `usage`: its usage row.
 * `webhook`: the delivery of its webhook. `batch`: its batch must count its end. `cancel`: its workflow must hear that it is being cancelled.
 * `waiting:<node>`: the webhook that says it waits for a decision. `decided:<node>`: its workflow must hear of that decision.
 */
export type OutboxEntry =
  `void:${number}` | `place:${number}` | "usage" | "webhook" | "batch" | "cancel" | `waiting:${string}` | `decided:${string}`;

export type Transition = Partial<Record<RunStatus, readonly RunStatus[]>>;

export const FINAL_STATUSES: readonly FinalStatus[] = ["completed", "failed", "cancelled"];
/** A workflow carries the run. */
export const RUNNING: readonly RunStatus[] = ["processing", "cancel_requested"];
/** It is open whether and when the run begins: the relay looks at it. */
export const UNDECIDED: readonly RunStatus[] = ["accepted", "queued"];
/** Neither listed nor found by clients. */
export const HIDDEN: readonly RunStatus[] = ["accepted", "refused"];

const FINAL: ReadonlySet<string> = new Set(FINAL_STATUSES);
export const isFinal = ({ status }: { status: RunStatus }): boolean => FINAL.has(status);

/** Nothing of this attempt runs, or will. */
export const isOver = (row: { status: RunStatus }): boolean => isFinal(row) || row.status === "refused";

export const TRANSITIONS = {
  /** No place is free: the run waits in the queue, with its credits held. */
  queue: { accepted: ["queued"] },
  /** The workflow's first step. Nothing else sets `processing`. */
  claim: { accepted: ["processing"], queued: ["processing"] },
  /** Nothing runs, and nothing will. */
  refuse: { accepted: ["refused"] },
  /** The same request was sent again after a refusal that may pass. */
  retry: { refused: ["accepted"] },
  /** Possible until the run has decided how it ends. */
  cancel: { processing: ["cancel_requested"] },
  /** Ends what waits in the queue: cancelled, or failed when it waited too long. */
  leave: { queued: ["cancelled", "failed"] },
  finish: { processing: FINAL_STATUSES, cancel_requested: ["cancelled"] },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof TRANSITIONS;

/** The event by which calls under way hear of a cancellation at once. */
export const CANCEL_REQUESTED = "cancel_requested";
/** The event by which requests that wait for a run hear that it waits for a decision; and the one of that decision. */
export const WAITING = "execution.waiting";
export const DECIDED = "node.decided";
/** Events of a row's own changes; what waits for a run hears of them. */
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

/** A refused attempt may hold credits and a place, or be about to. */
export const refusalOutbox = (attempt: number): OutboxEntry[] => [`void:${attempt}`, `place:${attempt}`];

export const endOutbox = (hasWebhook: boolean, isItem: boolean): OutboxEntry[] => [
  "usage",
  ...(hasWebhook ? (["webhook"] as const) : []),
  ...(isItem ? (["batch"] as const) : []),
];

/** What a client looks for after the end of a run: its usage row, and whether its credits and its place are free. */
const isLookedFor = (entry: OutboxEntry): boolean => /^(usage|void|place)\b/.test(entry);

/** True if a row that says how its run ended has yet to say so elsewhere. */
export const isUndelivered = (row: { status: RunStatus; outbox: readonly OutboxEntry[] }): boolean =>
  isFinal(row) && row.outbox.some(isLookedFor);

export const REFUSED_MS = RETENTION.refusedRuns.days * 86_400_000;
