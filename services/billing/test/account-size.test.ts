import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import fc from "fast-check";
import { mongo } from "mongoose";
import { emptyAccount, type Account } from "../src/account/account";
import { apply, type Command } from "../src/account/command";
import { bytesOf } from "../src/account/size";
import { arranged, changes } from "../src/account-store";
import { createBilling, type Billing } from "../src/billing";
import { BILLING_LIMITS } from "../src/limits";
import type { BillingStore } from "../src/store";
import { logger, ownStore, type OwnStore } from "./support/database";

/** No account's document is ever above `accountBytes`, 8 MB, and a change writes only what it changes. */

const { calculateObjectSize } = mongo.BSON;
const CALLS = 1_000;
/** Scale of the limits in the test that reaches them again and again. */
const SCALE = 1 / 5;
const PRICE = 10;
const WAVES = 4;
const RUNS_PER_WAVE = 20;
const FUNDS = WAVES * RUNS_PER_WAVE * CALLS * PRICE;
const at = new Date();

let own: OwnStore;
let userId: string;
beforeAll(async () => {
  own = await ownStore();
});
afterAll(() => own.stop());
beforeEach(() => {
  userId = `user-${randomUUID()}`;
});

const until = (ms = 60_000): number => Date.now() + ms;
/** Calls with keys of a usual length. */
const calls = (count: number, key = "pictures/portrait:") =>
  Array.from({ length: count }, (_, index) => ({ key: `${key}${index}`, model: "sandbox-image", maxMillicredits: PRICE }));
const hold = (billing: Billing, executionId: string, items = calls(CALLS), ms?: number) =>
  billing.hold({ userId, executionId, items, maxActive: 0 }, until(ms));
const settle = (billing: Billing, executionId: string, ms?: number) =>
  billing.settle({ userId, executionId, items: [], captureAll: true }, until(ms));
const fund = (billing: Billing, millicredits: number) =>
  billing.credit({ userId, credit: { kind: "topup", millicredits }, note: "", reference: "paid" }, until());

const storedBytes = async (): Promise<number> => {
  const document = await own.connection.collection("accounts").findOne({ _id: userId as never });
  return calculateObjectSize(document!);
};

it("estimates at least the stored size of any value", () => {
  const text = fc.string({ unit: "binary" });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(text, fc.integer(), fc.double(), fc.boolean(), fc.date(), fc.constant(null), tie("list"), tie("record")),
    list: fc.array(tie("value"), { maxLength: 12 }),
    record: fc.dictionary(
      text.filter((name) => !name.includes("\0")),
      tie("value"),
      { maxKeys: 6 },
    ),
  }));
  fc.assert(fc.property(value, (member) => expect(bytesOf({ member })).toBeGreaterThanOrEqual(calculateObjectSize({ member }))));
});

it("keeps the document within its limit while the ledger is unavailable, answers 503, and loses nothing", async () => {
  const limits = BILLING_LIMITS as Record<"holdBytes" | "outboxBytes" | "accountBytes", number>;
  const most = limits.accountBytes * SCALE;
  const bounds = (["holdBytes", "outboxBytes", "accountBytes"] as const).map((name) =>
    jest.replaceProperty(limits, name, limits[name] * SCALE),
  );
  let isReachable = false;
  let count = 0;
  const appendRows: BillingStore["appendRows"] = (rows) =>
    isReachable ? own.store.appendRows(rows) : Promise.reject(new Error("the ledger is unavailable"));
  // Every third acknowledgement of a write is lost.
  const commit: BillingStore["commit"] = async (before, after) => {
    const isWritten = await own.store.commit(before, after);
    if ((count += 1) % 3 === 0) throw new Error("lost");
    return isWritten;
  };
  const processes = [0, 1].map(() => createBilling({ store: { ...own.store, appendRows, commit }, logger })) as [Billing, Billing];
  await fund(processes[0], FUNDS * SCALE);

  const runs = Array.from({ length: WAVES * RUNS_PER_WAVE }, (_, index) => `run-${index}`);
  const refusals: unknown[] = [];
  const closed = new Set<string>();
  const largest = { bytes: 0 };
  const carryOut = async (wave: readonly string[], ms: number): Promise<void> => {
    const attempt = async (run: string, index: number): Promise<void> => {
      await hold(processes[index % 2]!, run, calls(CALLS * SCALE), ms);
      await settle(processes[(index + 1) % 2]!, run, ms);
      closed.add(run);
    };
    await Promise.all(wave.map((run, index) => attempt(run, index).catch((error: unknown) => refusals.push(error))));
    largest.bytes = Math.max(largest.bytes, await storedBytes());
  };
  for (let wave = 0; wave < WAVES; wave += 1) await carryOut(runs.slice(wave * RUNS_PER_WAVE, (wave + 1) * RUNS_PER_WAVE), 500);
  expect(refusals.length).toBeGreaterThan(0);
  for (const error of refusals) {
    expect(error).toBeInstanceOf(DomainError);
    expect(["SERVICE_UNAVAILABLE", "CONCURRENCY_LIMIT_EXCEEDED"]).toContain((error as DomainError).reason);
  }
  expect(refusals.map((error) => (error as DomainError).message)).toContain(
    "the account's movements can't be written to the ledger at the moment: retry",
  );

  isReachable = true;
  for (let rest = runs; rest.length > 0; rest = runs.filter((run) => !closed.has(run)))
    await carryOut(rest.slice(0, RUNS_PER_WAVE), 60_000);
  expect(largest.bytes).toBeGreaterThan(limits.outboxBytes);
  expect(largest.bytes).toBeLessThan(most);
  await Promise.all(processes.map((one) => one.stop()));
  const steady = createBilling({ store: own.store, logger });
  expect(await steady.account({ userId })).toMatchObject({ topUp: 0, held: 0, holds: [] });
  expect((await steady.checkLedger({ cursor: "" }, until())).mismatches).toEqual([]);
  for (const bound of bounds) bound.restore();
});

it("commits what fits, and continues when the outbox is empty, if closings share a write", async () => {
  const billing = createBilling({ store: own.store, logger });
  await fund(billing, FUNDS);
  const runs = Array.from({ length: 10 }, (_, index) => `run-${index}`);
  for (const run of runs) await hold(billing, run);
  const most = (await storedBytes()) * 1.25;
  const bound = jest.replaceProperty(BILLING_LIMITS as { accountBytes: number }, "accountBytes", most);
  const again = runs.map((run) => `${run}-again`);
  // In one batch: each closing adds a row to the outbox, and each new hold takes the place of a closed one.
  const replies = runs.flatMap((run, index) => [settle(billing, run), hold(billing, again[index]!), settle(billing, again[index]!)]);
  await Promise.all(replies);
  expect(await storedBytes()).toBeLessThan(most);
  expect(await billing.account({ userId })).toMatchObject({ topUp: FUNDS - 20 * CALLS * PRICE, held: 0, holds: [] });
  bound.restore();
  await billing.stop();
});

it("settles every run of an account whose holds are as large as allowed", async () => {
  const billing = createBilling({ store: own.store, logger });
  await fund(billing, FUNDS);
  const long = calls(CALLS, "w".repeat(400));
  const heldRuns: string[] = [];
  let refusal: unknown;
  while (!refusal) {
    const run = `run-${heldRuns.length}`;
    await hold(billing, run, long).then(
      () => heldRuns.push(run),
      (error: unknown) => (refusal = error),
    );
  }
  expect(refusal).toMatchObject({ reason: "CONCURRENCY_LIMIT_EXCEEDED" });
  expect(heldRuns.length).toBeGreaterThan(4);
  await Promise.all(heldRuns.map((run) => settle(billing, run)));
  expect(await billing.account({ userId })).toMatchObject({ held: 0, holds: [] });
  await billing.stop();
});

it("refuses a run that alone needs more space than an account has, and says what to do", async () => {
  const billing = createBilling({ store: own.store, logger });
  await fund(billing, FUNDS);
  await expect(hold(billing, "huge", calls(BILLING_LIMITS.itemsPerHold, "語".repeat(400)))).rejects.toMatchObject({
    reason: "INVALID_REQUEST",
    message: expect.stringContaining("send fewer calls, or shorter keys") as string,
  });
  expect((await billing.account({ userId })).holds).toEqual([]);
  await billing.stop();
});

it("writes a hundredth of the document when some of a thousand holds open and others close", async () => {
  const step = (account: Account, command: Parameters<typeof apply>[1]): Account => {
    const { account: next, outcome } = apply(account, { ledger: { get: () => null } as never, ...command });
    expect(outcome.kind).toBe("done");
    return next;
  };
  const common = { userId, at };
  const opening = (executionId: string) => ({ ...common, type: "hold", executionId, items: calls(4), maxActive: 0 }) as const;
  const closing = (executionId: string): Command => ({ ...common, type: "settle", executionId, items: [], captureAll: true });
  const credit = { kind: "topup", millicredits: FUNDS } as const;
  let before = step(emptyAccount(userId), { ...common, type: "credit", credit, note: "", reference: "paid" });
  for (let index = 0; index < 1_000; index += 1) before = step(before, opening(`run-${index}`));
  before = { ...before, revision: 1, outbox: [] };
  await own.store.commit({ ...before, revision: 0 }, before);

  let after = before;
  for (const run of ["run-500", "run-7"]) after = step(after, closing(run));
  for (const run of ["new-1", "new-2", "new-3"]) after = step(after, opening(run));
  after = arranged(before, after);
  const update = changes(before, after);
  expect(calculateObjectSize(update)).toBeLessThan((await storedBytes()) / 100);
  expect(await own.store.commit(before, after)).toBe(true);
  expect((await own.store.load(userId))!.holds).toEqual(after.holds);
});
