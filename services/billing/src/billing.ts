import { randomUUID } from "node:crypto";
import { DEFAULT_BUDGET_VALUE, DomainError } from "@nodeloom/kernel";
import { createRemoval, type ErasedMetadata, type Logger, type RelayedRows, type RemoveStep } from "@nodeloom/platform";
import { emptyAccount, type Account } from "./account/account";
import { allocate, type Allocation } from "./account/allocate";
import { isDefault, rolled, type Budget } from "./account/budgets/budget";
import { defaultFor } from "./account/budgets/defaults";
import type { HoldReply } from "./account/hold";
import { BILLING_LIMITS } from "./limits";
import { createEraseBilling } from "./erasure";
import { createGroupCommit } from "./group-commit";
import { createAudit, type LedgerCheck } from "./ledger/audit";
import { createCheckpoints } from "./ledger/checkpoints";
import { createLedger, type LedgerPage } from "./ledger/ledger";
import { createOutbox } from "./ledger/outbox";
import type { PaymentCommand } from "./account/payment";
import { renewIfDue } from "./account/plan";
import { createRenewals, type RenewedPage } from "./renewals";
import { checked, type RequestOf } from "./requests";
import { createReservations } from "./reservations";
import type { SettleReply } from "./account/settle";
import type { BillingStore } from "./store";

export interface BillingDependencies {
  store: BillingStore;
  logger: Logger;
  /** Removals of data other than accounts and the ledger. */
  removals?: Readonly<Record<string, RemoveStep>>;
  clock?: () => Date;
}

export interface OpenHoldPage {
  holds: { userId: string; executionId: string; heldAt: Date }[];
  nextCursor: string;
}

export interface BudgetAlertPage {
  users: { userId: string; alerts: Account["budgetAlerts"] }[];
  nextCursor: string;
}

/** A budget with its current usage. */
export interface PresentBudget extends Budget {
  /** For a default budget: metadata value whose usage is shown. */
  ofValue?: string;
}

export type Billing = ReturnType<typeof createBilling>;

/** Creates the use cases of billing. `deadlineMs` is the end of the caller's wait, in milliseconds since the epoch. */
export const createBilling = ({ store, logger, removals = {}, clock = () => new Date() }: BillingDependencies) => {
  const outbox = createOutbox({ store, logger });
  const groupCommit = createGroupCommit({ store, outbox, logger });
  const ledger = createLedger({ store, outbox });
  const audit = createAudit({ store, clock });
  const checkpoints = createCheckpoints({ store, logger, clock });
  const reservations = createReservations({ store, groupCommit, logger, clock });
  const renewals = createRenewals({ store, groupCommit, logger, clock });

  const account = async (request: RequestOf<"account">): Promise<Account> => {
    const { userId } = checked("account", request);
    return renewIfDue((await store.load(userId)) ?? emptyAccount(userId), clock());
  };

  return {
    account,

    /** Returns the allocation of a possible hold without holding it. */
    quote: async (request: RequestOf<"quote">): Promise<Allocation> => {
      const { userId, items } = checked("quote", request);
      return allocate(await account({ userId }), items);
    },

    hold: async (request: RequestOf<"hold">, deadlineMs?: number): Promise<HoldReply> =>
      reservations.hold({ type: "hold", at: clock(), ...checked("hold", request) }, deadlineMs),

    extend: async (request: RequestOf<"extend">, deadlineMs?: number): Promise<HoldReply> =>
      reservations.hold({ type: "extend", at: clock(), ...checked("extend", request) }, deadlineMs),

    settle: async (request: RequestOf<"settle">, deadlineMs?: number): Promise<SettleReply> =>
      groupCommit.submit({ type: "settle", at: clock(), ...checked("settle", request) }, deadlineMs),

    setPlan: async (request: RequestOf<"setPlan">, deadlineMs?: number): Promise<Account> =>
      groupCommit.submit({ type: "setPlan", at: clock(), ...checked("setPlan", request) }, deadlineMs),

    setMonthlyCredits: async (request: RequestOf<"setMonthlyCredits">, deadlineMs?: number): Promise<Account> =>
      groupCommit.submit({ type: "setMonthlyCredits", at: clock(), ...checked("setMonthlyCredits", request) }, deadlineMs),

    credit: async (request: RequestOf<"credit">, deadlineMs?: number): Promise<Account> =>
      groupCommit.submit({ type: "credit", at: clock(), ...checked("credit", request) }, deadlineMs),

    book: async (request: Pick<PaymentCommand, "userId" | "movements">, deadlineMs?: number): Promise<Account> =>
      groupCommit.submit({ type: "payment", at: clock(), ...request }, deadlineMs),

    setBudget: async (request: RequestOf<"setBudget">, deadlineMs?: number): Promise<Budget> =>
      groupCommit.submit({ type: "setBudget", id: randomUUID(), at: clock(), ...checked("setBudget", request) }, deadlineMs),

    /** @throws NOT_FOUND */
    removeBudget: async (request: RequestOf<"removeBudget">, deadlineMs?: number): Promise<void> => {
      const command = { type: "removeBudget", at: clock(), ...checked("removeBudget", request) } as const;
      const removed = await groupCommit.submit(command, deadlineMs);
      if (!removed) throw new DomainError("not_found", "NOT_FOUND", "there is no such budget");
      if (isDefault(removed.scope)) await store.removeCounters(request.userId, { number: removed.number });
    },

    /** Lists budgets in order of creation, with current usage. With `of`: only the budget that counts runs with this value, if any. */
    budgets: async (request: RequestOf<"budgets">): Promise<PresentBudget[]> => {
      const { userId, of } = checked("budgets", request);
      const at = clock();
      const budgets = (await account({ userId })).budgets.map((budget) => rolled(budget, at));
      if (!of) return budgets;
      const { name, value } = of;
      const defaultBudget = defaultFor(budgets, name, value);
      if (!defaultBudget) return budgets.filter(({ scope }) => scope.type === "metadata" && scope.name === name && scope.value === value);
      const used = { ...defaultBudget.used, [defaultBudget.window]: await store.usedOnCounter(userId, { ...defaultBudget, value }, at) };
      return [{ ...defaultBudget, used, ofValue: value }];
    },

    /** Returns the pending alerts of one page of accounts. */
    budgetAlerts: async (request: RequestOf<"budgetAlerts">): Promise<BudgetAlertPage> => {
      const size = BILLING_LIMITS.alertPageAccounts;
      const rows = await store.findAlerts(checked("budgetAlerts", request).cursor, size);
      const users = rows.map(({ userId, budgetAlerts: alerts }) => ({ userId, alerts }));
      return { users, nextCursor: rows.length < size ? "" : rows.at(-1)!.userId };
    },

    takeAlerts: async (request: RequestOf<"takeAlerts">, deadlineMs?: number): Promise<void> => {
      await groupCommit.submit({ type: "alertsTaken", at: clock(), ...checked("takeAlerts", request) }, deadlineMs);
    },

    ledgerPage: async (request: RequestOf<"ledger">): Promise<LedgerPage> => {
      const { userId, limit, cursor, kind } = checked("ledger", request);
      return ledger.page(userId, limit, cursor, kind);
    },

    /** Returns the open holds older than a time, of one page of accounts. */
    openHolds: async (request: RequestOf<"openHolds">): Promise<OpenHoldPage> => {
      const { olderThanMs, limit, cursor } = checked("openHolds", request);
      const before = new Date(clock().getTime() - olderThanMs);
      const size = limit || BILLING_LIMITS.holdPageDefault;
      const accounts = await store.findHolds(before, cursor, size);
      const holds = accounts.flatMap(({ userId, holds: open }) =>
        open.filter(({ at }) => at <= before).map(({ executionId, at }) => ({ userId, executionId, heldAt: at })),
      );
      return { holds, nextCursor: accounts.length < size ? "" : accounts.at(-1)!.userId };
    },

    renewDue: async (request: RequestOf<"renewDue">, deadlineMs?: number): Promise<RenewedPage> => {
      const { limit, cursor } = checked("renewDue", request);
      return renewals.page(limit, cursor, deadlineMs);
    },

    checkLedger: async (request: RequestOf<"check">, deadlineMs?: number): Promise<LedgerCheck> => {
      const { cursor, full } = checked("check", request);
      return audit.check(cursor, full ?? false, deadlineMs);
    },

    /** The ledger is kept forever. With checkpoints, checks needn't read the rows of past years. */
    removeExpired: createRemoval({ checkpoints: (cursor) => checkpoints.page(cursor), ...removals }),

    erase: createEraseBilling({ store, groupCommit, outbox, clock }),

    /** Removes the budget of a metadata value and its usage of a default budget. Ledger rows have no metadata. */
    eraseMetadata: async ({ ownerId: userId, name, value }: ErasedMetadata): Promise<void> => {
      const budget = { scope: { type: "metadata", name, value } } as const;
      if (value !== DEFAULT_BUDGET_VALUE) await groupCommit.submit({ type: "removeBudget", at: clock(), userId, budget });
      await store.removeCounters(userId, { name, value });
    },

    /** Rows with pending work for the relay. */
    relayed: [outbox.relayed, reservations.relayed] as RelayedRows<unknown>[],

    /** Answers calls in progress, then moves their rows to the ledger. */
    stop: async (): Promise<void> => {
      await groupCommit.close();
      await outbox.stop();
    },
  };
};
