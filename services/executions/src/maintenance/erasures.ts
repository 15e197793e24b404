/** Starts due erasures of accounts for the relay, and deletes the records of completed erasures. */
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
    // Do this last: the workflow and the mark show that the account is being erased.
    if (!(await leaver.forgetErasure(userId))) return true;
    await accountErasure.forgetErased({ userId });
    logger.info({ userId }, "an account was erased");
    return true;
  },
});
