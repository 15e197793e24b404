import { LIMITS } from "@nodeloom/kernel";
import { fromCursor, pageOf } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import type { ModerationRecord, ModerationStore } from "../record/moderation";

const rowMessage = ({ _id, ...record }: ModerationRecord): executions.ModerationRow =>
  executions.ModerationRow.fromPartial({
    id: _id,
    ...Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null)),
  });

export type Refusals = ReturnType<typeof createRefusals>;

/** Lists contents that were refused or passed unchecked, newest first. @throws INVALID_REQUEST for an invalid cursor */
export const createRefusals =
  (store: Pick<ModerationStore, "list">, configured: boolean) =>
  async ({ userId, limit, cursor }: executions.ListModerationRequest): Promise<executions.ListModerationResponse> => {
    const size = Math.min(limit || LIMITS.pageDefault, LIMITS.pageRows);
    const records = await store.list(userId || null, size + 1, fromCursor(cursor));
    const { rows, nextCursor } = pageOf(records, size, ({ at }) => at);
    return { configured, rows: rows.map(rowMessage), nextCursor };
  };
