import type { FinalStatus } from "../contract/run-types";

/**
 * The life of a run, which is its row. Every change of `status` is one of these transitions: one conditional update, which
 * also writes what it still owes.
 *
 *   accepted ─┬─► queued ─┬─► processing ─► cancel_requested
 *     ▲  │    └───────────┘       └──────────────┴─► completed | failed | cancelled
 *     │  └──► refused ───► accepted again, as the next attempt
 */

/** `accepted` and `refused` are never shown; `queued` is shown as `processing`. */
export type RunStatus = "accepted" | "queued" | "processing" | "cancel_requested" | FinalStatus | "refused";

/**
 * What a row still owes after a transition. It is done at once and struck out; the sweeper does the rest.
 * `start`: it is undecided whether the run begins. `void:<attempt>`: the hold of an attempt must be given up. `usage`: its usage row.
 * `place`: its place in line. `webhook`: the delivery of its webhook. `cancel`: its workflow must hear that it is being cancelled.
 */
export type Debt = "start" | `void:${number}` | "usage" | "place" | "webhook" | "cancel";

export interface Transition {
  from: readonly RunStatus[];
  to: readonly RunStatus[];
}

export const FINAL_STATUSES: readonly FinalStatus[] = ["completed", "failed", "cancelled"];
/** A workflow carries the run. */
export const RUNNING: readonly RunStatus[] = ["processing", "cancel_requested"];
/** What nobody is told of. */
export const HIDDEN: readonly RunStatus[] = ["accepted", "refused"];

const FINAL: ReadonlySet<string> = new Set(FINAL_STATUSES);
export const isFinal = ({ status }: { status: RunStatus }): boolean => FINAL.has(status);
export const isHidden = ({ status }: { status: RunStatus }): boolean => HIDDEN.includes(status);

export const TRANSITIONS = {
  /** No place is free: the run waits in line, with its credits held. */
  queue: { from: ["accepted"], to: ["queued"] },
  /** The workflow's first step. Nothing else sets `processing`. */
  claim: { from: ["accepted", "queued"], to: ["processing"] },
  /** Nothing runs, and nothing will. */
  refuse: { from: ["accepted"], to: ["refused"] },
  /** The same request was sent again after a refusal that may pass. */
  retry: { from: ["refused"], to: ["accepted"] },
  cancel: { from: ["processing"], to: ["cancel_requested"] },
  /** Ends what waits in line: cancelled, or failed when it waited too long. */
  leave: { from: ["queued"], to: ["cancelled", "failed"] },
  finish: { from: ["processing", "cancel_requested"], to: FINAL_STATUSES },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof TRANSITIONS;

/** What billing knows an attempt at a run by: what one attempt released is never spent by the next. */
export const holdIdOf = (executionId: string, attempt: number): string => `${executionId}.${attempt}`;

/** Two days: as long as a refusal is kept. */
export const REFUSED_MS = 2 * 86_400_000;
