/** Events that webhooks of keys and webhook endpoints of accounts can name, in the order in which they are stored and shown. */

/** Default events of a webhook. */
export const END_EVENTS = ["execution.completed", "execution.failed", "execution.cancelled"] as const;
export const WEBHOOK_EVENTS = [...END_EVENTS, "execution.waiting", "batch.completed", "budget.alert", "model.retiring"] as const;

/** The end of a run whose request was answered with it. */
export const SYNC_END_EVENT = "execution.sync.completed";
/** A new row of the account's audit log. Only owners subscribe endpoints to it. */
export const AUDIT_EVENT = "audit.row";
/** A canary of an alias was promoted or rolled back. */
export const CANARY_EVENT = "canary.ended";
export const ENDPOINT_EVENTS = [...WEBHOOK_EVENTS, SYNC_END_EVENT, CANARY_EVENT, AUDIT_EVENT] as const;
