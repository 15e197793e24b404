/** What is kept of a message to the webhook of a key, and of the attempts at it. */
import type { BaseTier } from "@nodeloom/kernel";

/** The first delivery of a message; each redelivery takes the next number. */
export const FIRST_DELIVERY = 1;

/** `skipped`: the key has no webhook for it. */
export type DeliveryState = "pending" | "delivered" | "failed" | "disabled" | "skipped";

/** How a delivery ended. `superseded`: a later one has taken over. */
export type DeliveryEnd = "delivered" | "given up" | "disabled" | "nothing to send" | "superseded";

export const END_OF: Readonly<Record<Exclude<DeliveryState, "pending">, DeliveryEnd>> = {
  delivered: "delivered",
  failed: "given up",
  disabled: "disabled",
  skipped: "nothing to send",
};

/** What a message is made of. Executions makes those of runs and batches at each attempt. */
export type About =
  | { kind: "run"; executionId: string; nodeId?: string }
  | { kind: "batch"; batchId: string }
  | { kind: "body"; messageId: string; at: Date; dataJson: string };

/** Names one attempt, which is recorded once. */
export interface AttemptId {
  /** The message's. */
  id: string;
  delivery: number;
  /** Within the delivery, from 1. */
  attempt: number;
}

/** What came of sending. Dates are epoch milliseconds: this travels through Temporal. */
export interface SentAttempt {
  url: string;
  revision: string;
  at: number;
  /** Null when there was no answer. */
  status: number | null;
  /** Null when it was delivered. */
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

/** How far a message has come. */
export interface Standing {
  state: DeliveryState;
  /** The latest delivery: it alone goes on. */
  delivery: number;
  /** Of all deliveries together. */
  attempts: number;
  deliveredAt: Date | null;
  lastError: string | null;
  nextAttemptAt: Date | null;
  history: WebhookAttempt[];
}

export interface DeliveryRecord extends Standing {
  _id: string;
  /** Whose key it is. */
  ownerId: string;
  keyId: string;
  baseTier?: BaseTier;
  event: string;
  about: About;
  /** The run's own webhook, which the owner's secret for runs signs; absent for the key's. */
  url?: string;
  /** Of the run's own webhook; absent or empty for the ends of runs. */
  events?: string[];
  createdAt: Date;
  /** When a workflow was last started for it; null until then. */
  startedAt: Date | null;
}

/** A message as it is handed over. */
export type NewDelivery = Pick<DeliveryRecord, "_id" | "ownerId" | "keyId" | "baseTier" | "event" | "about" | "url" | "events"> & {
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

/** Which attempt of its latest delivery is next, from 1. */
export const nextAttempt = ({ delivery, history }: Pick<Standing, "delivery" | "history">): number =>
  1 + Math.max(0, ...history.filter((entry) => entry.delivery === delivery).map(({ attempt }) => attempt));
