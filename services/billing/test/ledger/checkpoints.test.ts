import { createBilling, type Billing } from "../../src/billing";
import { createAudit } from "../../src/ledger/audit";
import { createCheckpoints, newestOf } from "../../src/ledger/checkpoints";
import { logger, ownStore, type OwnStore } from "../support/database";

const USER = "user-1";
const OTHER = "user-2";
const deadline = (): number => Date.now() + 30_000;

let own: OwnStore;
let billing: Billing;
let now: Date;
const start = (): void => void (billing = createBilling({ store: own.store, logger, clock: () => now }));
beforeEach(async () => {
  own = await ownStore();
  start();
});
afterEach(async () => {
  await billing.stop();
  await own.stop();
});

const ledger = () => own.connection.collection("ledger");
const checkpoints = () => own.connection.collection("checkpoints");
const check = (full = false) => billing.checkLedger({ cursor: "", full }, deadline());
const write = async (): Promise<number> => (await billing.removeExpired("")).removed.checkpoints!;

/** All movements of a run at a time; some credits stay on hold. */
const moveAt = async (at: string, userId = USER): Promise<void> => {
  now = new Date(at);
  const items = [{ key: "a", model: "painter", maxMillicredits: 300 }];
  await billing.credit({ userId, credit: { kind: "topup", millicredits: 1_000 }, note: "", reference: `paid ${at}` }, deadline());
  await billing.credit({ userId, credit: { kind: "grant", model: "singer", runs: 2 }, note: "", reference: `given ${at}` }, deadline());
  await billing.hold({ userId, executionId: at, items, maxActive: 0 }, deadline());
  const captured = [{ key: "a", captureMillicredits: 120, consumeGrant: false }];
  await billing.settle({ userId, executionId: at, items: captured, captureAll: false }, deadline());
  await billing.hold({ userId, executionId: `${at} held`, items, maxActive: 0 }, deadline());
  // Stopping drains all rows, so that none is written after a test removes rows from the ledger.
  await billing.stop();
  start();
};
const lastRow = async (before: string): Promise<number> => {
  const [row] = await ledger()
    .find({ userId: USER, at: { $lt: new Date(before) } })
    .sort({ sequence: -1 })
    .limit(1)
    .toArray();
  return row!.sequence as number;
};

it("sums up rows once a month, in one checkpoint for each year, on top of the earlier years", async () => {
  for (const at of ["2024-03-01", "2024-12-31", "2025-06-01", "2025-12-20", "2026-01-02"]) await moveAt(at);
  now = new Date("2025-12-01");
  expect(await write()).toBe(2);
  expect((await checkpoints().findOne({ year: 2025 }))!.sequence).toBe(await lastRow("2025-06-02"));
  now = new Date("2025-12-31");
  expect(await write()).toBe(0);
  now = new Date("2026-01-08");
  expect(await write()).toBe(1);
  now = new Date("2026-02-01");
  expect(await write()).toBe(1);
  expect(await write()).toBe(0);
  const stored = await checkpoints().find().sort({ year: 1 }).toArray();
  expect(stored).toMatchObject([
    { userId: USER, year: 2024, sequence: await lastRow("2025-01-01") },
    { userId: USER, year: 2025, sequence: await lastRow("2026-01-01") },
    { userId: USER, year: 2026, sequence: await lastRow("2026-02-01") },
  ]);
  for (const { totals, sequence } of stored)
    expect((totals as { rows: number }[]).reduce((sum, total) => sum + total.rows, 0)).toBe(sequence);
  for (const full of [false, true]) expect(await check(full)).toMatchObject({ accounts: 1, mismatches: [] });
});

it("leaves rows out while they may be in transit", async () => {
  await moveAt("2025-12-30");
  now = new Date("2026-01-05");
  expect(await write()).toBe(0);
});

it("sums up a busy account in steps, several times a month, and goes on after a step that failed", async () => {
  for (const at of ["2025-03-01", "2025-03-02", "2025-03-03"]) await moveAt(at);
  now = new Date("2025-03-20");
  const sequence = await lastRow("2025-03-20");
  let steps = 0;
  const store = {
    ...own.store,
    advanceCheckpoint: (...step: Parameters<typeof own.store.advanceCheckpoint>) => {
      steps += 1;
      return steps === 3 ? Promise.reject(new Error("the database is unavailable")) : own.store.advanceCheckpoint(...step);
    },
  };
  const busy = createCheckpoints({ store, logger, clock: () => now, rowsAtOnce: 4 });
  await expect(busy.page("")).rejects.toThrow("the database is unavailable");
  expect(await checkpoints().findOne()).toMatchObject({ year: 2025, sequence: 8 });
  await Promise.all([busy.page(""), createCheckpoints({ store: own.store, logger, clock: () => now, rowsAtOnce: 4 }).page("")]);
  const stored = await checkpoints().find().toArray();
  expect(stored).toMatchObject([{ sequence: sequence - (sequence % 4) }]);
  for (const full of [false, true]) expect((await check(full)).mismatches).toEqual([]);
});

it("spares the check from reading rows before a checkpoint, and a full check reads them anyway", async () => {
  for (const at of ["2024-03-01", "2026-01-20"]) await moveAt(at);
  await moveAt("2024-04-01", OTHER);
  now = new Date("2026-01-22");
  expect(await write()).toBe(2);
  const { sequence } = (await checkpoints().findOne({ userId: USER }))!;
  // Rows covered by a checkpoint aren't read. The first row shows which users have rows.
  await ledger().deleteMany({ userId: USER, sequence: { $gt: 1, $lte: sequence as number } });
  expect(await check()).toMatchObject({ accounts: 2, mismatches: [] });
  const { mismatches } = await check(true);
  expect(new Set(mismatches.map(({ userId }) => userId))).toEqual(new Set([USER]));
  expect(mismatches.map(({ what }) => what)).toEqual(expect.arrayContaining(["checkpoint", "rows", "balance"]));
});

it("reads every row once in a full check, however many checkpoints there are", async () => {
  for (const at of ["2023-03-01", "2024-03-01", "2025-03-01", "2026-01-20"]) await moveAt(at);
  now = new Date("2026-01-22");
  expect(await write()).toBe(3);
  let rows = 0;
  const store = {
    ...own.store,
    totals: (ranges: Parameters<typeof own.store.totals>[0]) => {
      for (const { after = 0, sequence } of ranges) rows += sequence - after;
      return own.store.totals(ranges);
    },
  };
  expect(await createAudit({ store, clock: () => now }).check("", true)).toMatchObject({ accounts: 1, mismatches: [] });
  expect(rows).toBe(await ledger().countDocuments({ userId: USER }));
});

it.each<[string, boolean, () => Promise<unknown>, string[]]>([
  [
    "a checkpoint that was changed, at every check",
    false,
    () => checkpoints().updateOne({ "totals.kind": "topup" }, { $inc: { "totals.$.millicredits": 5 } }),
    ["balance"],
  ],
  [
    "a checkpoint that was changed, and that it is the checkpoint, at a full check",
    true,
    () => checkpoints().updateOne({ "totals.kind": "topup" }, { $inc: { "totals.$.millicredits": 5 } }),
    ["checkpoint"],
  ],
  [
    "a row of a past year that was changed, at a full check",
    true,
    () => ledger().updateOne({ kind: "capture", at: { $lt: new Date("2025-01-01") } }, { $inc: { millicredits: 50 } }),
    ["checkpoint", "balance", "held", "holds"],
  ],
  [
    "a row of a past year that is gone, at a full check",
    true,
    () => ledger().deleteOne({ kind: "grant", at: { $lt: new Date("2025-01-01") } }),
    ["checkpoint", "rows", "grant"],
  ],
  [
    "a row of this year that was changed, at every check",
    false,
    () => ledger().updateOne({ kind: "topup", at: { $gt: new Date("2026-01-01") } }, { $inc: { millicredits: 1 } }),
    ["balance"],
  ],
  [
    "an account that was changed, at every check",
    false,
    () => own.connection.collection<{ _id: string }>("accounts").updateOne({ _id: USER }, { $inc: { topUp: 1 } }),
    ["balance"],
  ],
])("finds %s, in one query and in steps", async (_, full, corrupt, expected) => {
  for (const at of ["2024-03-01", "2026-01-20"]) await moveAt(at);
  now = new Date("2026-01-22");
  await write();
  expect((await check(full)).mismatches).toEqual([]);
  await billing.stop();
  await corrupt();
  expect((await check(full)).mismatches.map(({ what }) => what)).toEqual(expected);
  const audit = createAudit({ store: own.store, clock: () => now, rowsAtOnce: 3 });
  const found: string[] = [];
  let cursor = "";
  do {
    const part = await audit.check(cursor, full, Date.now());
    found.push(...part.mismatches.map(({ what }) => what));
    cursor = part.nextCursor;
  } while (cursor);
  expect(found).toEqual(expected);
});

it("reads no rows of accounts whose month is summed up", async () => {
  for (const user of [USER, OTHER]) await moveAt("2025-12-20", user);
  let reads = 0;
  const store = {
    ...own.store,
    firstRowAfter: (...from: Parameters<typeof own.store.firstRowAfter>) => {
      reads += 1;
      return own.store.firstRowAfter(...from);
    },
  };
  const { page } = createCheckpoints({ store, logger, clock: () => now });
  const writeAt = async (at: string): Promise<{ steps: number; reads: number }> => {
    now = new Date(at);
    reads = 0;
    return { steps: (await page("")).removed, reads };
  };
  expect(await writeAt("2026-01-02")).toEqual({ steps: 2, reads: 2 });
  expect(await writeAt("2026-01-03")).toEqual({ steps: 0, reads: 0 });
  await moveAt("2025-12-30");
  expect(await writeAt("2026-01-04")).toEqual({ steps: 0, reads: 0 });
  // The rest of the year that ended is due a week later.
  expect(await writeAt("2026-01-08")).toEqual({ steps: 1, reads: 1 });
});

it("writes no checkpoint over missing rows", async () => {
  await moveAt("2024-03-01");
  await ledger().deleteOne({ userId: USER, kind: "release" });
  now = new Date("2026-02-01");
  expect(await write()).toBe(0);
});

it("counts no row twice that is summed up but still in its account", async () => {
  await moveAt("2024-03-01");
  const rows = await ledger().find({ userId: USER }).sort({ sequence: 1 }).toArray();
  await billing.stop();
  const rowsWithTextIds = rows.map(({ _id, ...row }) => ({ id: String(_id), ...row }));
  await own.connection.collection<{ _id: string }>("accounts").updateOne({ _id: USER }, { $set: { outbox: rowsWithTextIds } });
  now = new Date("2026-02-01");
  expect(await write()).toBe(1);
  for (const full of [false, true]) expect((await check(full)).mismatches).toEqual([]);
});

it("continues page by page over all accounts", async () => {
  for (const user of ["a", "b", "c"]) await moveAt("2024-03-01", user);
  now = new Date("2026-02-01");
  const { page } = createCheckpoints({ store: own.store, logger, clock: () => now, pageAccounts: 2 });
  expect(await page("")).toEqual({ removed: 2, next: "b" });
  expect(await page("b")).toEqual({ removed: 1, next: "" });
});

it("uses no checkpoint that is newer than its account, as after a restore", () => {
  const at = new Date(0);
  const [early, late] = [2024, 2025].map((year, index) => ({ userId: USER, year, sequence: (index + 1) * 10, totals: [], at }));
  expect(newestOf([late!, early!], new Map([[USER, 25]])).get(USER)).toBe(late);
  expect(newestOf([late!, early!], new Map([[USER, 15]])).get(USER)).toBe(early);
  expect(newestOf([late!, early!], new Map([[USER, 5]])).get(USER)).toBeUndefined();
});
