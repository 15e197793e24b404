import type { CallContext } from "./route";

export interface AdminAction {
  action: string;
  /** What was changed. */
  target: string;
  before?: unknown;
  after?: unknown;
}

/** Says in the log who changed what; the request id and the time are added by the logger. */
export const audit = ({ logger, caller }: Pick<CallContext<"admin">, "logger" | "caller">, action: AdminAction): void =>
  logger.info({ audit: { by: caller.user.id, keyId: caller.key?.id ?? null, ...action } }, "admin action");
