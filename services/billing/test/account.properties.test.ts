import fc from "fast-check";
import { emptyAccount, type Account } from "../src/account";
import { apply, type Command } from "../src/command";
import { BILLING_LIMITS } from "../src/limits";
import type { LedgerRow } from "../src/movement";

const USER = "user-1";
const MODELS = ["painter", "singer"];
const START = Date.parse("2026-01-01T00:00:00Z");
const DAY_MS = 86_400_000;

/** The account and its ledger as the service runs them: rows drain now and then, questions to the ledger are answered. */
interface World {
  account: Account;
  ledger: Map<string, LedgerRow>;
  now: number;
  /** Replies by what was asked for. */
  holds: Map<string, string>;
  settles: Map<string, string>;
}

type Step = { drain: true } | { daysLater: number } | { command: (at: Date) => Command };

const executionId = fc.integer({ min: 1, max: 12 }).map((number) => `e${number}`);
const key = fc.constantFrom("a", "b", "c");
const amount = fc.integer({ min: 0, max: 400 });
const reference = fc.integer({ min: 1, max: 6 }).map((number) => `r${number}`);

const holdStep = fc
  .record({
    executionId,
    items: fc.uniqueArray(fc.record({ key, model: fc.constantFrom(...MODELS), maxMillicredits: amount }), { selector: (item) => item.key }),
    maxActive: fc.integer({ min: 0, max: 4 }),
  })
  .map((fields): Step => ({ command: (at) => ({ type: "hold", userId: USER, at, ...fields }) }));
const settleStep = fc
  .record({
    executionId,
    items: fc.uniqueArray(fc.record({ key, captureMillicredits: amount, consumeGrant: fc.boolean() }), { selector: (item) => item.key }),
    captureAll: fc.boolean(),
  })
  .map((fields): Step => ({ command: (at) => ({ type: "settle", userId: USER, at, ...fields }) }));
const creditStep = fc
  .record({
    credit: fc.oneof(
      fc.record({ kind: fc.constantFrom("topup" as const, "plan" as const), millicredits: fc.integer({ min: 1, max: 2_000 }) }),
      fc.record({ kind: fc.constant("adjust" as const), millicredits: fc.integer({ min: -900, max: 900 }) }),
      fc.record({ kind: fc.constant("grant" as const), model: fc.constantFrom(...MODELS), runs: fc.integer({ min: 1, max: 3 }) }),
    ),
    reference,
  })
  .map((fields): Step => ({ command: (at) => ({ type: "credit", userId: USER, at, note: "", ...fields }) }));
const setPlanStep = fc.record({ monthlyMillicredits: fc.integer({ min: 0, max: 2_000 }), reference }).map((fields): Step => ({
  command: (at) => ({ type: "setPlan", userId: USER, at, tier: "pro", trials: MODELS.map((model) => ({ model, runs: 2 })), ...fields }),
}));
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: holdStep, weight: 6 },
  { arbitrary: settleStep, weight: 6 },
  { arbitrary: creditStep, weight: 2 },
  { arbitrary: setPlanStep, weight: 1 },
  { arbitrary: fc.constant<Step>({ drain: true }), weight: 3 },
  { arbitrary: fc.integer({ min: 1, max: 40 }).map((daysLater): Step => ({ daysLater })), weight: 1 },
);

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
const rowsOf = (world: World): LedgerRow[] => [...world.ledger.values(), ...world.account.outbox];

const decide = (world: World, command: Command): ReturnType<typeof apply> => {
  const known = new Map<string, LedgerRow | null>();
  for (;;) {
    const transition = apply(world.account, { ...command, ledger: known });
    if (transition.outcome.kind !== "recall") return transition;
    for (const id of transition.outcome.ids) {
      expect(known.has(id)).toBe(false);
      known.set(id, world.ledger.get(id) ?? null);
    }
  }
};

const drain = (world: World): void => {
  for (const row of world.account.outbox) {
    expect(world.ledger.has(row.id)).toBe(false);
    world.ledger.set(row.id, row);
  }
  world.account = { ...world.account, outbox: [] };
};

/** Repeated calls get the first answer, and change nothing but what time itself has changed. */
const expectSameAnswer = (world: World, command: Command, reply: unknown): void => {
  if (command.type !== "hold" && command.type !== "settle") return;
  const answers = command.type === "hold" ? world.holds : world.settles;
  const first = answers.get(command.executionId);
  if (first === undefined) answers.set(command.executionId, JSON.stringify(reply));
  else expect(JSON.stringify(reply)).toBe(first);
};

const expectSound = (world: World): void => {
  const { account } = world;
  const rows = rowsOf(world);
  for (const value of [account.plan, account.topUp, account.held, ...account.grants.map((grant) => grant.remaining)]) {
    expect(value).toBeGreaterThanOrEqual(0);
  }
  expect(sum(rows.map((row) => row.millicredits))).toBe(account.plan + account.topUp + account.held);
  expect(account.held).toBe(sum(account.holds.flatMap((held) => held.items.map((item) => item.millicredits))));
  for (const { model, remaining } of account.grants) {
    expect(sum(rows.filter((row) => row.model === model).map((row) => row.runs))).toBe(remaining);
  }
  expect(rows.map((row) => row.sequence)).toEqual(rows.map((_, index) => index + 1));
  expect(new Set(rows.map((row) => row.id)).size).toBe(rows.length);
  expect(account.closed.length).toBeLessThanOrEqual(BILLING_LIMITS.closedHolds);
};

/** What was captured of an execution is in the ledger exactly once, and is what its settlement answered. */
const expectCapturedOnce = (world: World): void => {
  const captures = rowsOf(world).filter((row) => row.kind === "capture");
  expect(new Set(captures.map((row) => row.executionId)).size).toBe(captures.length);
  const answered = [...world.settles.values()].map((reply) => (JSON.parse(reply) as { capturedMillicredits: number }).capturedMillicredits);
  expect(-sum(captures.map((row) => row.millicredits)) + 0).toBe(sum(answered));
};

const perform = (world: World, next: Step): void => {
  if ("drain" in next) drain(world);
  else if ("daysLater" in next) world.now += next.daysLater * DAY_MS;
  else {
    const command = next.command(new Date(world.now));
    const { account, outcome } = decide(world, command);
    world.account = account;
    if (outcome.kind === "done") expectSameAnswer(world, command, outcome.reply);
    const repeated = decide(world, command);
    expect(repeated.account).toBe(world.account);
    expect(repeated.outcome.kind).toBe(outcome.kind);
    if (outcome.kind === "done" && repeated.outcome.kind === "done") expect(repeated.outcome.reply).toEqual(outcome.reply);
  }
  expectSound(world);
};

describe.each([
  ["all closed executions", 256],
  ["only the last two closed executions", 2],
  ["no closed execution", 0],
])("an account that remembers %s", (_, closedHolds) => {
  let limit: jest.ReplaceProperty<number>;
  beforeAll(() => (limit = jest.replaceProperty(BILLING_LIMITS as { closedHolds: number }, "closedHolds", closedHolds)));
  afterAll(() => limit.restore());

  it("stays exact over any interleaving of holds, settlements, retries, voids, credits, renewals and drains", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
        const world: World = { account: emptyAccount(USER), ledger: new Map(), now: START, holds: new Map(), settles: new Map() };
        for (const next of steps) perform(world, next);
        expectCapturedOnce(world);
      }),
      { numRuns: 300 },
    );
  });
});
