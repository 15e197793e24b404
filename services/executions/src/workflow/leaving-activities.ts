import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { isRefusal } from "@nodeloom/kernel";
import type { AccountErasure } from "../clients";
import type { Activities, RetentionReport } from "./activity-types";
import { resumed, type PagedWork } from "./upkeep-activities";

export interface LeavingOptions<Erased> {
  accountErasure: Pick<AccountErasure, "beginErasure" | "endErasure">;
  /** @returns number of runs and batches that haven't ended yet */
  endUnderWay(userId: string, beat: () => void): Promise<number>;
  erase(userId: string): PagedWork<Erased, RetentionReport>;
  /** The signal aborts when the attempt was abandoned. */
  buildExport(userId: string, beat: () => void, signal: AbortSignal): Promise<void>;
}

type LeavingActivities = Pick<Activities, "beginErasure" | "endUnderWay" | "eraseEverywhere" | "endErasure" | "buildExport">;

/** Errors of identity are final: the account isn't marked for erasure, or is already erased. */
const final = async (work: () => Promise<unknown>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    if (isRefusal(error)) throw ApplicationFailure.nonRetryable(error instanceof Error ? error.message : String(error), "REFUSED");
    throw error;
  }
};

const beating = (): void => {
  const context = Context.current();
  context.heartbeat();
  context.cancellationSignal.throwIfAborted();
};

export const createLeavingActivities = <Erased>(leaving: LeavingOptions<Erased>): LeavingActivities => ({
  beginErasure: (userId) => final(() => leaving.accountErasure.beginErasure({ userId })),
  endUnderWay: (userId) => leaving.endUnderWay(userId, beating),
  eraseEverywhere: (userId) => resumed(leaving.erase(userId)),
  endErasure: (userId) => final(() => leaving.accountErasure.endErasure({ userId })),
  buildExport: (userId) => leaving.buildExport(userId, beating, Context.current().cancellationSignal),
});
