import { isDatabaseAway, type Logger } from "@nodeloom/platform";
import type { billing as billingProto } from "@nodeloom/proto";
import type { LeaksReport } from "../contract/reports";
import type { Billing } from "../clients";
import { TIMING } from "../contract/timing";
import type { ExecutionView } from "../record/execution-record";
import type { ExecutionStore } from "../record/store";
import type { RunStarter } from "../temporal/client";
import { executionOf, isFinal } from "./states";

const PAGE = 200;
/** Accounts that one look covers at most are PAGE × this; the next look goes on behind them. */
const MAX_PAGES = 20;
const AT_ONCE = 10;

export interface LeaksOptions {
  billing: Pick<Billing, "listHolds" | "settle">;
  store: Pick<ExecutionStore, "find" | "callsOf">;
  starter: Pick<RunStarter, "isCarried">;
  logger: Logger;
  /** How old a hold must be. */
  ageMs?: number;
  /** How old one of before attempts were numbered must be: its run is not known by its name. */
  unnumberedMs?: number;
}

/**
 * Closes holds that no run needs any more: of refused attempts, of runs that are over, and of runs that no row and no
 * workflow knows. What a final row says it was charged is captured; all else is given back. A run that is alive keeps its
 * hold. Restores of databases, and faults of ours, leave such holds; without this their credits were locked for ever.
 */
export const createLeaks = ({ billing, store, starter, logger, ...options }: LeaksOptions) => {
  const { ageMs = TIMING.unseenRun, unnumberedMs = TIMING.leakedHold } = options;
  let cursor = "";

  const isNeeded = async (row: ExecutionView | null, executionId: string, holdId: string): Promise<boolean> => {
    if (row && !isFinal(row) && row.status !== "refused" && row.holdId === holdId) return true;
    // After a restore its row may be gone, or be of an earlier attempt, while its workflow goes on.
    const isKnownEnd = row !== null && (isFinal(row) || row.status === "refused") && row.holdId === holdId;
    return !isKnownEnd && (await starter.isCarried(executionId));
  };

  /** What a final row says that its calls were charged. */
  const chargedTo = async (row: ExecutionView | null, holdId: string) => {
    if (!row || !isFinal(row) || row.holdId !== holdId) return [];
    const calls = await store.callsOf(row._id);
    return calls.flatMap(({ _id, millicredits }) =>
      millicredits === undefined
        ? []
        : [{ key: _id.slice(row._id.length + 1), captureMillicredits: millicredits, consumeGrant: millicredits === 0 }],
    );
  };

  /** @returns whether it was closed */
  const check = async ({ executionId: holdId, userId, heldAt }: billingProto.OpenHold): Promise<boolean> => {
    const executionId = executionOf(holdId);
    if (executionId === undefined && Date.now() - (heldAt?.getTime() ?? Date.now()) < unnumberedMs) return false;
    const row = executionId === undefined ? null : await store.find(executionId);
    if (executionId !== undefined && (await isNeeded(row, executionId, holdId))) return false;
    await billing.settle({ executionId: holdId, userId, items: await chargedTo(row, holdId), captureAll: false });
    logger.warn({ holdId, status: row?.status }, "closed a hold that no run needs");
    return true;
  };

  /** Each for itself: a hold that can't be closed keeps no other from it. */
  const checkAll = async (holds: readonly billingProto.OpenHold[], report: LeaksReport): Promise<void> => {
    const outcomes = await Promise.allSettled(holds.map(check));
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") report.closedHolds += Number(outcome.value);
      else if (isDatabaseAway(outcome.reason)) throw outcome.reason;
      else {
        report.failedHolds += 1;
        logger.error({ err: outcome.reason as unknown, holdId: holds[index]!.executionId }, "a hold could not be looked at");
      }
    }
  };

  return async (beat: () => void): Promise<LeaksReport> => {
    const report: LeaksReport = { closedHolds: 0, failedHolds: 0 };
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { holds, nextCursor } = await billing.listHolds({ olderThanMs: ageMs, limit: PAGE, cursor }, { deadlineMs: TIMING.renewPage });
      for (let first = 0; first < holds.length; first += AT_ONCE) {
        beat();
        await checkAll(holds.slice(first, first + AT_ONCE), report);
      }
      cursor = nextCursor;
      if (nextCursor === "") break;
    }
    return report;
  };
};
