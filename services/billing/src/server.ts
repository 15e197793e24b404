import { invalidRequest } from "@nodeloom/kernel";
import { requestContext, unary } from "@nodeloom/platform";
import { billing as proto } from "@nodeloom/proto";
import type { Account } from "./account/account";
import type { HeldItem } from "./account/held";
import type { Billing } from "./billing";
import { alertMessage, budgetMessage, scopeOf, windowOf } from "./budget-messages";
import type { LedgerRow, MovementKind } from "./account/movement";
import type { RequestOf } from "./requests";

const heldItem = ({ key, model, source, millicredits }: HeldItem): Partial<proto.HeldItem> => ({
  key,
  model,
  millicredits,
  source: source === "grant" ? proto.HoldSource.HOLD_SOURCE_GRANT : proto.HoldSource.HOLD_SOURCE_CREDITS,
});

const accountMessage = (account: Account): proto.Account =>
  proto.Account.fromPartial({
    userId: account.userId,
    planMillicredits: account.plan,
    topUpMillicredits: account.topUp,
    heldMillicredits: account.held,
    grants: account.grants,
    renewsAt: account.renewsAt ?? undefined,
    activeHolds: account.holds.length,
  });

const rowMessage = ({ at, ...row }: LedgerRow): proto.LedgerRow => proto.LedgerRow.fromPartial({ ...row, createdAt: at });

const creditOf = ({ kind, millicredits, model, runs }: proto.CreditRequest): RequestOf<"credit">["credit"] => {
  switch (kind) {
    case proto.CreditKind.CREDIT_KIND_TOPUP:
      return { kind: "topup", millicredits };
    case proto.CreditKind.CREDIT_KIND_PLAN:
      return { kind: "plan", millicredits };
    case proto.CreditKind.CREDIT_KIND_ADJUST:
      return { kind: "adjust", millicredits };
    case proto.CreditKind.CREDIT_KIND_GRANT:
      return { kind: "grant", model, runs };
    default:
      throw invalidRequest([{ path: "kind", message: "is unknown" }]);
  }
};

const deadline = (): number | undefined => requestContext()?.deadlineMs;

export const billingHandlers = (billing: Billing): proto.BillingServiceServer => ({
  getAccount: unary(async (request) => proto.GetAccountResponse.fromPartial({ account: accountMessage(await billing.account(request)) })),

  hold: unary(async (request) => {
    const { items, heldMillicredits } = await billing.hold(request, deadline());
    return proto.HoldResponse.fromPartial({ items: items.map(heldItem), heldMillicredits });
  }),

  extendHold: unary(async (request) => {
    const { items, heldMillicredits } = await billing.extend(request, deadline());
    return proto.ExtendHoldResponse.fromPartial({ items: items.map(heldItem), heldMillicredits });
  }),

  settle: unary(async (request) => {
    const { captured, ...amounts } = await billing.settle(request, deadline());
    return proto.SettleResponse.fromPartial({ ...amounts, captured: captured.map(heldItem) });
  }),

  quoteHold: unary(async (request) => {
    const { items, required, sufficient, grants } = await billing.quote(request);
    return proto.QuoteHoldResponse.fromPartial({ items: items.map(heldItem), heldMillicredits: required, sufficient, grants });
  }),

  renewDuePlans: unary(async (request) => proto.RenewDuePlansResponse.fromPartial(await billing.renewDue(request, deadline()))),

  setPlan: unary(async ({ grants, ...request }) => {
    const trials = grants.map(({ model, total }) => ({ model, runs: total }));
    return proto.SetPlanResponse.fromPartial({ account: accountMessage(await billing.setPlan({ ...request, trials }, deadline())) });
  }),

  setMonthlyCredits: unary(async (request) =>
    proto.SetMonthlyCreditsResponse.fromPartial({ account: accountMessage(await billing.setMonthlyCredits(request, deadline())) }),
  ),

  credit: unary(async (request) => {
    const { userId, note, reference } = request;
    const account = await billing.credit({ userId, credit: creditOf(request), note, reference }, deadline());
    return proto.CreditResponse.fromPartial({ account: accountMessage(account) });
  }),

  setBudget: unary(async ({ userId, scope, millicredits, window, alertAt, maxBudgets }) => {
    const request = { userId, scope: scopeOf(scope), millicredits, window: windowOf(window), alertAt, maxBudgets };
    return proto.SetBudgetResponse.fromPartial({ budget: budgetMessage(await billing.setBudget(request, deadline())) });
  }),

  deleteBudget: unary(async ({ userId, id, scope }) => {
    await billing.removeBudget({ userId, budget: id === "" ? { scope: scopeOf(scope) } : { id } }, deadline());
    return proto.DeleteBudgetResponse.fromPartial({});
  }),

  listBudgets: unary(async (request) =>
    proto.ListBudgetsResponse.fromPartial({ budgets: (await billing.budgets(request)).map(budgetMessage) }),
  ),

  listBudgetAlerts: unary(async (request) => {
    const { users, nextCursor } = await billing.budgetAlerts(request);
    const messages = users.map(({ userId, alerts }) => ({ userId, alerts: alerts.map(alertMessage) }));
    return proto.ListBudgetAlertsResponse.fromPartial({ users: messages, nextCursor });
  }),

  takeBudgetAlerts: unary(async (request) => {
    await billing.takeAlerts(request, deadline());
    return proto.TakeBudgetAlertsResponse.fromPartial({});
  }),

  listLedger: unary(async ({ kind, ...request }) => {
    const { rows, nextCursor } = await billing.ledgerPage({ ...request, kind: kind as MovementKind | undefined });
    return proto.ListLedgerResponse.fromPartial({ rows: rows.map(rowMessage), nextCursor });
  }),

  listHolds: unary(async (request) => proto.ListHoldsResponse.fromPartial(await billing.openHolds(request))),

  removeExpired: unary(async ({ cursor }) => proto.RemoveExpiredResponse.fromPartial(await billing.removeExpired(cursor))),

  checkLedger: unary(async (request) => {
    const { accounts, mismatches, staleHolds, nextCursor } = await billing.checkLedger(request, deadline());
    return proto.CheckLedgerResponse.fromPartial({
      ok: mismatches.length === 0 && nextCursor === "",
      accounts,
      mismatches,
      staleHolds,
      nextCursor,
    });
  }),
});
