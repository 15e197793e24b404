/** Begins the erasure of accounts whose time has come, and forgets those that are over. */
import type { Logger } from "@nodeloom/platform";
import type { Leaver } from "../carry/leaving";
import type { AccountErasure } from "../clients";

export interface ErasureSweepOptions {
  accountErasure: Pick<AccountErasure, "listErasures" | "forgetErased">;
  leaver: Pick<Leaver, "startErasure" | "forgetErasure">;
  logger: Logger;
}

export const createErasureSweep = ({ accountErasure, leaver, logger }: ErasureSweepOptions) => {
  const goOn = async (userId: string, isEnded: boolean): Promise<void> => {
    if (!isEnded) await leaver.startErasure(userId);
    // Last goes what says that the account was erased: its workflow, and the mark by which it is found here.
    else if (await leaver.forgetErasure(userId)) {
      await accountErasure.forgetErased({ userId });
      logger.info({ userId }, "an account was erased");
    }
  };

  return async (stopping?: AbortSignal): Promise<void> => {
    const { erasures } = await accountErasure.listErasures({});
    for (const { userId, isEnded } of erasures) {
      stopping?.throwIfAborted();
      await goOn(userId, isEnded).catch((err: unknown) => logger.warn({ err, userId }, "the erasure of an account does not go on now"));
    }
  };
};
