/** The webhook of a run. Notifications delivers it; 1.0.0 delivered it here, and kept on the row how far it had come. */
import { TIMING } from "./timing";

/** A run's own delivery; each redelivery takes the next number. */
export const FIRST_DELIVERY = 1;
export const DELIVERY_ATTEMPTS = TIMING.webhookSchedule.length;

/** How a run's webhook stands. `skipped`: the key has no webhook for it. */
export type DeliveryState = "pending" | "delivered" | "failed" | "disabled" | "skipped";

/** How a delivery of 1.0.0 ended. `superseded`: it went to notifications, or to a later delivery. */
export type DeliveryEnd = "delivered" | "given up" | "disabled" | "nothing to send" | "superseded";

/** Names one attempt of a workflow of 1.0.0. */
export interface AttemptId {
  executionId: string;
  keyId: string;
  delivery: number;
  /** Within the delivery, from 1. */
  attempt: number;
  /** Of the webhook that says that a node waits for a decision. */
  nodeId?: string;
}

/** What came of sending. Dates are epoch milliseconds: this travels through Temporal. */
export interface SentAttempt {
  url: string;
  revision: string;
  at: number;
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

/** How far a webhook has come. */
export interface DeliveryStanding {
  state: DeliveryState;
  delivery: number;
  /** Of all deliveries together. */
  attempts: number;
  deliveredAt: Date | null;
  lastError: string | null;
  nextAttemptAt: Date | null;
  history: WebhookAttempt[];
}

/** A standing in the row is that of 1.0.0. */
export interface WebhookState extends Partial<DeliveryStanding> {
  configured: boolean;
  /** As it was when the run was submitted. */
  url: string;
  events: string[];
  /** Set by the update that gives the delivery of 1.0.0 to notifications. */
  isMoved?: true;
}

export const newWebhookState = ({ url, events }: { url: string; events: string[] }): WebhookState => ({ configured: true, url, events });

/** True if notifications tells how far a webhook has come: it does unless executions of 1.0.0 had begun. */
export const isNotified = ({ state, isMoved }: WebhookState): boolean => state === undefined || isMoved === true;
