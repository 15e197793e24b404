import { createHash, randomUUID } from "node:crypto";
import { DomainError, type ErrorKind } from "@nodeloom/kernel";
import { identity } from "@nodeloom/proto";
import type { Caller, CallerKey } from "../auth/caller";
import type { CallContext } from "./route";

export interface AdminAction {
  /** For example `user.update`. */
  action: string;
  /** Id of the changed resource. */
  target: string;
  change?: unknown;
  /** State before the request. */
  before?: unknown;
  /** Person or organization whose owners can also read the row. */
  ownerId?: string;
  /** Identifies a write that happens once: all attempts share one row. */
  reference?: string | undefined;
}

/** Result of a write; `before` replaces the state that was read earlier. */
export interface WriteResult<T> {
  value: T;
  before?: unknown;
  after?: unknown;
}

type Context = Pick<CallContext, "gateway" | "response" | "logger"> & {
  caller: { person: Pick<Caller["person"], "id">; key: Pick<CallerKey, "id"> | null };
};
type AccountContext = Context & { caller: Pick<Caller, "user"> };

const END_DEADLINE_MS = 3_000;

/** Errors after which the change may or may not have happened. */
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
    ip: response.req.ip ?? "",
  });

/**
 * A new id per request; request ids can be repeated by clients. Attempts of one referenced write share an id, so that the retry after a
 * crash completes the pending row.
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
  // The earlier attempt failed. This one can succeed, so it gets its own row.
  if (stored?.outcome === identity.AuditOutcome.AUDIT_OUTCOME_FAILED) {
    const another = { ...row, id: randomUUID() };
    await service.recordAudit({ row: another });
    return another;
  }
  return { ...row, id };
};

/** Completes the row of a change that was made. If that fails, the row stays pending and the outcome is logged. */
const end = async ({ gateway, logger }: Context, row: identity.AuditRow): Promise<void> => {
  try {
    await gateway.services.identity.recordAudit({ row }, { waitForReady: true, deadlineMs: END_DEADLINE_MS });
  } catch (error) {
    logger.error({ err: error, audit: row }, "an audit row stays pending");
  }
};

/**
 * Makes an administrator's change. The audit row is stored before the change and completed after it. If the row can't be stored, the change
 * isn't made. After a crash the row stays pending.
 */
export const audited = async <T>(context: Context, action: AdminAction, write: () => Promise<WriteResult<T>>): Promise<T> => {
  const row = await begin(context, action);
  let writeResult: WriteResult<T>;
  try {
    writeResult = await write();
  } catch (error) {
    if (error instanceof DomainError && !AMBIGUOUS.has(error.kind)) {
      await end(context, { ...row, outcome: identity.AuditOutcome.AUDIT_OUTCOME_FAILED, beforeJson: "", errorCode: error.reason });
    }
    throw error;
  }
  const { value, before, after } = writeResult;
  await end(context, {
    ...row,
    outcome: identity.AuditOutcome.AUDIT_OUTCOME_DONE,
    beforeJson: text(before),
    afterJson: text(after),
  });
  return value;
};

/** Makes a change to the caller's account; its owners can read the row. */
export const auditedForOwner = <T>(
  context: AccountContext,
  action: Omit<AdminAction, "ownerId">,
  write: () => Promise<WriteResult<T>>,
): Promise<T> => audited(context, { ...action, ownerId: context.caller.user.id }, write);

type EventContext = Pick<CallContext, "gateway" | "response">;

export interface AccountEvent {
  actorId: string;
  /** Account whose owners can read the row. */
  ownerId: string;
  keyId?: string;
  action: string;
  target: string;
  /** Reason for the rejection; absent if the action succeeded. */
  errorCode?: string;
  /** Events with equal members share one row. */
  attempt?: readonly string[];
}

/** Records an event that isn't a change of a resource, such as a sign-in. If the row can't be stored, it is logged. */
export const recordEvent = async (
  { gateway, response }: EventContext,
  { errorCode = "", attempt, ...event }: AccountEvent,
): Promise<void> => {
  const id = attempt ? createHash("sha256").update(JSON.stringify(attempt)).digest("base64url") : randomUUID();
  const requestId = String(response.getHeader("X-Request-Id") ?? "");
  const { AUDIT_OUTCOME_DONE: doneOutcome, AUDIT_OUTCOME_FAILED: failed } = identity.AuditOutcome;
  const outcome = errorCode === "" ? doneOutcome : failed;
  const row = identity.AuditRow.fromPartial({ ...event, id, requestId, ip: response.req.ip ?? "", outcome, errorCode });
  try {
    await gateway.services.identity.recordAudit({ row }, { deadlineMs: END_DEADLINE_MS });
  } catch (error) {
    gateway.logger.error({ err: error, audit: row }, "an event isn't in the audit log");
  }
};
