import { USUAL_CAPS, type DomainError } from "@nodeloom/kernel";
import { emptyAccount, type Account } from "../../src/account/account";
import type { BudgetScope } from "../../src/account/budgets/budget";
import type { SetBudgetCommand } from "../../src/account/budgets/commands";
import { windowEnd, windowStart } from "../../src/account/budgets/windows";
import { apply, type Command, type ReplyTo } from "../../src/account/command";

const userId = "user-1";
const MONDAY = new Date("2026-11-23T12:00:00Z");
const TUESDAY = new Date("2026-11-24T00:00:00Z");
const KEY: BudgetScope = { type: "key", name: "", value: "k1" };
const ACME: BudgetScope = { type: "metadata", name: "customer", value: "acme" };
const ledger = { get: () => null } as never;
const start: Account = { ...emptyAccount(userId), topUp: 1_000_000 };

const set = (millicredits: number, part: Partial<SetBudgetCommand> = {}): SetBudgetCommand => ({
  ...{ type: "setBudget", userId, at: MONDAY, id: `b-${millicredits}`, scope: KEY, millicredits, window: "day", alertAt: [] },
  ...part,
});
const item = (key: string, maxMillicredits: number) => ({ key, model: "painter", maxMillicredits });
const holdCommand = (executionId: string, millicredits: number, at = MONDAY, metadata: Record<string, string> = {}): Command => ({
  ...{ type: "hold", userId, at, executionId, items: [item("a", millicredits)], maxActive: 0, ledger },
  subject: { keyId: "k1", workflowSlug: "w1", metadata },
});
const extended = (executionId: string, millicredits: number, at = MONDAY): Command => ({
  ...{ type: "extend", userId, at, executionId, items: [item("b", millicredits)], ledger },
  subject: { keyId: "k1", workflowSlug: "w1", metadata: {} },
});
const settled = (executionId: string, captured: Record<string, number>, at = MONDAY): Command => ({
  ...{ type: "settle", userId, at, executionId, captureAll: false, ledger },
  items: Object.entries(captured).map(([key, captureMillicredits]) => ({ key, captureMillicredits, consumeGrant: false })),
});
const accept = <C extends Command>(from: Account, command: C): { account: Account; reply: ReplyTo<C> } => {
  const { account, outcome } = apply(from, command);
  if (outcome.kind !== "done") throw outcome.kind === "refused" ? outcome.error : new Error("undecided");
  return { account, reply: outcome.reply };
};
const run = (...commands: Command[]): Account => commands.reduce((current, command) => accept(current, command).account, start);
const refusal = (from: Account, command: Command): DomainError => {
  const { account, outcome } = apply(from, command);
  if (outcome.kind !== "refused") throw new Error(`was ${outcome.kind}`);
  expect(account).toBe(from);
  return outcome.error;
};
const used = ({ budgets }: Account, index = 0): number => budgets[index]!.used[budgets[index]!.window];

it.each([
  ["day", "2026-11-25T23:59:59.999Z", "2026-11-25", "2026-11-26"],
  ["week", "2026-11-23T00:00:00Z", "2026-11-23", "2026-11-30"],
  ["week", "2026-11-22T23:59:59.999Z", "2026-11-16", "2026-11-23"],
  ["week", "2027-01-01T00:00:00Z", "2026-12-28", "2027-01-04"],
  ["month", "2026-12-31T23:59:59.999Z", "2026-12-01", "2027-01-01"],
  ["month", "2028-02-29T00:00:00Z", "2028-02-01", "2028-03-01"],
] as const)("starts a %s in UTC: %s", (window, at, from, to) => {
  expect(windowStart(window, new Date(at))).toEqual(new Date(`${from}T00:00:00Z`));
  expect(windowEnd(window, new Date(at))).toEqual(new Date(`${to}T00:00:00Z`));
});

it("rejects a cost that exceeds it by a milli-credit, and reports the rest and the end of the window", () => {
  const account = run(set(1_000), holdCommand("e1", 400));
  expect(accept(account, holdCommand("e2", 600)).account.held).toBe(1_000);
  expect(refusal(account, holdCommand("e2", 601))).toMatchObject({
    ...{ kind: "exhausted", reason: "BUDGET_EXCEEDED" },
    metadata: { scope: "key", limit: 1, remaining: 0.6, resetsAt: TUESDAY.toISOString(), requiredCredits: 0.601 },
  });
});

it("names the budget with the least left if several apply to a run", () => {
  const account = run(set(1_000), set(500, { scope: ACME, window: "total" }), holdCommand("e1", 300, MONDAY, { customer: "acme" }));
  expect(refusal(account, holdCommand("e2", 900, MONDAY, { customer: "acme" })).metadata).toMatchObject({
    ...{ scope: "metadata.customer", limit: 0.5, remaining: 0.2, resetsAt: null },
  });
  expect(accept(account, holdCommand("e2", 700, MONDAY, { customer: "other" })).account.held).toBe(1_000);
});

it("starts each window at zero, and releases to the window of the hold", () => {
  const account = run(set(1_000), holdCommand("e1", 900), holdCommand("e2", 1_000, TUESDAY));
  expect(used(account)).toBe(1_000);
  // Monday's window has ended, so credits returned to it don't change Tuesday's.
  expect(used(accept(account, settled("e1", { a: 100 }, TUESDAY)).account)).toBe(1_000);
  expect(used(accept(account, settled("e2", { a: 1 }, TUESDAY)).account)).toBe(1);
});

it("counts an extension in the window of its own time, and returns it there", () => {
  const account = run(set(1_000), holdCommand("e1", 900), extended("e1", 700, TUESDAY));
  expect(used(account)).toBe(700);
  expect(refusal(account, holdCommand("e2", 301, TUESDAY))).toMatchObject({ reason: "BUDGET_EXCEEDED" });
  expect(used(accept(account, settled("e1", { a: 900, b: 200 }, TUESDAY)).account)).toBe(200);
});

it("rejects an extension beyond the budget, also for a run that started before the budget existed", () => {
  const account = run(holdCommand("e1", 900), set(1_000));
  expect(refusal(account, extended("e1", 1_001))).toMatchObject({ reason: "BUDGET_EXCEEDED" });
  const more = accept(account, extended("e1", 1_000)).account;
  // Only counted amounts are returned.
  expect(used(accept(more, settled("e1", { b: 400 })).account)).toBe(400);
});

it("counts the call of a fallback model against the credits held for the first model", () => {
  const both: Command = {
    ...{ type: "hold", userId, at: MONDAY, executionId: "e1", maxActive: 0, ledger },
    items: [item("a", 900), { ...item("b", 600), alternativeTo: "a" }],
    subject: { keyId: "k1", workflowSlug: "", metadata: {} },
  };
  const account = run(set(1_000), both);
  expect(used(account)).toBe(900);
  expect(used(accept(account, settled("e1", { b: 550 })).account)).toBe(550);
});

it("counts a repeated hold, extension and settlement once", () => {
  const once = run(set(10_000), holdCommand("e1", 900), extended("e1", 500));
  const again = accept(accept(once, holdCommand("e1", 900)).account, extended("e1", 500)).account;
  expect(used(again)).toBe(1_400);
  const settledAccount = accept(again, settled("e1", { a: 300 })).account;
  expect(used(settledAccount)).toBe(300);
  expect(used(accept(settledAccount, settled("e1", { a: 300 })).account)).toBe(300);
});

it("keeps a budget's use if its limit or its window changes", () => {
  const account = run(set(1_000), holdCommand("e1", 400), holdCommand("e2", 500, TUESDAY), set(800, { at: TUESDAY, window: "month" }));
  expect(account.budgets).toHaveLength(1);
  expect(used(account)).toBe(900);
  expect(refusal(account, holdCommand("e3", 1, TUESDAY)).metadata).toMatchObject({ remaining: 0, limit: 0.8 });
  const back = accept(account, set(600, { at: TUESDAY })).account;
  expect(used(back)).toBe(500);
});

it("drops the use of a removed budget, and starts another one with its scope at zero", () => {
  const removed = run(set(1_000), holdCommand("e1", 400), { type: "removeBudget", userId, at: MONDAY, budget: { scope: KEY } });
  expect(removed.budgets).toEqual([]);
  const recreated = accept(removed, set(1_000)).account;
  expect(used(accept(recreated, settled("e1", { a: 100 })).account)).toBe(0);
});

it("allows runs paid by trial grants after a budget is used up", () => {
  const account = { ...run(set(0)), grants: [{ model: "painter", total: 1, remaining: 1 }] };
  expect(accept(account, holdCommand("e1", 900)).account.held).toBe(0);
});

it("doesn't return to an ended window if a clock goes back", () => {
  const account = run(set(1_000), holdCommand("e1", 600, TUESDAY));
  const before = new Date(TUESDAY.getTime() - 1);
  expect(refusal(account, holdCommand("e2", 401, before))).toMatchObject({ reason: "BUDGET_EXCEEDED" });
  const changed = accept(account, set(2_000, { at: before })).account;
  expect([used(changed), changed.budgets[0]!.countedAt]).toEqual([600, TUESDAY]);
});

it("announces a share once per window, and again only if a raised limit is below it", () => {
  const alerts = (account: Account): string[] =>
    account.budgetAlerts.flatMap((alert) => ("threshold" in alert ? [`${alert.threshold}: ${alert.used}/${alert.limit}`] : []));
  const first = run(
    set(1_000, { alertAt: [800, 500] }),
    holdCommand("e1", 500),
    settled("e1", {}),
    holdCommand("e2", 600),
    holdCommand("e3", 250),
  );
  expect(alerts(first)).toEqual(["500: 500/1000", "800: 850/1000"]);
  const raised = accept(accept(first, set(1_500, { alertAt: [500, 800] })).account, holdCommand("e4", 400)).account;
  expect(alerts(raised).slice(2)).toEqual(["800: 1250/1500"]);
  const tomorrow = accept(raised, holdCommand("e5", 750, TUESDAY)).account;
  expect(alerts(tomorrow).slice(3)).toEqual(["500: 750/1500"]);
  expect(new Set(tomorrow.budgetAlerts.map(({ id }) => id)).size).toBe(4);
  const [takenAlert] = tomorrow.budgetAlerts;
  const remainder = accept(tomorrow, { type: "alertsTaken", userId, at: TUESDAY, ids: [takenAlert!.id] }).account;
  expect(remainder.budgetAlerts).toHaveLength(3);
});

it("announces low credits once per month of the plan, by spent credits and not by holds", () => {
  const monthly: Account = { ...start, topUp: 0, plan: 1_000, monthlyMillicredits: 1_000, period: 1 };
  const pending = ({ budgetAlerts }: Account) =>
    budgetAlerts.map((alert) => ("lowCredits" in alert ? [alert.id, alert.lowCredits] : alert));
  const follow = (from: Account, ...commands: Command[]): Account =>
    commands.reduce((current, command) => accept(current, command).account, from);
  const released = follow(monthly, holdCommand("e1", 950), settled("e1", { a: 900 }));
  expect(pending(released)).toEqual([]);
  const low = follow(released, holdCommand("e2", 50), settled("e2", { a: 1 }));
  expect(pending(low)).toEqual([["low-credits-1", { remaining: 99, monthly: 1_000 }]]);
  const lower = follow(low, holdCommand("e3", 50), settled("e3", { a: 50 }));
  expect(pending(lower)).toHaveLength(1);
  const next = follow({ ...lower, period: 2 }, holdCommand("e4", 9), settled("e4", { a: 9 }));
  expect(pending(next)).toMatchObject([
    ["low-credits-1", {}],
    ["low-credits-2", { remaining: 40 }],
  ]);
  expect(pending(follow(start, holdCommand("e1", 999_999), settled("e1", { a: 999_999 })))).toEqual([]);
});

it(`has at most ${USUAL_CAPS.budgets} budgets`, () => {
  const scopes = Array.from({ length: USUAL_CAPS.budgets }, (_, index): BudgetScope => ({ ...ACME, value: `c${index}` }));
  const full = run(...scopes.map((scope) => set(1, { scope })));
  expect(refusal(full, set(1, { scope: ACME }))).toMatchObject({ reason: "PRECONDITION_FAILED" });
  expect(accept(full, set(2, { scope: scopes[7]! })).account.budgets[7]).toMatchObject({ limit: 2 });
});

it("stores the key on every row of a run", () => {
  const { outbox } = run(holdCommand("e1", 500), extended("e1", 10), settled("e1", { a: 100 }));
  expect(outbox.map(({ kind, keyId }) => `${kind} ${keyId}`)).toEqual(["hold k1", "hold k1", "capture k1", "release k1"]);
});
