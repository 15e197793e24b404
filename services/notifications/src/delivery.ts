/** The stored state of a message to a webhook or an endpoint, and of its attempts. */
import type { BaseTier } from "@nodeloom/kernel";

/** Number of a message's first delivery. Each redelivery has the next number. */
export const FIRST_DELIVERY = 1;

/** `skipped`: the key has no webhook for the message. */
export type DeliveryState = "pending" | "delivered" | "failed" | "disabled" | "skipped";

/** How a delivery ended. `superseded`: a later delivery replaced it. */
export type DeliveryEnd = "delivered" | "given up" | "disabled" | "nothing to send" | "superseded";

export const END_OF: Readonly<Record<Exclude<DeliveryState, "pending">, DeliveryEnd>> = {
  delivered: "delivered",
  failed: "given up",
  disabled: "disabled",
  skipped: "nothing to send",
};

/** Subject of a message. The body about a run, a batch or a row of the audit log is built at each attempt. */
export type About =
  | { kind: "run"; executionId: string; nodeId?: string }
  | { kind: "batch"; batchId: string }
  | { kind: "auditRow"; rowId: string }
  | { kind: "body"; messageId: string; at: Date; dataJson: string };

/** Identifies one attempt. An attempt is recorded once. */
export interface AttemptId {
  id: string;
  delivery: number;
  /** Number of the attempt within the delivery, starting at 1. */
  attempt: number;
}

/** Result of an attempt. Dates are epoch milliseconds, because Temporal stores the result. */
export interface SentAttempt {
  url: string;
  revision: string;
  at: number;
  /** Null without a response. */
  status: number | null;
  /** Null if the message was delivered. */
  error: string | null;
  durationMs: number;
  retryAfterMs: number | null;
}

export type AttemptResult = SentAttempt | { nothing: "disabled" | "skipped" | "superseded" };

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
  /** Number of the latest delivery. Only the latest delivery continues. */
  delivery: number;
  /** Number of attempts in all deliveries. */
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
  /** Address of the run's own webhook, signed with the owner's secret for runs; absent for the key's webhook. */
  url?: string;
  /** Events of the run's own webhook; absent or empty for the default events, which report that a run has ended. */
  events?: string[];
  /** Id of the owner's endpoint that gets the message; absent for a webhook. */
  endpointId?: string;
  createdAt: Date;
  /** When a delivery workflow was last started; null before the first start. */
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

/** Returns the number of the next attempt within the latest delivery, starting at 1. */
export const nextAttempt = ({ delivery, history }: Pick<Standing, "delivery" | "history">): number =>
  1 + Math.max(0, ...history.filter((entry) => entry.delivery === delivery).map(({ attempt }) => attempt));
