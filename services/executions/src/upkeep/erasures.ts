/** Accounts whose time to be erased has come, for the relay: their erasures are begun, and forgotten once they are over. */
import type { Logger, RelayedRows } from "@nodeloom/platform";
import type { accountErasure as proto } from "@nodeloom/proto";
import type { Leaver } from "../workflow/leaving";
import type { AccountErasure } from "../clients";

export interface RelayedErasuresOptions {
  accountErasure: Pick<AccountErasure, "listErasures" | "forgetErased">;
  leaver: Pick<Leaver, "startErasure" | "forgetErasure">;
  logger: Logger;
}

export const createRelayedErasures = ({ accountErasure, leaver, logger }: RelayedErasuresOptions): RelayedRows<proto.Erasure> => ({
  name: "erasures",
  page: async (_limit, after) => (after ? [] : (await accountErasure.listErasures({})).erasures),
  signatureOf: ({ userId, isEnded }) => JSON.stringify([userId, isEnded]),
  staleMs: 0,
  settle: async ([erasure]) => {
    const { userId, isEnded } = erasure!;
    if (!isEnded) {
      await leaver.startErasure(userId);
      return true;
    }
    // Last goes what says that the account was erased: its workflow, and the mark by which it is found here.
    if (!(await leaver.forgetErasure(userId))) return true;
    await accountErasure.forgetErased({ userId });
    logger.info({ userId }, "an account was erased");
    return true;
  },
});
