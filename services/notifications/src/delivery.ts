/** The stored state of a message to a webhook or an endpoint, and of its attempts. */
import type { BaseTier } from "@nodeloom/kernel";

/** The first delivery of a message; each redelivery takes the next number. */
export const FIRST_DELIVERY = 1;

/** `skipped`: the key has no webhook for it. */
export type DeliveryState = "pending" | "delivered" | "failed" | "disabled" | "skipped";

/** How a delivery ended. `superseded`: a later one replaced it. */
export type DeliveryEnd = "delivered" | "given up" | "disabled" | "nothing to send" | "superseded";

export const END_OF: Readonly<Record<Exclude<DeliveryState, "pending">, DeliveryEnd>> = {
  delivered: "delivered",
  failed: "given up",
  disabled: "disabled",
  skipped: "nothing to send",
};

/** The subject of a message. For runs and batches, executions builds the body at each attempt. */
export type About =
  | { kind: "run"; executionId: string; nodeId?: string }
  | { kind: "batch"; batchId: string }
  | { kind: "body"; messageId: string; at: Date; dataJson: string };

/** Identifies one attempt, which is recorded once. */
export interface AttemptId {
  /** Message ID. */
  id: string;
  delivery: number;
  /** Counted within the delivery, from 1. */
  attempt: number;
}

/** Result of an attempt. Dates are epoch milliseconds, because Temporal stores it. */
export interface SentAttempt {
  url: string;
  revision: string;
  at: number;
  /** Null without a response. */
  status: number | null;
  /** Null if delivered. */
  error: string | null;
  durationMs: number;
  retryAfterMs: number | null;
}

export type Sent = SentAttempt | { nothing: "disabled" | "skipped" | "superseded" };

/** How a delivery ended, or the pause before its next attempt. */
export type DeliveryStep = { end: DeliveryEnd } | { pauseMs: number };

export interface WebhookAttempt
  extends Pick<AttemptId, "delivery" | "attempt">, Pick<SentAttempt, "url" | "status" | "error" | "durationMs"> {
  key: string;
  at: Date;
}

/** Progress of a message. */
export interface Standing {
  state: DeliveryState;
  /** Number of the latest delivery. Only that one continues. */
  delivery: number;
  /** Total over all deliveries. */
  attempts: number;
  deliveredAt: Date | null;
  lastError: string | null;
  nextAttemptAt: Date | null;
  history: WebhookAttempt[];
}

export interface DeliveryRecord extends Standing {
  _id: string;
  /** Owner of the key. */
  ownerId: string;
  keyId: string;
  baseTier?: BaseTier;
  event: string;
  about: About;
  /** The run's own webhook, signed with the owner's secret for runs; absent for the key's webhook. */
  url?: string;
  /** Events of the run's own webhook; absent or empty for ends of runs. */
  events?: string[];
  /** The endpoint of the owner that gets it; absent for a webhook. */
  endpointId?: string;
  createdAt: Date;
  /** Last start of a workflow for it; null before the first. */
  startedAt: Date | null;
}

/** A message to accept. */
export type NewDelivery = Pick<
  DeliveryRecord,
  "_id" | "ownerId" | "keyId" | "baseTier" | "event" | "about" | "url" | "events" | "endpointId"
> & {
  earlier?: Standing;
};

export const NEW_STANDING: Standing = {
  state: "pending",
  delivery: FIRST_DELIVERY,
  attempts: 0,
  deliveredAt: null,
  lastError: null,
  nextAttemptAt: null,
  history: [],
};

/** Number of the next attempt within the latest delivery, from 1. */
export const nextAttempt = ({ delivery, history }: Pick<Standing, "delivery" | "history">): number =>
  1 + Math.max(0, ...history.filter((entry) => entry.delivery === delivery).map(({ attempt }) => attempt));
