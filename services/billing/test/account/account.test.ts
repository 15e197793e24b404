import { type DomainError } from "@nodeloom/kernel";
import { emptyAccount, type Account, type Transition } from "../../src/account/account";
import { apply, type Command, type ReplyTo } from "../../src/account/command";
import { allocate, type HoldItem } from "../../src/account/allocate";
import { movementId, type LedgerRow } from "../../src/account/movement";
import { oneMonthAfter } from "../../src/account/plan";

const USER = "user-1";
const AT = new Date("2026-01-10T12:00:00Z");
const NOTHING_KNOWN: ReadonlyMap<string, LedgerRow | null> = new Map();

const item = (key: string, maxMillicredits: number, model = "painter"): HoldItem => ({ key, model, maxMillicredits });
const account = (part: Partial<Account>): Account => ({ ...emptyAccount(USER), ...part });

/** Answers every lookup with a missing row. */
const emptyLedger = { get: () => null } as unknown as ReadonlyMap<string, LedgerRow | null>;

const grant = (model: string, total: number, remaining: number) => ({ model, total, remaining });

const hold = (executionId: string, items: HoldItem[], maxActive = 0, ledger = emptyLedger): Command => ({
  type: "hold",
  userId: USER,
  at: AT,
  executionId,
  items,
  maxActive,
  ledger,
});
const settle = (executionId: string, captured: Record<string, number> = {}, captureAll = false, ledger = emptyLedger): Command => ({
  type: "settle",
  userId: USER,
  at: AT,
  executionId,
  items: Object.entries(captured).map(([key, captureMillicredits]) => ({
    key,
    captureMillicredits,
    consumeGrant: captureMillicredits > 0,
  })),
  captureAll,
  ledger,
});
const credit = (change: Extract<Command, { type: "credit" }>["credit"], reference = "r1", ledger = emptyLedger): Command => ({
  type: "credit",
  userId: USER,
  at: AT,
  credit: change,
  note: "",
  reference,
  ledger,
});
const setPlan = (reference: string, monthlyMillicredits: number, trials: { model: string; runs: number }[] = [], at = AT): Command => ({
  type: "setPlan",
  userId: USER,
  at,
  tier: "pro",
  monthlyMillicredits,
  trials,
  reference,
  ledger: emptyLedger,
});

const run = (start: Account, ...commands: Command[]): Account =>
  commands.reduce((current, command) => accept(current, command).account, start);
const accept = <C extends Command>(start: Account, command: C): { account: Account; reply: ReplyTo<C> } => {
  const { account: next, outcome } = apply(start, command);
  if (outcome.kind !== "done") throw outcome.kind === "refused" ? outcome.error : new Error("undecided");
  return { account: next, reply: outcome.reply };
};
const refusal = ({ account: next, outcome }: Transition<unknown>, before: Account): DomainError => {
  expect(next).toBe(before);
  if (outcome.kind !== "refused") throw new Error(`not refused: ${outcome.kind}`);
  return outcome.error;
};

describe("holding", () => {
  it("spends the trial grant, then plan credits, then top-up credits", () => {
    const start = account({ plan: 150, topUp: 500, grants: [{ model: "painter", total: 1, remaining: 1 }] });
    const { account: next, reply } = accept(start, hold("e1", [item("a", 100), item("b", 100), item("c", 100)]));
    expect(reply).toMatchObject({
      items: [
        { key: "a", source: "grant", millicredits: 0 },
        { key: "b", source: "credits", millicredits: 100, fromPlan: 100, fromTopUp: 0 },
        { key: "c", source: "credits", millicredits: 100, fromPlan: 50, fromTopUp: 50 },
      ],
    });
    expect(next).toMatchObject({ plan: 0, topUp: 450, held: 200, grants: [{ remaining: 0 }] });
  });

  it("holds all of a run's cost or nothing", () => {
    const start = account({ plan: 150 });
    const error = refusal(apply(start, hold("e1", [item("a", 100), item("b", 100)])), start);
    expect(error).toMatchObject({
      kind: "exhausted",
      reason: "INSUFFICIENT_CREDITS",
      metadata: { requiredCredits: 0.2, availableCredits: 0.15 },
    });
  });

  it("reports a used-up trial grant if credits were needed for this reason", () => {
    const start = account({ plan: 50, grants: [{ model: "painter", total: 3, remaining: 0 }] });
    expect(refusal(apply(start, hold("e1", [item("a", 100)])), start)).toMatchObject({
      reason: "grant_exhausted",
      metadata: { model: "painter" },
    });
    expect(refusal(apply(start, hold("e1", [item("a", 100, "other")])), start)).toMatchObject({ reason: "INSUFFICIENT_CREDITS" });
  });

  it.each<[string, Partial<Account>, HoldItem[], string | undefined]>([
    ["credits to the last thousandth", { plan: 60, topUp: 40 }, [item("a", 100)], undefined],
    ["one thousandth too little", { plan: 60, topUp: 39 }, [item("a", 100)], "INSUFFICIENT_CREDITS"],
    ["a model without a grant", { plan: 50, grants: [grant("singer", 3, 0)] }, [item("a", 100)], "INSUFFICIENT_CREDITS"],
    ["a grant that is used up, and credits enough", { plan: 100, grants: [grant("painter", 3, 0)] }, [item("a", 100)], undefined],
    ["a grant that is used up, and too few credits", { plan: 99, grants: [grant("painter", 3, 0)] }, [item("a", 100)], "grant_exhausted"],
    [
      "a grant for some of the items, and credits for the rest",
      { plan: 200, grants: [grant("painter", 3, 1)] },
      [item("a", 100), item("b", 100), item("c", 100)],
      undefined,
    ],
    [
      "a grant for some of the items, and too few credits for the rest",
      { plan: 199, grants: [grant("painter", 3, 1)] },
      [item("a", 100), item("b", 100), item("c", 100)],
      "grant_exhausted",
    ],
    [
      "two models, of which the one that has a grant is paid by it",
      { plan: 50, grants: [grant("painter", 1, 1)] },
      [item("a", 100), item("b", 100, "singer")],
      "INSUFFICIENT_CREDITS",
    ],
    [
      "two models, of which one has used up its grant",
      { plan: 150, grants: [grant("painter", 1, 0)] },
      [item("a", 100), item("b", 100, "singer")],
      "grant_exhausted",
    ],
    [
      "a used up grant of a model that costs nothing",
      { grants: [grant("painter", 1, 0)] },
      [item("a", 0), item("b", 1, "singer")],
      "INSUFFICIENT_CREDITS",
    ],
    ["nothing to pay, and no credits", {}, [item("a", 0)], undefined],
  ])("decides on %s", (_, part, items, reason) => {
    const start = account(part);
    const quote = allocate(start, items);
    expect(quote.sufficient).toBe(reason === undefined);
    if (reason === undefined) expect(run(start, hold("e1", items)).held).toBe(quote.required);
    else expect(refusal(apply(start, hold("e1", items)), start)).toMatchObject({ kind: "exhausted", reason });
  });

  it.each<[string, number, Partial<Account>, number, boolean]>([
    // Title, maxMillicredits, account, price per item (of two), allowed.
    ["exactly what it may cost", 200, { plan: 500 }, 100, true],
    ["a thousandth less", 199, { plan: 500 }, 100, false],
    ["nothing, where a grant pays", 0, { grants: [grant("painter", 2, 2)] }, 100, true],
    ["half, where a grant pays the other half", 100, { plan: 500, grants: [grant("painter", 2, 1)] }, 100, true],
    ["less than half, where a grant pays the other half", 99, { plan: 500, grants: [grant("painter", 2, 1)] }, 100, false],
    ["nothing, for what is free", 0, {}, 0, true],
  ])("lets a run cost %s", (_, maxMillicredits, part, price, allowed) => {
    const start = account(part);
    const command = { ...hold("e1", [item("a", price), item("b", price)]), maxMillicredits };
    if (allowed) return expect(run(start, command).holds).toHaveLength(1);
    const error = refusal(apply(start, command), start);
    expect(error).toMatchObject({ reason: "INSUFFICIENT_CREDITS", metadata: { maxCredits: maxMillicredits / 1_000 } });
  });

  it("doesn't use a trial grant for a free call", () => {
    const start = account({ grants: [{ model: "painter", total: 1, remaining: 1 }] });
    expect(run(start, hold("e1", [item("a", 0)])).grants).toEqual(start.grants);
  });

  it("checks concurrency before credits, and also counts runs without a hold", () => {
    const start = run(account({}), hold("e1", [], 1));
    const error = refusal(apply(start, hold("e2", [item("a", 100)], 1)), start);
    expect(error).toMatchObject({ kind: "exhausted", reason: "CONCURRENCY_LIMIT_EXCEEDED", metadata: { limit: 1, retryAfter: 1 } });
    expect(run(start, hold("e2", [], 0)).holds).toHaveLength(2);
  });

  it("returns the first reply to a repeated call, while held and after closing, and never reopens", () => {
    const items = [item("a", 100)];
    const first = accept(account({ plan: 250 }), hold("e1", items, 1));
    expect(accept(first.account, hold("e1", items, 1))).toEqual(first);
    const closed = run(first.account, settle("e1", { a: 40 }));
    const again = accept(closed, hold("e1", items, 1));
    expect(again.account).toBe(closed);
    expect(again.reply).toMatchObject({ heldMillicredits: 100, items: [{ key: "a", source: "credits", millicredits: 100 }] });
  });

  it("agrees with the quote", () => {
    const start = account({ plan: 150, grants: [{ model: "painter", total: 1, remaining: 1 }] });
    const items = [item("a", 100), item("b", 100)];
    const quote = allocate(start, items);
    expect(quote).toMatchObject({ sufficient: true, required: 100 });
    expect(accept(start, hold("e1", items)).reply).toMatchObject({ items: quote.items, heldMillicredits: quote.required });
    expect(allocate(start, [...items, item("c", 100)])).toMatchObject({ sufficient: false, required: 200 });
  });
});

describe("settling", () => {
  const start = account({ plan: 150, topUp: 100, grants: [{ model: "painter", total: 1, remaining: 1 }] });
  const heldAccount = run(start, hold("e1", [item("g", 10), item("a", 100), item("b", 100)]));

  it("captures at most the hold and releases the rest to its source", () => {
    const { account: next, reply } = accept(heldAccount, settle("e1", { a: 1_000, b: 60 }));
    expect(reply).toMatchObject({
      capturedMillicredits: 160,
      releasedMillicredits: 40,
      captured: [{ key: "a" }, { key: "b", millicredits: 60 }],
    });
    expect(next).toMatchObject({ plan: 0, topUp: 90, held: 0, holds: [], grants: [{ remaining: 1 }] });
  });

  it("uses a grant only on request", () => {
    expect(run(heldAccount, settle("e1", { g: 1 })).grants).toEqual([{ model: "painter", total: 1, remaining: 0 }]);
    expect(run(heldAccount, settle("e1")).grants).toEqual(start.grants);
  });

  it("captures the whole hold of a cancelled run, including grants", () => {
    const { account: next, reply } = accept(heldAccount, settle("e1", {}, true));
    expect(reply).toMatchObject({ capturedMillicredits: 200, releasedMillicredits: 0 });
    expect(reply).toHaveProperty("captured.length", 3);
    expect(next).toMatchObject({ plan: 0, topUp: 50, held: 0, grants: [{ remaining: 0 }] });
  });

  it("happens once: a repeated call, however different, gets the first reply", () => {
    const first = accept(heldAccount, settle("e1", { a: 70 }));
    const again = accept(first.account, settle("e1", {}, true));
    expect(again.account).toBe(first.account);
    expect(again.reply).toEqual(first.reply);
  });

  it("voids a run that was never held, so that a late hold is rejected", () => {
    const { account: next, reply } = accept(start, settle("e9"));
    expect(reply).toEqual({ capturedMillicredits: 0, releasedMillicredits: 0, captured: [] });
    expect(refusal(apply(next, hold("e9", [item("a", 1)])), next)).toMatchObject({ kind: "precondition", reason: "PRECONDITION_FAILED" });
    expect(accept(next, settle("e9")).account).toBe(next);
  });

  it("reads from the ledger how an execution was closed", () => {
    const closed = run(heldAccount, settle("e1", { a: 70 }), settle("e2"), settle("e3"));
    const drained = { ...closed, outbox: [] };
    const ids = [movementId(USER, "capture", "e1"), movementId(USER, "release", "e1")];
    expect(apply(drained, hold("e1", [], 0, NOTHING_KNOWN)).outcome).toEqual({ kind: "needsLedger", ids });
    const ledger = new Map(closed.outbox.map((row) => [row.id, row]));
    expect(accept(drained, settle("e1", {}, true, ledger)).reply).toMatchObject({ capturedMillicredits: 70, releasedMillicredits: 130 });
    expect(accept(drained, hold("e1", [], 0, ledger)).reply).toMatchObject({ heldMillicredits: 200 });
  });
});

describe("plans and credits", () => {
  it("replaces the rest of the plan, and gives each trial grant once per account", () => {
    const trials = [{ model: "painter", runs: 3 }];
    const first = run(account({ topUp: 5 }), setPlan("approved", 2_000, trials));
    expect(first).toMatchObject({
      plan: 2_000,
      topUp: 5,
      tier: "pro",
      grants: [{ total: 3, remaining: 3 }],
      renewsAt: new Date("2026-02-10T12:00:00Z"),
    });
    const used = run(first, hold("e1", [item("a", 100), item("b", 300, "other")]));
    const changed = run(used, setPlan("upgraded", 9_000, trials));
    expect(changed).toMatchObject({ plan: 9_000, held: 300, grants: [{ total: 3, remaining: 2 }] });
    expect(changed.outbox.slice(-2)).toMatchObject([
      { kind: "plan_expiry", millicredits: -1_700 },
      { kind: "plan_renewal", millicredits: 9_000 },
    ]);
    expect(accept(changed, setPlan("approved", 2_000, trials)).account).toBe(changed);
  });

  it("starts no new month if an unchanged plan is set again, but gives new trial grants", () => {
    const first = run(account({}), setPlan("approved", 2_000));
    const used = run(first, hold("e1", [item("a", 500)]));
    const again = (reference: string, monthly: number, trials: { model: string; runs: number }[] = []): Command =>
      ({ ...setPlan(reference, monthly, trials), unlessSet: true }) as Command;
    expect(accept(used, again("repeated", 2_000)).account).toBe(used);
    expect(run(used, again("new model", 2_000, [{ model: "painter", runs: 3 }]))).toMatchObject({
      plan: 1_500,
      renewsAt: first.renewsAt,
      grants: [{ model: "painter", remaining: 3 }],
    });
    expect(run(used, again("interrupted", 9_000))).toMatchObject({ plan: 9_000, held: 500 });
    expect(run(account({}), again("never begun", 2_000))).toMatchObject({ plan: 2_000, tier: "pro" });
  });

  it("expires plan credits held during a change of the plan when they are released", () => {
    const heldAccount = run(account({ topUp: 50 }), setPlan("approved", 2_000), hold("e1", [item("a", 2_020)]), setPlan("lowered", 100));
    expect(heldAccount).toMatchObject({ plan: 100, topUp: 30, held: 2_020 });
    const released = run(heldAccount, settle("e1", { a: 20 }));
    expect(released).toMatchObject({ plan: 100, topUp: 50, held: 0 });
    expect(released.outbox.slice(-3)).toMatchObject([
      { kind: "capture", millicredits: -20 },
      { kind: "release", movedMillicredits: 2_000 },
      { kind: "plan_expiry", millicredits: -1_980, executionId: "e1" },
    ]);
  });

  it("adds the trial grant to runs that an administrator gave before", () => {
    const start = run(
      account({}),
      credit({ kind: "grant", model: "painter", runs: 2 }),
      setPlan("approved", 0, [{ model: "painter", runs: 3 }]),
    );
    expect(start.grants).toEqual([{ model: "painter", total: 5, remaining: 5 }]);
  });

  it("applies a tier's changed credits from the next renewal on, to the tier's accounts with plan credits", () => {
    const change = (tier: string): Command => ({ type: "setMonthlyCredits", userId: USER, at: AT, tier, monthlyMillicredits: 5_000 });
    const start = run(account({}), setPlan("approved", 2_000));
    const changed = run(start, change("pro"));
    expect(changed).toEqual({ ...start, monthlyMillicredits: 5_000 });
    expect(accept(changed, change("pro")).account).toBe(changed);
    expect(run(changed, { ...hold("e1", [item("a", 500)]), at: new Date("2026-02-10T12:00:00Z") }).plan).toBe(4_500);
    expect(accept(start, change("business")).account).toBe(start);
    const without = run(account({}), setPlan("not approved", 0));
    expect(accept(without, change("pro")).account).toBe(without);
  });

  it("renews the plan automatically after its month, once however many months have passed", () => {
    const start = run(account({}), setPlan("approved", 2_000));
    const late = new Date("2026-05-01T00:00:00Z");
    const renewed = run(start, { ...hold("e1", [item("a", 500)]), at: late });
    expect(renewed).toMatchObject({ plan: 1_500, held: 500, renewsAt: new Date("2026-05-10T12:00:00Z") });
    expect(renewed.outbox.filter((row) => row.kind === "plan_renewal")).toHaveLength(2);
  });

  it.each([
    ["2026-01-10T00:00:00Z", "2026-02-10T00:00:00Z"],
    ["2026-01-31T08:00:00Z", "2026-02-28T08:00:00Z"],
    ["2028-01-30T08:00:00Z", "2028-02-29T08:00:00Z"],
    ["2026-12-31T23:59:59Z", "2027-01-31T23:59:59Z"],
  ])("ends the month that starts %s at %s", (from, to) => {
    expect(oneMonthAfter(new Date(from))).toEqual(new Date(to));
  });

  it.each([
    ["31", "2026-01-31T08:00:00Z", ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]],
    ["30", "2027-12-30T08:00:00Z", ["2028-01-30", "2028-02-29", "2028-03-30", "2028-04-30"]],
  ])("renews a plan that began on day %s of a month on that day again after a shorter month", (_day, began, days) => {
    let renewed = run(account({}), { ...setPlan("approved", 2_000), at: new Date(began) } as Command);
    for (const [index, day] of days.entries()) {
      expect(renewed.renewsAt).toEqual(new Date(`${day}T08:00:00Z`));
      renewed = run(renewed, { type: "renew", userId: USER, at: renewed.renewsAt! });
      expect(renewed.period).toBe(index + 2);
    }
    // Skipped months have no effect.
    const late = run(account({}), { ...setPlan("approved", 2_000), at: new Date(began) } as Command, {
      type: "renew",
      userId: USER,
      at: new Date(`${days[2]!}T08:00:00Z`),
    });
    expect(late.renewsAt).toEqual(new Date(`${days[3]!}T08:00:00Z`));
  });

  it("keeps the renewal day of accounts from before the day was stored", () => {
    const upToDate = run(account({}), setPlan("approved", 2_000));
    const { renewalDay: _forgotten, ...older } = upToDate;
    const renewed = run({ ...emptyAccount(USER), ...older }, { type: "renew", userId: USER, at: upToDate.renewsAt! });
    expect(renewed.renewsAt).toEqual(new Date("2026-03-10T12:00:00Z"));
  });

  it("never lets an adjustment take more than the balance", () => {
    const start = account({ plan: 10, topUp: 5, held: 100 });
    expect(run(start, credit({ kind: "adjust", millicredits: -12 }))).toMatchObject({ plan: 0, topUp: 3, held: 100 });
    expect(refusal(apply(start, credit({ kind: "adjust", millicredits: -16 })), start)).toMatchObject({
      kind: "invalid",
      reason: "INVALID_REQUEST",
    });
  });

  it("applies a reference once, and rejects it for another movement", () => {
    const start = run(account({}), credit({ kind: "topup", millicredits: 10 }));
    expect(accept(start, credit({ kind: "topup", millicredits: 10 })).account).toBe(start);
    expect(refusal(apply(start, credit({ kind: "topup", millicredits: 11 })), start)).toMatchObject({ reason: "IDEMPOTENCY_KEY_REUSED" });
    for (const kind of ["plan", "adjust"] as const)
      expect(refusal(apply(start, credit({ kind, millicredits: 10 })), start)).toMatchObject({ reason: "IDEMPOTENCY_KEY_REUSED" });
    expect(run(start, credit({ kind: "topup", millicredits: 10 }, "r2")).topUp).toBe(20);
    expect(apply({ ...start, outbox: [] }, credit({ kind: "topup", millicredits: 10 }, "r1", NOTHING_KNOWN)).outcome.kind).toBe(
      "needsLedger",
    );
  });
});

it("rejects a tier of an earlier revision of the user, and accepts the same revision again", () => {
  const ofRevision = (reference: string, monthly: number, userRevision: number) =>
    ({ ...setPlan(reference, monthly), userRevision }) as Command;
  const latest = run(account({}), ofRevision("pro", 2_000, 5), ofRevision("business", 10_000, 7));
  expect(refusal(apply(latest, ofRevision("late", 2_000, 6)), latest)).toMatchObject({ reason: "PRECONDITION_FAILED" });
  expect(run(latest, ofRevision("again", 10_000, 7)).plan).toBe(10_000);
  expect(run(latest, setPlan("unknown", 500)).userRevision).toBe(7);
});

it("gives different movements different ids, whatever their parts contain", () => {
  const ids = [
    movementId("u", "topup", "a", "b"),
    movementId("u", "topup", "a:b"),
    movementId("u:topup", "topup", "b"),
    movementId("u", "adjust", "a", "b"),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});
