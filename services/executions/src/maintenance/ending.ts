/** Ends all runs and batches of an account, starting with the sources of new runs. */
import type { Erasure } from "../clients";
import type { LeavingStore } from "../record/erasure/leaving";
import { TIMING } from "../run/timing";
import type { StopAccount } from "../erasure/stop-account";

export interface EndingOptions {
  store: Pick<LeavingStore, "countOpen">;
  triggers: Pick<Erasure, "erase">;
  stopAccount: StopAccount;
}

/** Ends all runs and batches of an account. Returns the number of runs and batches that haven't ended yet. */
export const createEndUnderWay = ({ store, triggers, stopAccount }: EndingOptions) => {
  const endTriggers = async (ownerId: string): Promise<void> => {
    let cursor = "";
    do cursor = (await triggers.erase({ ownerId, cursor }, { deadlineMs: TIMING.erasePage })).nextCursor;
    while (cursor !== "");
  };

  return async (userId: string, beat: () => void): Promise<number> => {
    await endTriggers(userId);
    await stopAccount(userId, { beat });
    return store.countOpen(userId);
  };
};
