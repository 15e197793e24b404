/** The delivery of a run's webhook: its states, attempts and pauses. */
import { TIMING } from "./timing";

/** Which delivery is the run's own; each redelivery takes the next number. */
export const FIRST_DELIVERY = 1;
export const DELIVERY_ATTEMPTS = TIMING.webhookSchedule.length;

/** How a run's webhook stands. `skipped`: the key has no webhook for it. */
export type DeliveryState = "pending" | "delivered" | "failed" | "disabled" | "skipped";

/** How a delivery ended. `superseded`: a later one has taken over. */
export type DeliveryEnd = "delivered" | "given up" | "disabled" | "nothing to send" | "superseded";

export const END_OF: Readonly<Record<Exclude<DeliveryState, "pending">, DeliveryEnd>> = {
  delivered: "delivered",
  failed: "given up",
  disabled: "disabled",
  skipped: "nothing to send",
};

/** Names one attempt, which is recorded once. */
export interface AttemptId {
  executionId: string;
  keyId: string;
  delivery: number;
  /** Within the delivery, from 1. */
  attempt: number;
  /** Of the webhook that says that a node waits for a decision: the node. Nothing of it is kept on the execution. */
  nodeId?: string;
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

/** The pause before an attempt: the schedule's, or longer if the receiver asked for that. */
export const pauseBefore = (attempt: number, retryAfterMs: number | null): number =>
  Math.max(TIMING.webhookSchedule[attempt - 1] ?? 0, retryAfterMs ?? 0);

export interface WebhookAttempt
  extends Pick<AttemptId, "delivery" | "attempt">, Pick<SentAttempt, "url" | "status" | "error" | "durationMs"> {
  key: string;
  at: Date;
}

export interface WebhookState {
  configured: boolean;
  /** As it was when the run was submitted. */
  url: string;
  events: string[];
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

export const newWebhookState = ({ url, events }: { url: string; events: string[] }): WebhookState => ({
  configured: true,
  url,
  events,
  state: "pending",
  delivery: FIRST_DELIVERY,
  attempts: 0,
  deliveredAt: null,
  lastError: null,
  nextAttemptAt: null,
  history: [],
});
