/** Formats rows of the audit log for API responses and webhooks. */
import type { identity } from "@nodeloom/proto";

// Importing the values would load gRPC in processes that don't need it. The types check these numbers.
const DONE: identity.AuditOutcome.AUDIT_OUTCOME_DONE = 2;
const FAILED: identity.AuditOutcome.AUDIT_OUTCOME_FAILED = 3;
const OUTCOMES: Readonly<Partial<Record<identity.AuditOutcome, string>>> = { [DONE]: "done", [FAILED]: "failed" };

/** `pending` until the change has ended. */
export const auditOutcome = ({ outcome }: Pick<identity.AuditRow, "outcome">): string => OUTCOMES[outcome] ?? "pending";

const parsed = (text: string): unknown => (text === "" ? null : (JSON.parse(text) as unknown));

/** @param json turns a stored JSON text into a value; an empty text means null */
export const auditRowJson = (row: identity.AuditRow, json: (text: string) => unknown = parsed): Record<string, unknown> => ({
  id: row.id,
  actor: row.actorId,
  keyId: row.keyId || null,
  action: row.action,
  target: row.target,
  change: json(row.changeJson),
  before: json(row.beforeJson),
  after: json(row.afterJson),
  outcome: auditOutcome(row),
  errorCode: row.errorCode || null,
  requestId: row.requestId,
  ip: row.ip || null,
  at: row.at?.toISOString() ?? null,
});
