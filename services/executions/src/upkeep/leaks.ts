import { executionOf, isRepairKey, itemKey } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { billing as billingProto } from "@nodeloom/proto";
import type { NodeState } from "../run/types";
import type { Billing } from "../clients";
import { TIMING } from "../run/timing";
import type { ExecutionView } from "../run/record";
import type { Stores } from "../record/stores";
import type { RunStarter } from "../workflow/client";
import { LOOK_PAGE, lookThrough, type PassReport } from "../record/look";
import { isFinal, isOver } from "../run/states";

export interface LeaksOptions {
  billing: Pick<Billing, "listHolds" | "settle">;
  stores: Pick<Stores, "rows" | "log" | "calls">;
  starter: Pick<RunStarter, "isRunning">;
  logger: Logger;
  ageMs?: number;
}

/**
 * Closes holds that no run needs: holds of refused attempts, of final runs, and of runs without row and workflow. The charge in a final row
 * is captured and the rest released. A live run keeps its hold. Database restores and software faults leave such holds, and their credits
 * would otherwise stay locked.
 */
export const createLeaks = ({ billing, stores, starter, logger, ageMs = TIMING.unseenRun }: LeaksOptions) => {
  let cursor = "";

  const isNeeded = async (row: ExecutionView | null, executionId: string, holdId: string): Promise<boolean> => {
    if (row?.holdId === holdId) return !isOver(row);
    // After a database restore, the row may be missing or belong to an earlier attempt while the workflow continues.
    return starter.isRunning(executionId);
  };

  /**
   * Returns the charges of a final row. A node with one call has its own charge; other nodes have charges in their calls. If an answer was
   * requested twice, only the first call's hold is captured.
   */
  const chargedTo = async (row: ExecutionView | null, holdId: string): Promise<billingProto.SettleItem[]> => {
    if (!row || !isFinal(row) || row.holdId !== holdId) return [];
    const [{ nodes }, calls] = await Promise.all([stores.log.whole(row), stores.calls.of(row._id)]);
    // A call that was under way when its run was cancelled has also used its grant.
    const wasCalled = ({ status, requestId }: NodeState): boolean =>
      status === "completed" || (row.status === "cancelled" && requestId !== null);
    // A fallback may have been called instead of the node's own model.
    const keyOfCall = (id: string): string => {
      const completedCall = calls.find(({ _id, nodeId, status }) => nodeId === id && status === "completed" && !isRepairKey(_id));
      return completedCall ? completedCall._id.slice(row._id.length + 1) : itemKey(id, 0);
    };
    const own = nodes
      .filter((node) => node.items === 1 && node.reusedFrom === undefined && (node.millicredits > 0 || (row.grantUsed && wasCalled(node))))
      .map(({ id, millicredits }) => ({ key: keyOfCall(id), millicredits }));
    const recorded = calls.map(({ _id, millicredits }) => ({ key: _id.slice(row._id.length + 1), millicredits }));
    return [...own, ...recorded].flatMap(({ key, millicredits }) =>
      millicredits === undefined ? [] : [{ key, captureMillicredits: millicredits, consumeGrant: millicredits === 0 }],
    );
  };

  const check = async ({ executionId: holdId, userId }: billingProto.OpenHold): Promise<boolean> => {
    const executionId = executionOf(holdId);
    const row = await stores.rows.find(executionId);
    if (await isNeeded(row, executionId, holdId)) return false;
    await billing.settle({ executionId: holdId, userId, items: await chargedTo(row, holdId), captureAll: false });
    logger.warn({ holdId, status: row?.status }, "closed a hold that no run needs");
    return true;
  };

  const nextPage = async () => {
    const page = await billing.listHolds({ olderThanMs: ageMs, limit: LOOK_PAGE, cursor }, { deadlineMs: TIMING.renewPage });
    cursor = page.nextCursor;
    return { items: page.holds, isLast: cursor === "" };
  };

  return async (beat: () => void): Promise<PassReport> => {
    const failed = ({ executionId: holdId }: billingProto.OpenHold, err: unknown): void =>
      logger.error({ err, holdId }, "a hold could not be looked at");
    return lookThrough(nextPage, { beat, check, failed });
  };
};
