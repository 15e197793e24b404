/** Reads pages of the ledger, which contains the rows of all movements. */

import { BILLING_LIMITS } from "../limits";
import type { LedgerRow, MovementKind } from "../account/movement";
import type { Outbox } from "./outbox";
import type { BillingStore } from "../store";

export interface LedgerPage {
  rows: LedgerRow[];
  /** Empty on the last page. */
  nextCursor: string;
}

export interface LedgerDependencies {
  store: Pick<BillingStore, "listRows">;
  outbox: Pick<Outbox, "flush">;
}

export const createLedger = ({ store, outbox }: LedgerDependencies) => ({
  /** Returns an account's rows, newest first, complete up to the time of the call. @param kind limits the rows to one kind */
  page: async (userId: string, limit: number, cursor: string, kind?: MovementKind): Promise<LedgerPage> => {
    await outbox.flush(userId);
    const size = limit || BILLING_LIMITS.ledgerPageDefault;
    const page = await store.listRows(userId, cursor ? Number(cursor) : Number.MAX_SAFE_INTEGER, size + 1, kind);
    const rows = page.slice(0, size);
    return { rows, nextCursor: page.length > size ? String(rows.at(-1)!.sequence) : "" };
  },
});
