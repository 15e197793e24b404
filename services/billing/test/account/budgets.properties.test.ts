import { BUDGET_WINDOWS, type BudgetWindow } from "@nodeloom/kernel";
import fc from "fast-check";
import { emptyAccount, type Account } from "../../src/account/account";
import { covers, rolled, type BudgetScope, type Subject } from "../../src/account/budgets/budget";
import { windowStart } from "../../src/account/budgets/windows";
import { apply, type Command } from "../../src/account/command";

const USER = "user-1";
const START = Date.parse("2026-01-30T20:00:00Z");
const HOUR_MS = 3_600_000;
const RICH = 1_000_000_000;

const SCOPES: readonly BudgetScope[] = [
  { type: "key", name: "", value: "k1" },
  { type: "workflow", name: "", value: "w1" },
  { type: "metadata", name: "customer", value: "acme" },
];
const SUBJECTS: readonly Subject[] = [
  { keyId: "k1", workflowSlug: "w1", metadata: { customer: "acme" } },
  { keyId: "k1", workflowSlug: "", metadata: {} },
  { keyId: "", workflowSlug: "w1", metadata: { customer: "other" } },
];

type Step = { hoursLater: number } | { command: (at: Date) => Command } | { again: number };

const executionId = fc.integer({ min: 1, max: 9 }).map((number) => `e${number}`);
const amount = fc.integer({ min: 0, max: 60 });
const subject = fc.constantFrom(...SUBJECTS);
const scope = fc.constantFrom(...SCOPES);
const command = <T>(fields: fc.Arbitrary<T>, make: (at: Date, fields: T) => Command): fc.Arbitrary<Step> =>
  fields.map((input): Step => ({ command: (at) => make(at, input) }));

/** Items in which `b` can replace `a`. */
const items = (keys: readonly string[]) =>
  fc
    .uniqueArray(fc.record({ key: fc.constantFrom(...keys), maxMillicredits: amount }), { selector: ({ key }) => key, minLength: 1 })
    .map((madeItems) => madeItems.map((item) => ({ ...item, model: "painter", alternativeTo: item.key === "b" ? "a" : "" })));

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: command(fc.record({ executionId, subject, items: items(["a", "b"]) }), (at, fields) => ({
      ...{ type: "hold", userId: USER, at, maxActive: 0 },
      ...fields,
    })),
  },
  {
    weight: 5,
    arbitrary: command(fc.record({ executionId, subject, items: items(["a", "c", "d"]) }), (at, fields) => ({
      ...{ type: "extend", userId: USER, at },
      ...fields,
    })),
  },
  {
    weight: 8,
    arbitrary: command(
      fc.record({
        executionId,
        captured: fc.uniqueArray(fc.record({ key: fc.constantFrom("a", "b", "c", "d"), captureMillicredits: amount }), {
          selector: ({ key }) => key,
        }),
        captureAll: fc.boolean(),
      }),
      (at, { captured, ...fields }) => ({
        ...{ type: "settle", userId: USER, at },
        items: captured.map((item) => ({ ...item, consumeGrant: false })),
        ...fields,
      }),
    ),
  },
  {
    weight: 5,
    arbitrary: command(
      fc.record({ scope, millicredits: fc.integer({ min: 0, max: 200 }), window: fc.constantFrom(...BUDGET_WINDOWS) }),
      (at, fields) => ({ ...{ type: "setBudget", userId: USER, at, id: `b${at.getTime()}`, alertAt: [500, 900] }, ...fields }),
    ),
  },
  {
    weight: 1,
    arbitrary: command(scope, (at, budgetScope) => ({ type: "removeBudget", userId: USER, at, budget: { scope: budgetScope } })),
  },
  { weight: 3, arbitrary: fc.nat().map((again): Step => ({ again })) },
  { weight: 4, arbitrary: fc.integer({ min: -1, max: 60 }).map((hoursLater): Step => ({ hoursLater })) },
);

/** One held call: its budgets and its capture. */
interface Entry {
  executionId: string;
  key: string;
  at: Date;
  budgets: number[];
  millicredits: number;
  heldBy: Command;
  /** Undefined while the call is held. */
  captured?: number;
}

const must = (holds: boolean, what: string, ...values: unknown[]): void => {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(values)}`);
};

/** An independent model: a list of all calls ever held, summed on demand. */
const createBook = () => {
  const entries: Entry[] = [];
  return {
    entries,
    used: (budget: number, window: BudgetWindow, at: Date): number =>
      entries
        .filter((entry) => entry.budgets.includes(budget) && windowStart(window, entry.at).getTime() === windowStart(window, at).getTime())
        .reduce((sum, { captured, millicredits }) => sum + (captured ?? millicredits), 0),
  };
};
type Book = ReturnType<typeof createBook>;

const noteHeld = (book: Book, before: Account, after: Account, billingCommand: Command, latest: Date): void => {
  if (billingCommand.type !== "hold" && billingCommand.type !== "extend") return;
  const was = before.holds.find((hold) => hold.executionId === billingCommand.executionId);
  const is = after.holds.find((hold) => hold.executionId === billingCommand.executionId);
  const budgets = before.budgets
    .filter((budget) => billingCommand.subject && covers(budget.scope, billingCommand.subject))
    .map(({ number }) => number);
  for (const { key, millicredits } of (is?.items ?? []).slice(was?.items.length ?? 0))
    book.entries.push({ executionId: billingCommand.executionId, key, at: latest, budgets, millicredits, heldBy: billingCommand });
};

const noteSettled = (book: Book, before: Account, billingCommand: Command, captured: ReadonlyMap<string, number>): void => {
  if (billingCommand.type !== "settle" || !before.holds.some((hold) => hold.executionId === billingCommand.executionId)) return;
  const own = book.entries.filter((one) => one.executionId === billingCommand.executionId);
  for (const entry of own) {
    // Only one of `a` and `b` runs, and it uses their shared hold.
    const pair = own.filter(({ key, heldBy }) => heldBy === entry.heldBy && (key === "a" || key === "b"));
    const keys = pair.length === 2 && pair.includes(entry) ? (entry.millicredits > 0 ? ["a", "b"] : []) : [entry.key];
    entry.captured = keys.reduce((sum, key) => sum + (captured.get(key) ?? 0), 0);
  }
};

it("counts on each budget the holds and captures in its window, and never more than its limit", () => {
  const property = fc.property(fc.array(step, { minLength: 1, maxLength: 60, size: "max" }), (steps) => {
    let account: Account = { ...emptyAccount(USER), topUp: RICH };
    let now = START;
    let latest = new Date(START);
    const book = createBook();
    const commands: Command[] = [];
    for (const generated of steps) {
      if ("hoursLater" in generated) {
        now += generated.hoursLater * HOUR_MS;
        continue;
      }
      const next = "again" in generated ? commands[generated.again % Math.max(1, commands.length)] : generated.command(new Date(now));
      if (!next) continue;
      const repeated = { ...next, at: new Date(now), ledger: new Map(account.outbox.map((row) => [row.id, row])) };
      const { account: after, outcome } = apply(account, {
        ...repeated,
        ledger: { get: (id: string) => repeated.ledger.get(id) ?? null } as never,
      });
      commands.push(next);
      if (new Date(now) > latest) latest = new Date(now);
      if (outcome.kind === "done") {
        noteHeld(book, account, after, repeated, latestOf(account, repeated, now));
        if (next.type === "settle") {
          const reply = outcome.reply as { captured: { key: string; millicredits: number }[] };
          noteSettled(book, account, next, new Map(reply.captured.map(({ key, millicredits }) => [key, millicredits])));
        }
      }
      account = after;
      expectSound(account, book, latest);
    }
  });
  fc.assert(property, { numRuns: 300 });
});

/** Clocks can go back. Then a budget uses the latest time at which it was counted. */
const latestOf = (account: Account, billingCommand: Command, now: number): Date => {
  const concerned = account.budgets.filter(
    (budget) => "subject" in billingCommand && billingCommand.subject && covers(budget.scope, billingCommand.subject),
  );
  return new Date(Math.max(now, ...concerned.map(({ countedAt }) => countedAt.getTime())));
};

const expectSound = (account: Account, book: Book, latest: Date): void => {
  for (const budget of account.budgets) {
    const current = rolled(budget, latest);
    for (const window of BUDGET_WINDOWS) {
      const expected = book.used(budget.number, window, latest);
      must(current.used[window] === expected, "use is what is held and captured", budget, window, expected);
    }
  }
};

it("is never exceeded by a hold or an extension", () => {
  const property = fc.property(fc.array(step, { minLength: 1, maxLength: 60, size: "max" }), (steps) => {
    let account: Account = { ...emptyAccount(USER), topUp: RICH };
    let now = START;
    for (const generated of steps) {
      if ("hoursLater" in generated) now += Math.abs(generated.hoursLater) * HOUR_MS;
      if (!("command" in generated)) continue;
      const next = generated.command(new Date(now));
      const { account: after, outcome } = apply(account, { ...next, ledger: { get: () => null } as never });
      const isHeld = after.held > account.held;
      for (const budget of after.budgets) {
        const before = account.budgets.find(({ number }) => number === budget.number);
        const grew = before !== undefined && budget.used.total > before.used.total;
        must(!grew || (isHeld && budget.used[budget.window] <= budget.limit), "a hold stays within the limit", budget);
      }
      if (outcome.kind === "refused" && outcome.error.reason === "BUDGET_EXCEEDED") must(after === account, "a refusal changes nothing");
      account = after;
    }
  });
  fc.assert(property, { numRuns: 200 });
});
