import type { Logger } from "@nodeloom/platform";
import type { GroupCommit } from "./group-commit";
import { BILLING_LIMITS } from "./limits";
import type { BillingStore, DueAccount } from "./store";

/** Maximum concurrent renewals. Each renewal is one write. */
const IN_PARALLEL = 16;
const DEFAULT_PAGE_MS = 20_000;
/** Time reserved for the reply. */
const MARGIN_MS = 1_000;

export interface RenewedPage {
  renewed: number;
  /** Accounts that failed and are still due. */
  failed: number;
  /** Empty after the last page. */
  nextCursor: string;
}

export interface RenewalDependencies {
  store: Pick<BillingStore, "findDue">;
  groupCommit: Pick<GroupCommit, "submit">;
  logger: Logger;
  clock: () => Date;
}

const cursorOf = ({ renewsAt, userId }: DueAccount): string => `${renewsAt.getTime()}:${userId}`;

const readCursor = (cursor: string): DueAccount | undefined => {
  if (cursor === "") return undefined;
  const colon = cursor.indexOf(":");
  return { renewsAt: new Date(Number(cursor.slice(0, colon))), userId: cursor.slice(colon + 1) };
};

/**
 * Renews due accounts that no other command has renewed. Each renewal goes through its account's queue, so it can't conflict with a run.
 */
export const createRenewals = ({ store, groupCommit, logger, clock }: RenewalDependencies) => {
  const renew = async ({ userId }: DueAccount): Promise<boolean> => {
    try {
      await groupCommit.submit({ type: "renew", userId, at: clock() });
      return true;
    } catch (error) {
      logger.warn({ err: error, userId }, "an account's plan could not be renewed");
      return false;
    }
  };

  return {
    /** Renews one page of due accounts. The page is shorter if the caller's deadline is reached. */
    page: async (limit: number, cursor: string, deadlineMs = Date.now() + DEFAULT_PAGE_MS): Promise<RenewedPage> => {
      const size = limit || BILLING_LIMITS.renewalPageDefault;
      const due = await store.findDue(clock(), readCursor(cursor), size);
      const result = { renewed: 0, failed: 0 };
      let doneCount = 0;
      while (doneCount < due.length && (doneCount === 0 || Date.now() < deadlineMs - MARGIN_MS)) {
        const batch = due.slice(doneCount, doneCount + IN_PARALLEL);
        for (const renewed of await Promise.all(batch.map(renew))) result[renewed ? "renewed" : "failed"] += 1;
        doneCount += batch.length;
      }
      const isLast = doneCount === due.length && due.length < size;
      return { ...result, nextCursor: isLast ? "" : cursorOf(due[doneCount - 1]!) };
    },
  };
};
