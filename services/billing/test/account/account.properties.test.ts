import fc from "fast-check";
import { emptyAccount, type Account } from "../../src/account/account";
import { differences, recompute } from "../../src/ledger/comparison";
import { apply, type Command } from "../../src/account/command";
import type { LedgerRow } from "../../src/account/movement";

const USER = "user-1";
const MODELS = ["painter", "singer"];
const START = Date.parse("2026-01-01T00:00:00Z");
const DAY_MS = 86_400_000;

/** The account and its ledger as the service updates them: rows drain at some steps, and lookups get responses. */
interface World {
  account: Account;
  ledger: Map<string, LedgerRow>;
  now: number;
  /** Replies by execution. */
  holds: Map<string, string>;
  settles: Map<string, string>;
  /** All commands so far. */
  commands: Command[];
}

/** `append`: the process crashed between the two steps of a drain. `again`: an earlier command is repeated. */
type Step = { drain: true } | { append: true } | { daysLater: number } | { command: (at: Date) => Command } | { again: number };

const executionId = fc.integer({ min: 1, max: 8 }).map((number) => `e${number}`);
const key = fc.constantFrom("a", "b", "c");
const amount = fc.integer({ min: 0, max: 400 });
const reference = fc.integer({ min: 1, max: 6 }).map((number) => `r${number}`);

const holdStep = fc
  .record({
    executionId,
    items: fc.uniqueArray(
      fc.record({ key, model: fc.constantFrom(...MODELS), maxMillicredits: amount, alternativeTo: fc.constantFrom("", "", "a") }),
      { selector: (item) => item.key },
    ),
    maxActive: fc.integer({ min: 0, max: 4 }),
    maxMillicredits: fc.option(amount, { nil: undefined }),
  })
  .map((fields): Step => ({ command: (at) => ({ type: "hold", userId: USER, at, ...fields }) }));
const extendStep = fc
  .record({
    executionId,
    items: fc.uniqueArray(fc.record({ key: fc.constantFrom("a", "d", "e"), model: fc.constantFrom(...MODELS), maxMillicredits: amount }), {
      selector: (item) => item.key,
      minLength: 1,
    }),
    maxMillicredits: fc.option(amount, { nil: undefined }),
  })
  .map((fields): Step => ({ command: (at) => ({ type: "extend", userId: USER, at, ...fields }) }));
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
const setPlanStep = fc
  .record({ monthlyMillicredits: fc.integer({ min: 0, max: 2_000 }), reference, unlessSet: fc.boolean() })
  .map((fields): Step => ({
    command: (at) => ({ type: "setPlan", userId: USER, at, tier: "pro", trials: MODELS.map((model) => ({ model, runs: 2 })), ...fields }),
  }));
const renewStep = fc.constant<Step>({ command: (at) => ({ type: "renew", userId: USER, at }) });
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: holdStep, weight: 6 },
  { arbitrary: extendStep, weight: 4 },
  { arbitrary: settleStep, weight: 6 },
  { arbitrary: creditStep, weight: 2 },
  { arbitrary: setPlanStep, weight: 1 },
  { arbitrary: renewStep, weight: 1 },
  { arbitrary: fc.nat().map((again): Step => ({ again })), weight: 3 },
  { arbitrary: fc.constant<Step>({ append: true }), weight: 1 },
  { arbitrary: fc.constant<Step>({ drain: true }), weight: 3 },
  { arbitrary: fc.integer({ min: 1, max: 40 }).map((daysLater): Step => ({ daysLater })), weight: 1 },
);

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
const rowsOf = (world: World): LedgerRow[] =>
  [...new Map([...world.ledger, ...world.account.outbox.map((row): [string, LedgerRow] => [row.id, row])]).values()].sort(
    (one, other) => one.sequence - other.sequence,
  );

const decide = (world: World, command: Command): ReturnType<typeof apply> => {
  const knownRows = new Map<string, LedgerRow | null>();
  for (;;) {
    const transition = apply(world.account, { ...command, ledger: knownRows });
    if (transition.outcome.kind !== "needsLedger") return transition;
    for (const id of transition.outcome.ids) {
      expect(knownRows.has(id)).toBe(false);
      knownRows.set(id, world.ledger.get(id) ?? null);
    }
  }
};

/** Existing ledger rows stay unchanged. */
const append = (world: World): void => {
  for (const row of world.account.outbox) {
    const earlier = world.ledger.get(row.id);
    if (earlier) must(earlier === row, "a row never changes", earlier, row);
    else world.ledger.set(row.id, row);
  }
};
const drain = (world: World): void => {
  append(world);
  world.account = { ...world.account, outbox: [] };
};

/** A repeated call gets the first reply. Only the time changes the account. */
const expectSameAnswer = (world: World, command: Command, reply: unknown): void => {
  if (command.type !== "hold" && command.type !== "settle") return;
  const answers = command.type === "hold" ? world.holds : world.settles;
  const first = answers.get(command.executionId);
  if (first === undefined) answers.set(command.executionId, JSON.stringify(reply));
  else expect(JSON.stringify(reply)).toBe(first);
};

const must = (holds: boolean, what: string, ...values: unknown[]): void => {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(values)}`);
};

const expectSound = (world: World): void => {
  const { account } = world;
  const rows = rowsOf(world);
  const amounts = [account.plan, account.topUp, account.held, ...account.grants.map((grant) => grant.remaining)];
  must(
    amounts.every((value) => value >= 0),
    "nothing is negative",
    amounts,
  );
  const total = sum(rows.map((row) => row.millicredits));
  must(total === account.plan + account.topUp + account.held, "the ledger is available + held", total, amounts);
  const heldSum = sum(account.holds.flatMap((hold) => hold.items.map((item) => item.millicredits)));
  must(heldSum === account.held, "held is what the holds say", heldSum, account.held);
  for (const { model, remaining } of account.grants) {
    const runs = sum(rows.filter((row) => row.model === model).map((row) => row.runs));
    must(runs === remaining, "a grant is what its rows say", model, runs, remaining);
  }
  must(
    rows.every((row, index) => row.sequence === index + 1),
    "rows are numbered without gaps",
  );
};

/** Plan credits never exceed those of the current month: no credits remain after a month's end or in a hold. */
const expectMonthBound = (world: World): void => {
  const rows = rowsOf(world);
  const isStart = ({ id, kind }: LedgerRow): boolean => kind === "plan_renewal" && !id.includes(":credit:");
  const start = rows.findLastIndex(isStart);
  const renewals = rows.slice(Math.max(0, start)).filter((row) => row.kind === "plan_renewal");
  must(world.account.plan <= sum(renewals.map((row) => row.millicredits)), "no more plan credits than the month gave", world.account.plan);
};

/**
 * Each execution has at most one hold (besides extensions) and is closed at most once. All held credits are captured, released or still
 * held.
 */
const expectHeldOnce = (world: World): void => {
  const byExecution = new Map<string, LedgerRow[]>();
  for (const row of rowsOf(world))
    if (row.executionId) byExecution.set(row.executionId, [...(byExecution.get(row.executionId) ?? []), row]);
  for (const [id, rows] of byExecution) {
    const of = (kind: LedgerRow["kind"]): LedgerRow[] => rows.filter((row) => row.kind === kind);
    const heldSum = sum(of("hold").map((row) => row.movedMillicredits));
    const captured = -sum(of("capture").map((row) => row.millicredits));
    const released = sum(of("release").map((row) => row.movedMillicredits));
    const active = world.account.holds.some((hold) => hold.executionId === id);
    for (const kind of ["capture", "release"] as const) expect(of(kind).length).toBeLessThanOrEqual(1);
    expect(of("hold").filter((row) => !row.id.includes(":extend")).length).toBeLessThanOrEqual(1);
    expect(rows.filter((row) => row.closed)).toHaveLength(active ? 0 : 1);
    expect(captured + released).toBe(active ? 0 : heldSum);
    const [closing] = rows.filter((row) => row.closed);
    if (closing) expect(rows.slice(rows.indexOf(closing)).some((row) => row.kind === "hold")).toBe(false);
  }
};

/** The audit recomputes everything from the rows and must find no difference. */
const expectNothingToReport = ({ account, ledger }: World): void => {
  const totals = [...ledger.values()]
    .filter((row) => !account.outbox.some((waiting) => waiting.id === row.id))
    .map((row) => ({ ...row, model: row.model ?? null, rows: 1 }));
  expect(differences(account, recompute(totals, account.outbox))).toEqual([]);
};

/** An execution's captures are in the ledger exactly once and equal its settlement. */
const expectCapturedOnce = (world: World): void => {
  const captures = rowsOf(world).filter((row) => row.kind === "capture");
  expect(new Set(captures.map((row) => row.executionId)).size).toBe(captures.length);
  const answered = [...world.settles.values()].map((reply) => (JSON.parse(reply) as { capturedMillicredits: number }).capturedMillicredits);
  expect(-sum(captures.map((row) => row.millicredits)) + 0).toBe(sum(answered));
};

const perform = (world: World, next: Step): void => {
  if ("drain" in next) drain(world);
  else if ("append" in next) append(world);
  else if ("daysLater" in next) world.now += next.daysLater * DAY_MS;
  else {
    const earlier = "again" in next ? world.commands[next.again % Math.max(1, world.commands.length)] : undefined;
    if ("again" in next && !earlier) return;
    const command = "again" in next ? { ...earlier!, at: new Date(world.now) } : next.command(new Date(world.now));
    world.commands.push(command);
    const { account, outcome } = decide(world, command);
    world.account = account;
    if (outcome.kind === "done") expectSameAnswer(world, command, outcome.reply);
    const repeated = decide(world, command);
    expect(repeated.account).toBe(world.account);
    expect(repeated.outcome.kind).toBe(outcome.kind);
    if (outcome.kind === "done" && repeated.outcome.kind === "done") expect(repeated.outcome.reply).toEqual(outcome.reply);
  }
  expectSound(world);
  expectMonthBound(world);
};

it("stays exact over any interleaving of holds, extensions, settlements, cancellations, retries, voids, crashes, credits and renewals", () => {
  fc.assert(
    // The default size generates short lists, which rarely repeat an execution.
    fc.property(fc.array(step, { minLength: 20, maxLength: 80, size: "max" }), (steps) => {
      const world: World = {
        account: emptyAccount(USER),
        ledger: new Map(),
        now: START,
        holds: new Map(),
        settles: new Map(),
        commands: [],
      };
      for (const next of steps) perform(world, next);
      expectCapturedOnce(world);
      expectHeldOnce(world);
      expectNothingToReport(world);
    }),
    { numRuns: 240 },
  );
});
