import { createHash, randomUUID } from "node:crypto";
import { DomainError, type ErrorKind } from "@nodeloom/kernel";
import { identity } from "@nodeloom/proto";
import type { CallContext } from "./route";

export interface AdminAction {
  /** For example `user.update`. */
  action: string;
  /** Id of what is changed. */
  target: string;
  /** What was asked for. */
  change?: unknown;
  /** What was there when the request came. */
  before?: unknown;
  /** Whose owners may read the row, where it is not administrators' alone: a person's or an organization's id. */
  ownerId?: string;
  /** Names a write that happens once however often it is sent: the row is the same for every attempt. */
  reference?: string | undefined;
}

/** What a write did; `before`, where given, replaces the state that was read before it. */
export interface Written<T> {
  value: T;
  before?: unknown;
  after?: unknown;
}

type Context = Pick<CallContext<"admin">, "gateway" | "caller" | "response" | "logger">;

const END_DEADLINE_MS = 3_000;

/** Errors after which nobody knows whether the change was made. */
const AMBIGUOUS: ReadonlySet<ErrorKind> = new Set<ErrorKind>(["unavailable", "internal", "failed"]);

const text = (value: unknown): string => (value === undefined || value === null ? "" : JSON.stringify(value));

const rowOf = ({ caller, response }: Context, { action, target, change, before, ownerId = "" }: AdminAction): identity.AuditRow =>
  identity.AuditRow.fromPartial({
    actorId: caller.person.id,
    keyId: caller.key?.id ?? "",
    action,
    target,
    changeJson: text(change),
    beforeJson: text(before),
    ownerId,
    requestId: String(response.getHeader("X-Request-Id") ?? ""),
  });

/**
 * A new id for each request; request ids will not do, because clients may choose and repeat them. The attempts of one
 * referenced write share an id, so that the retry after a crash ends the row that the crash left pending.
 */
const idOf = (row: identity.AuditRow, reference: string | undefined): string => {
  if (reference === undefined) return randomUUID();
  const parts = [row.actorId, row.action, row.target, row.changeJson, reference];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
};

const begin = async (context: Context, action: AdminAction): Promise<identity.AuditRow> => {
  const { identity: service } = context.gateway.services;
  const row = { ...rowOf(context, action), outcome: identity.AuditOutcome.AUDIT_OUTCOME_PENDING };
  const id = idOf(row, action.reference);
  const { row: stored } = await service.recordAudit({ row: { ...row, id } });
  // An earlier attempt was refused: this one may succeed, and is told apart.
  if (stored?.outcome === identity.AuditOutcome.AUDIT_OUTCOME_FAILED) {
    const another = { ...row, id: randomUUID() };
    await service.recordAudit({ row: another });
    return another;
  }
  return { ...row, id };
};

/** The change is made; a row that can't be ended stays pending, and the outcome is logged. */
const end = async ({ gateway, logger }: Context, row: identity.AuditRow): Promise<void> => {
  try {
    await gateway.services.identity.recordAudit({ row }, { waitForReady: true, deadlineMs: END_DEADLINE_MS });
  } catch (error) {
    logger.error({ err: error, audit: row }, "an audit row stays pending");
  }
};

/**
 * Makes a change as an administrator. Its audit row is stored before it (no row, no change) and ended after it; a crash
 * in between leaves the row pending.
 */
export const audited = async <T>(context: Context, action: AdminAction, write: () => Promise<Written<T>>): Promise<T> => {
  const row = await begin(context, action);
  let written: Written<T>;
  try {
    written = await write();
  } catch (error) {
    if (error instanceof DomainError && !AMBIGUOUS.has(error.kind)) {
      await end(context, { ...row, outcome: identity.AuditOutcome.AUDIT_OUTCOME_FAILED, beforeJson: "", errorCode: error.reason });
    }
    throw error;
  }
  const { value, before, after } = written;
  await end(context, {
    ...row,
    outcome: identity.AuditOutcome.AUDIT_OUTCOME_DONE,
    beforeJson: text(before),
    afterJson: text(after),
  });
  return value;
};

/** Makes a change to what the caller's account has: its owners can read of it. */
export const auditedForOwner = <T>(context: Context, action: Omit<AdminAction, "ownerId">, write: () => Promise<Written<T>>): Promise<T> =>
  audited(context, { ...action, ownerId: context.caller.user.id }, write);
