/**
 * State of a run's webhook. Notifications delivers it. Version 1.0.0 delivered webhooks in this service and stored their state in the row.
 */
import { TIMING } from "./timing";
import type { RunInput } from "./types";

/** Number of a run's own delivery; each redelivery has the next number. */
export const FIRST_DELIVERY = 1;
export const DELIVERY_ATTEMPTS = TIMING.webhookSchedule.length;

/**
 * State of a run's webhook. `skipped`: the key has no webhook for the run. `unknown`: notifications doesn't respond; this state is never
 * stored.
 */
export type DeliveryState = "pending" | "delivered" | "failed" | "disabled" | "skipped" | "unknown";

/** How a delivery by version 1.0.0 ended. `superseded`: it moved to notifications or to a later delivery. */
export type DeliveryEnd = "delivered" | "given up" | "disabled" | "nothing to send" | "superseded";

/** Id of an attempt by a workflow of version 1.0.0. */
export interface AttemptId {
  executionId: string;
  keyId: string;
  delivery: number;
  /** Number of the attempt within the delivery, starting at 1. */
  attempt: number;
  /** Set for the webhook about a waiting node. */
  nodeId?: string;
}

/** Result of sending. Dates are epoch milliseconds, because Temporal serializes the result. */
export interface SentAttempt {
  url: string;
  revision: string;
  at: number;
  status: number | null;
  /** Null if the attempt was delivered. */
  error: string | null;
  durationMs: number;
  retryAfterMs: number | null;
}

export type AttemptResult = SentAttempt | { nothing: "disabled" | "skipped" | "superseded" };

/** Returns the pause before an attempt: the scheduled pause, or a longer one if the receiver asked for it. */
export const pauseBefore = (attempt: number, retryAfterMs: number | null): number =>
  Math.max(TIMING.webhookSchedule[attempt - 1] ?? 0, retryAfterMs ?? 0);

export interface WebhookAttempt
  extends Pick<AttemptId, "delivery" | "attempt">, Pick<SentAttempt, "url" | "status" | "error" | "durationMs"> {
  key: string;
  at: Date;
}

export interface DeliveryStanding {
  state: DeliveryState;
  delivery: number;
  /** Number of attempts in all deliveries. */
  attempts: number;
  deliveredAt: Date | null;
  lastError: string | null;
  nextAttemptAt: Date | null;
  history: WebhookAttempt[];
}

/** Webhook state in the row. Version 1.0.0 wrote the delivery state; current versions don't. */
export interface WebhookState extends Partial<DeliveryStanding> {
  configured: boolean;
  /** Address of the webhook when the run was submitted. */
  url: string;
  events: string[];
  /** Body format of a run's own webhook, if it isn't Nodeloom's. */
  form?: string;
  /** Set if the webhook comes from the run request. It replaces the key's webhook. */
  isOwn?: true;
  /** Set by the update that moves a delivery of version 1.0.0 to notifications. */
  isMoved?: true;
}

export const newWebhookState = (webhook: Pick<WebhookState, "url" | "events" | "form" | "isOwn">): WebhookState => ({
  configured: true,
  ...webhook,
});

/** True if notifications has the delivery state. False only for deliveries that version 1.0.0 started and that haven't moved. */
export const isNotified = ({ state, isMoved }: WebhookState): boolean => state === undefined || isMoved === true;

interface AnswerState {
  mode: RunInput["mode"];
  answered?: "accepted" | "failure" | undefined;
}

/** True unless the response to the client already contained the result of the run. */
const isAccepted = ({ mode, answered }: AnswerState): boolean => mode === "async" || answered === "accepted";

/**
 * True if the run has a webhook and the response to its client didn't contain the result. A run whose client got a 200 response sends no
 * webhook.
 */
export const isAnnounced = ({ webhook, ...row }: AnswerState & { webhook: WebhookState | null }): boolean =>
  webhook !== null && isAccepted(row);

/** Event for the end of a run whose result was in the response to the client. Only endpoints that are subscribed to this event get it. */
const SYNC_COMPLETED = "execution.sync.completed";

/** Returns the event that tells the account's endpoints that a run has ended. */
export const endEventOf = ({ status, ...row }: AnswerState & { status: string }): string =>
  isAccepted(row) ? `execution.${status}` : SYNC_COMPLETED;

interface Receivers {
  webhook: object | null;
  endpointEvents?: readonly string[] | undefined;
}

/** True if the run's webhook or an endpoint of the account gets messages about the run. */
export const hasReceivers = ({ webhook, endpointEvents = [] }: Receivers): boolean => webhook !== null || endpointEvents.length > 0;

/** True if endpoints of the account were subscribed to the event when the run was accepted. */
export const isForEndpoints = ({ endpointEvents = [] }: Pick<Receivers, "endpointEvents">, event: string): boolean =>
  endpointEvents.includes(event);
