/** The webhook of a run. Notifications delivers it; version 1.0.0 delivered it here and kept the state in the row. */
import { TIMING } from "./timing";
import type { RunInput } from "./types";

/** Number of a run's own delivery; each redelivery has the next number. */
export const FIRST_DELIVERY = 1;
export const DELIVERY_ATTEMPTS = TIMING.webhookSchedule.length;

/** State of a run's webhook. `skipped`: the key has no webhook for it. `unknown`: notifications doesn't answer; never stored. */
export type DeliveryState = "pending" | "delivered" | "failed" | "disabled" | "skipped" | "unknown";

/** End of a delivery by version 1.0.0. `superseded`: it moved to notifications or to a later delivery. */
export type DeliveryEnd = "delivered" | "given up" | "disabled" | "nothing to send" | "superseded";

/** One attempt of a workflow of version 1.0.0. */
export interface AttemptId {
  executionId: string;
  keyId: string;
  delivery: number;
  /** Within the delivery, from 1. */
  attempt: number;
  /** For the webhook about a waiting node. */
  nodeId?: string;
}

/** Result of sending. Dates are epoch milliseconds, because this passes through Temporal. */
export interface SentAttempt {
  url: string;
  revision: string;
  at: number;
  status: number | null;
  /** Null if it was delivered. */
  error: string | null;
  durationMs: number;
  retryAfterMs: number | null;
}

export type Sent = SentAttempt | { nothing: "disabled" | "skipped" | "superseded" };

/** Pause before an attempt: from the schedule, or longer if the receiver asked for that. */
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
  /** Sum over all deliveries. */
  attempts: number;
  deliveredAt: Date | null;
  lastError: string | null;
  nextAttemptAt: Date | null;
  history: WebhookAttempt[];
}

/** A state in the row was written by version 1.0.0. */
export interface WebhookState extends Partial<DeliveryStanding> {
  configured: boolean;
  /** Address when the run was submitted. */
  url: string;
  events: string[];
  /** Form of the body of a run's own webhook, if it isn't Nodeloom's. */
  form?: string;
  /** The run named it; it replaces the key's. */
  isOwn?: true;
  /** Set by the update that moves a delivery of version 1.0.0 to notifications. */
  isMoved?: true;
}

export const newWebhookState = (webhook: Pick<WebhookState, "url" | "events" | "form" | "isOwn">): WebhookState => ({
  configured: true,
  ...webhook,
});

/** True if notifications has the delivery state: always, except for deliveries that version 1.0.0 started. */
export const isNotified = ({ state, isMoved }: WebhookState): boolean => state === undefined || isMoved === true;

interface Answered {
  mode: RunInput["mode"];
  answered?: "accepted" | "failure" | undefined;
}

/** True unless the client's request was answered with the end of its run. */
const isAccepted = ({ mode, answered }: Answered): boolean => mode === "async" || answered === "accepted";

/** True if the run has a webhook and its client wasn't answered with the end: a run that was answered 200 announces nothing. */
export const isAnnounced = ({ webhook, ...row }: Answered & { webhook: WebhookState | null }): boolean =>
  webhook !== null && isAccepted(row);

/** The end of a run whose client was answered with it. Only endpoints that name the event get it. */
const SYNC_COMPLETED = "execution.sync.completed";

/** Event by which endpoints of the account get the end of a run. */
export const endEventOf = ({ status, ...row }: Answered & { status: string }): string =>
  isAccepted(row) ? `execution.${status}` : SYNC_COMPLETED;

interface Receivers {
  webhook: object | null;
  endpointEvents?: readonly string[] | undefined;
}

/** True if a webhook or an endpoint of the account gets messages about the run. */
export const hasReceivers = ({ webhook, endpointEvents = [] }: Receivers): boolean => webhook !== null || endpointEvents.length > 0;

/** True if endpoints of the account wanted the event when the run was accepted. */
export const isForEndpoints = ({ endpointEvents = [] }: Pick<Receivers, "endpointEvents">, event: string): boolean =>
  endpointEvents.includes(event);
