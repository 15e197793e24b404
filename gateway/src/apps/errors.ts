import { APP_METADATA, DomainError, type Reason } from "@nodeloom/kernel";

/** Error members shown to visitors. Others concern the owner's graph, keys and credits. */
const SHOWN: Partial<Record<Reason, readonly string[]>> = {
  INVALID_REQUEST: ["issues"],
  INVALID_INPUTS: ["issues"],
  EXECUTION_CANCELLED: ["executionId"],
  EXECUTION_FAILED: ["executionId"],
  OUTGOING_LIMIT_EXCEEDED: ["executionId"],
  PROVIDER_SUBMIT_FAILED: ["executionId"],
  PROVIDER_RESPONSE_INCOMPLETE: ["executionId"],
  INSUFFICIENT_CREDITS: ["executionId"],
  IDEMPOTENCY_IN_PROGRESS: ["retryAfter"],
  CONCURRENCY_LIMIT_EXCEEDED: ["retryAfter"],
  RATE_LIMIT_EXCEEDED: ["tier", "limit", "retryAfter"],
  SERVICE_UNAVAILABLE: ["retryAfter", "executionId", "outcome"],
};

/** Replaces messages that reveal more than their code. */
const MESSAGES: Partial<Record<Reason, string>> = {
  INSUFFICIENT_CREDITS: "the app's owner doesn't have enough credits",
  BUDGET_EXCEEDED: "a budget of the app's owner is used up",
  MODEL_TIER_REQUIRED: "the app's workflow can't run now",
  WORKFLOW_INVALID: "the app's workflow can't run now",
  SERVICE_UNAVAILABLE: "the app can't run now: send the same request again",
};

const OWN_BUDGET = `metadata.${APP_METADATA.app}`;

/** Removes the parts of an error that visitors must not see. The app's own budget isn't secret. */
export const asVisitorsSee = (error: unknown): unknown => {
  if (!(error instanceof DomainError)) return error;
  const { kind, metadata } = error;
  if (error.reason === "BUDGET_EXCEEDED" && metadata.scope === OWN_BUDGET) return error;
  const reason = error.reason === "grant_exhausted" ? "INSUFFICIENT_CREDITS" : error.reason;
  const shownMetadata = Object.entries(metadata).filter(([name]) => SHOWN[reason]?.includes(name));
  return new DomainError(kind, reason, MESSAGES[reason] ?? error.message, Object.fromEntries(shownMetadata));
};
