import { isRefusal, unlessNotFound } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { Cancellation } from "../accept/cancellation";
import type { Orders } from "../batches/orders";
import type { LeavingStore } from "../record/erasure/leaving";
import { checkEach } from "../record/look";

/** Maximum runs that are cancelled per call. */
const PAGE = 500;

export interface StopAccountOptions {
  store: Pick<LeavingStore, "underWay">;
  orders: Pick<Orders, "cancelAll">;
  cancellation: Pick<Cancellation, "cancel">;
  logger: Logger;
}

export interface StopOptions {
  /** Only runs and batches from before this time; all if undefined. */
  createdBy?: Date | undefined;
  /** Called before every group of runs. It throws when no time is left. */
  beat?: () => void;
}

export type StopAccount = ReturnType<typeof createStopAccount>;

/** Cancels runs and batches of an account. Call it until it returns 0. */
export const createStopAccount =
  ({ store, orders, cancellation, logger }: StopAccountOptions) =>
  /** @returns the number of runs and batches that were still under way */
  async (userId: string, { createdBy, beat }: StopOptions = {}): Promise<number> => {
    // Batches start new runs, so they end first.
    const batches = await orders.cancelAll({ userId, createdBy });
    const runs = await store.underWay(userId, PAGE, createdBy);
    // An accepted run is still undecided. It will soon run or be refused.
    const decidedRuns = runs.filter(({ status }) => status !== "accepted");
    await checkEach(decidedRuns, {
      ...(beat ? { beat } : {}),
      check: ({ _id }) => unlessNotFound(cancellation.cancel(_id, userId)).then(() => true),
      // A run that can't be cancelled doesn't stop the others.
      failed: ({ _id: executionId }, error) => {
        if (!isRefusal(error)) throw error;
        logger.warn({ err: error, userId, executionId }, "a run of a stopped account was not cancelled yet");
      },
    });
    return batches + runs.length;
  };
