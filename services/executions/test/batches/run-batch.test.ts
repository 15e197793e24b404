import { randomUUID } from "node:crypto";
import { DomainError, executionNotFound, unavailable } from "@nodeloom/kernel";
import { createLogger } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import { beginsNoMore, type BatchRecord, type BatchRow, BATCH_COMPLETED } from "../../src/run/batch";
import { isOutOfBudget, OUT_OF_MAX_CREDITS } from "../../src/run/batch-reasons";
import type { ExecutionView } from "../../src/run/record";
import { createBeginItem } from "../../src/batches/begin-item";
import { createRunBatch, type RunBatchOptions } from "../../src/batches/run-batch";
import { createOrders } from "../../src/batches/orders";
import { itemExecutionId } from "../../src/batches/item";
import { createOutageOf } from "../../src/batches/outages";
import { batchMessage } from "../../src/batches/view";
import { rowId } from "../../src/record/batches";
import type { Stores } from "../../src/record/stores";
import { TIMING } from "../../src/run/timing";
import { eventually } from "../../../../test-support/eventually";
import { newRecord, openStore } from "../support";
import { localChannel } from "../support/local-channel";

/** Runs batches with the real store. The test simulates their runs, which don't depend on the process that runs the batch. */

const PRICE = 10;
let stores: Stores;
let stop: () => Promise<void>;
beforeAll(async () => void ({ stores, stop } = await openStore()));
afterAll(() => stop());

interface Play {
  /** Cost per item. */
  cost?: (index: number) => number;
  ends?: (index: number) => "completed" | "failed";
  /** Returns the error of an item's start; undefined for success. */
  refuses?: (index: number, attempt: number) => DomainError | undefined;
  /** True if runs end only on the test's command. */
  held?: boolean;
}

/** Runs of a test, one per id. */
const createRuns = ({ cost = () => PRICE, ends = () => "completed", refuses = () => undefined, held = false }: Play = {}) => {
  const channel = localChannel();
  const rowsById = new Map<string, ExecutionView>();
  const attempts = new Map<number, number>();
  const limits: (number | undefined)[] = [];
  const keys: string[] = [];
  let most = 0;
  const isOpen = ({ status }: ExecutionView): boolean => status === "processing";

  const end = async (row: ExecutionView, status: "completed" | "failed" | "cancelled"): Promise<void> => {
    const { index, batchId } = row;
    const millicredits = status === "cancelled" ? 0 : cost(index!);
    const endedRow = { ...row, status, millicredits };
    rowsById.set(row._id, endedRow);
    // An outbox can deliver a message twice.
    await stores.batches.endItem(batchId!, { index: index!, status, millicredits });
    await stores.batches.endItem(batchId!, { index: index!, status, millicredits });
    channel.publish(row._id, { type: "settled", at: Date.now(), data: {} });
  };

  return {
    channel,
    known: rowsById,
    limits,
    keys,
    end,
    mostAtOnce: () => most,
    runs: {
      run: async ({ executionId, batch, maxMillicredits, runner }: executions.RunRequest) => {
        const { index, batchId } = batch!;
        const attempt = (attempts.get(index) ?? 0) + 1;
        attempts.set(index, attempt);
        const refusal = refuses(index, attempt);
        if (refusal) throw refusal;
        const earlier = rowsById.get(executionId);
        if (earlier) return { row: earlier, isReplay: true };
        limits.push(maxMillicredits);
        keys.push(runner!.keyId);
        const row = { _id: executionId, status: "processing", index, batchId, millicredits: 0, error: null } as unknown as ExecutionView;
        rowsById.set(executionId, row);
        most = Math.max(most, [...rowsById.values()].filter(isOpen).length);
        if (!held) setTimeout(() => void end(row, ends(index)).catch(() => undefined), 1 + (index % 5));
        return { row, isReplay: false };
      },
    },
    cancellation: {
      cancel: async (executionId: string) => {
        const row = rowsById.get(executionId);
        if (!row) throw executionNotFound();
        if (isOpen(row)) await end(row, "cancelled");
        return "cancel_requested";
      },
    },
  };
};

const place = async (
  total: number,
  part: Partial<BatchRecord> = {},
  most = PRICE,
  grantedOf: (index: number) => number = () => 0,
): Promise<string> => {
  const now = new Date();
  const record: BatchRecord = {
    ...{
      _id: randomUUID(),
      userId: randomUUID(),
      status: "running",
      reason: null,
      target: { $case: "workflowSlug", value: "flow" },
      version: "",
    },
    runner: executions.Runner.fromPartial({ concurrency: 20 }),
    ...{ total, next: 0, again: [], underWay: [], counts: { completed: 0, failed: 0, cancelled: 0 }, spent: 0, committed: 0 },
    ...{ price: { estimated: total * PRICE, isExact: true }, isPlaceless: false, concurrency: 0, stopsOnError: false, itemWebhooks: false },
    ...{ metadata: [], webhook: null, createdAt: now, finishedAt: null, isCarried: true },
    ...part,
  };
  const { _id: id } = record;
  await stores.batches.insert(record);
  const rows = Array.from({ length: total }, (_, index): BatchRow => {
    const input = { json: JSON.stringify({ inputsJson: "{}", settingsJson: "" }) };
    return { _id: rowId(id, index), batchId: id, index, input, price: PRICE, most, granted: grantedOf(index) };
  });
  await stores.batches.insertRows(rows);
  return id;
};

const PASSED = { passed: true, millicredits: PRICE, durationMs: 1 };

const carrier = (
  { runs, cancellation, channel }: ReturnType<typeof createRuns>,
  outageOf: RunBatchOptions["outageOf"] = () => Promise.resolve(undefined),
) =>
  createRunBatch({
    stores,
    beginItem: createBeginItem({ stores, runs: runs as never, logger: createLogger("test", "silent") }),
    cancellation,
    channel,
    currentRunner: ({ runner }) => Promise.resolve(runner),
    outageOf,
    measuring: { measure: () => Promise.resolve(true), cancel: () => Promise.resolve() },
    judging: { atEnd: ({ test, total }) => Promise.resolve(test && Array.from({ length: total }, () => PASSED)) },
  });

const batchOf = async (id: string): Promise<BatchRecord> => (await stores.batches.find(id))!;
const never = new AbortController().signal;

it("runs every item once, within half of the tier's places, and counts their cost", async () => {
  const played = createRuns({ cost: (index) => index % PRICE, ends: (index) => (index % 3 === 0 ? "failed" : "completed") });
  const id = await place(60);
  expect(await carrier(played)(id, never)).toBe("over");
  const spentSum = Array.from({ length: 60 }, (_, index) => index % PRICE).reduce((sum, cost) => sum + cost, 0);
  expect(await batchOf(id)).toMatchObject({
    status: "completed",
    counts: { completed: 40, failed: 20, cancelled: 0 },
    ...{ spent: spentSum, committed: spentSum, underWay: [], again: [] },
  });
  expect(played.known.size).toBe(60);
  expect(played.mostAtOnce()).toBeLessThanOrEqual(10);
});

it("runs tests after the runs that they are compared with, and stores their outcomes", async () => {
  const played = createRuns({ held: true });
  const [compared, id] = [randomUUID(), randomUUID()];
  const test = { slug: "flow", tests: { json: "[]" }, digest: "d" };
  await place(1, { _id: compared, test: { ...test, of: id } });
  await place(1, { _id: id, test: { ...test, against: compared } });
  const carryings = [carrier(played)(id, never), carrier(played)(compared, never)];
  const startedOf = (batchId: string) => played.known.get(itemExecutionId(batchId, 0));
  await eventually(() => Promise.resolve(startedOf(compared) !== undefined));
  expect(startedOf(id)).toBeUndefined();
  await played.end(startedOf(compared)!, "completed");
  await eventually(() => Promise.resolve(startedOf(id) !== undefined));
  await played.end(startedOf(id)!, "completed");
  expect(await Promise.all(carryings)).toEqual(["over", "over"]);
  expect(await batchOf(id)).toMatchObject({ status: "completed", test: { outcomes: [PASSED] } });
});

it("ends once and exactly, however often its process dies", async () => {
  const played = createRuns();
  const id = await place(80, { maxMillicredits: 80 * PRICE });
  for (let death = 0; death < 6; death += 1) {
    const dying = new AbortController();
    setTimeout(() => dying.abort(), 15);
    // Two processes run the batch if the first only seems dead.
    await Promise.all([carrier(played)(id, dying.signal), carrier(played)(id, dying.signal)]);
  }
  expect(await carrier(played)(id, never)).toBe("over");
  expect(await batchOf(id)).toMatchObject({ status: "completed", counts: { completed: 80 }, spent: 80 * PRICE, committed: 80 * PRICE });
  expect(played.known.size).toBe(80);
});

it("never starts an item beyond its budget, pauses, and continues with another limit", async () => {
  const played = createRuns({ cost: () => PRICE });
  // Each run can cost four times its price.
  const id = await place(10, { maxMillicredits: 5 * PRICE + 3 }, 4 * PRICE);
  expect(await carrier(played)(id, never)).toBe("over");
  expect(await batchOf(id)).toMatchObject({ status: "paused", reason: { code: "BUDGET_EXCEEDED" }, spent: 5 * PRICE, underWay: [] });
  // The reserved credits limit each run.
  expect(played.limits.every((limit) => limit !== undefined && limit <= 4 * PRICE)).toBe(true);
  const { userId } = await batchOf(id);
  await stores.batches.resume(id, userId, { maxMillicredits: 10 * PRICE });
  expect(await carrier(played)(id, never)).toBe("over");
  expect(await batchOf(id)).toMatchObject({ status: "completed", spent: 10 * PRICE, reason: null });
});

it("starts items that trial runs were expected to pay, whatever is left of its budget", async () => {
  // The quote is for four items. Trial runs pay for the first two.
  const played = createRuns({ cost: (index) => (index < 2 ? 0 : PRICE) });
  const id = await place(4, { maxMillicredits: PRICE - 1 }, 2 * PRICE, (index) => (index < 2 ? PRICE : 0));
  expect(await carrier(played)(id, never)).toBe("over");
  expect(await batchOf(id)).toMatchObject({ status: "paused", counts: { completed: 2 }, spent: 0 });
  expect(played.limits.every((limit) => limit !== undefined && limit < PRICE)).toBe(true);
  await stores.batches.resume(id, (await batchOf(id)).userId, { maxMillicredits: 2 * PRICE });
  expect(await carrier(played)(id, never)).toBe("over");
  expect(await batchOf(id)).toMatchObject({ status: "completed", spent: 2 * PRICE });
});

it("pauses if credits are missing, and returns its reservation", async () => {
  const missing = new DomainError("exhausted", "INSUFFICIENT_CREDITS", "not enough credits");
  let isEmpty = true;
  const played = createRuns({ refuses: () => (isEmpty ? missing : undefined) });
  const id = await place(5, { maxMillicredits: 5 * PRICE });
  expect(await carrier(played)(id, never)).toBe("over");
  expect(await batchOf(id)).toMatchObject({ status: "paused", reason: { code: "INSUFFICIENT_CREDITS" }, committed: 0, underWay: [] });
  isEmpty = false;
  await stores.batches.resume(id, (await batchOf(id)).userId);
  expect(await carrier(played)(id, never)).toBe("over");
  expect(await batchOf(id)).toMatchObject({ status: "completed", counts: { completed: 5 }, spent: 5 * PRICE });
});

it("is paused by a budget of the account once no running item can return credits to it", async () => {
  const over = new DomainError("exhausted", "BUDGET_EXCEEDED", "the budget of its key has 0 of 10 left", { scope: "key" });
  const refusedAt: string[] = [];
  let isFull = true;
  const played = createRuns({
    held: true,
    refuses: (index) => {
      if (!isFull || index === 0) return undefined;
      refusedAt.push(String(index));
      return over;
    },
  });
  const id = await place(2, {});
  const carrying = carrier(played)(id, never);
  await eventually(() => refusedAt.length > 0);
  expect(await batchOf(id)).toMatchObject({ status: "running" });
  await played.end(played.known.get(itemExecutionId(id, 0))!, "completed");
  expect(await carrying).toBe("over");
  const paused = await batchOf(id);
  expect(paused).toMatchObject({
    status: "paused",
    reason: { code: "BUDGET_EXCEEDED", scope: "key" },
    again: [1],
    counts: { completed: 1 },
  });
  expect([isOutOfBudget(paused.reason), isOutOfBudget(OUT_OF_MAX_CREDITS)]).toEqual([true, false]);
  isFull = false;
  await stores.batches.resume(id, paused.userId);
  const resumed = carrier(played)(id, never);
  await eventually(() => played.known.has(itemExecutionId(id, 1)));
  await played.end(played.known.get(itemExecutionId(id, 1))!, "completed");
  expect(await resumed).toBe("over");
  expect(await batchOf(id)).toMatchObject({ status: "completed", counts: { completed: 2 } });
});

it("runs the rest of a batch for the caller who resumes it, with their key and its metadata", async () => {
  const runner = (part: Partial<executions.Runner>) => executions.Runner.fromPartial({ userId, concurrency: 20, ...part });
  const userId = randomUUID();
  const [first, second] = [
    runner({ keyId: "key-1", keyMetadata: { customer: "acme" } }),
    runner({ keyId: "key-2", keyMetadata: { customer: "zeta" }, webhookUrl: "https://x.test", webhookEvents: [BATCH_COMPLETED] }),
  ];
  const paused = { status: "paused", metadata: ["customer\0acme", "run\x007"] } as const;
  const id = await place(2, { userId, runner: first, maxMillicredits: PRICE, ...paused, metadata: [...paused.metadata] });
  const played = createRuns();
  const orders = createOrders({
    ...{ stores, channel: played.channel, logger: createLogger("test", "silent"), starter: { startBatch: () => Promise.resolve() } },
    pricing: () => Promise.reject(new Error("nothing is priced")),
    readTable: () => Promise.reject(new Error("nothing is read")),
  });
  await orders.resume({ batchId: id, userId, runner: second, maxMillicredits: 2 * PRICE });
  expect(await batchOf(id)).toMatchObject({
    runner: { keyId: "key-2" },
    metadata: ["customer\0zeta", "run\x007"],
    ...{ status: "running", maxMillicredits: 2 * PRICE, webhook: { url: "https://x.test", state: "pending" } },
  });
  expect(await carrier(played)(id, never)).toBe("over");
  expect([...new Set(played.keys)]).toEqual(["key-2"]);
});

it("keeps its own webhook when another caller resumes it", async () => {
  const runner = (part: Partial<executions.Runner>) => executions.Runner.fromPartial({ userId, concurrency: 20, ...part });
  const userId = randomUUID();
  const own = runner({ webhookUrl: "https://own.test", webhookOwn: true });
  const id = await place(1, { userId, runner: own, status: "paused" });
  const played = createRuns();
  const orders = createOrders({
    ...{ stores, channel: played.channel, logger: createLogger("test", "silent"), starter: { startBatch: () => Promise.resolve() } },
    pricing: () => Promise.reject(new Error("nothing is priced")),
    readTable: () => Promise.reject(new Error("nothing is read")),
  });
  const other = runner({ keyId: "key-2", webhookUrl: "https://x.test", webhookEvents: [BATCH_COMPLETED] });
  await orders.resume({ batchId: id, userId, runner: other, maxMillicredits: undefined });
  expect((await batchOf(id)).webhook).toMatchObject({ url: "https://own.test", isOwn: true, state: "pending" });
});

it("starts no more items after one has failed, if it is set to stop then", async () => {
  const played = createRuns({ ends: (index) => (index === 2 ? "failed" : "completed") });
  const id = await place(40, { stopsOnError: true, concurrency: 2 });
  expect(await carrier(played)(id, never)).toBe("over");
  const { status, counts, next } = await batchOf(id);
  expect([status, counts.failed]).toEqual(["failed", 1]);
  expect(next).toBeLessThan(8);
});

it("ends only an item that can't run, and continues with the others", async () => {
  const invalid = new DomainError("precondition", "WORKFLOW_INVALID", "the workflow can't run");
  const played = createRuns({ refuses: (index) => (index === 1 ? invalid : undefined) });
  const id = await place(3);
  expect(await carrier(played)(id, never)).toBe("over");
  expect(await batchOf(id)).toMatchObject({ status: "completed", counts: { completed: 2, failed: 1 } });
  expect(await stores.batches.rowsAt(id, [1])).toMatchObject([{ status: "failed", error: { code: "WORKFLOW_INVALID" } }]);
});

it("starts items soon again that failed together because a service was unavailable", async () => {
  const played = createRuns({ refuses: (_index, attempt) => (attempt === 1 ? unavailable("executions starts again") : undefined) });
  const id = await place(10);
  const startedAt = Date.now();
  expect(await carrier(played)(id, never)).toBe("over");
  expect((await batchOf(id)).counts).toEqual({ completed: 10, failed: 0, cancelled: 0 });
  expect(Date.now() - startedAt).toBeLessThan(10_000);
});

it("cancels running items, and never starts the rest", async () => {
  const played = createRuns({ held: true });
  const id = await place(30);
  const carrying = carrier(played)(id, never);
  await eventually(() => played.known.size === 10);
  // One run ends while it is being cancelled.
  const first = played.known.get(itemExecutionId(id, 0))!;
  const { userId } = await batchOf(id);
  await Promise.all([stores.batches.requestCancel(id, userId), played.end(first, "completed")]);
  played.channel.publish(id, { type: "cancel_requested", at: Date.now(), data: {} });
  expect(await carrying).toBe("over");
  const batch = await batchOf(id);
  expect(batch).toMatchObject({ status: "cancelled", underWay: [], counts: { failed: 0 } });
  expect(batch.counts.completed + batch.counts.cancelled).toBe(played.known.size);
  expect([beginsNoMore(batch), await stores.batches.requestCancel(id, userId)]).toEqual([true, null]);
});

describe("while the provider of a model is unavailable", () => {
  const away = { model: "lumen", trialAt: Number.POSITIVE_INFINITY };
  const rowsOf = async (id: string, status: string): Promise<number[]> =>
    (await stores.batches.rowsFrom(id, 0, 100)).filter((row) => row.status === status).map(({ index }) => index);

  it("starts no items, says which model it waits for, and continues when the provider is back", async () => {
    const runs = createRuns();
    let outage: typeof away | undefined = away;
    const id = await place(20);
    const turn = carrier(runs, () => Promise.resolve(outage))(id, never);
    await eventually(
      () => batchOf(id),
      ({ outage: noted }) => noted !== undefined,
    );
    expect(batchMessage(await batchOf(id))).toMatchObject({
      ...{ status: "running", reason: "PROVIDER_UNAVAILABLE", reasonMessage: "waiting for lumen: provider unavailable" },
      waiting: 20,
    });
    expect(runs.known.size).toBe(0);
    outage = undefined;
    expect(await turn).toBe("over");
    expect(batchMessage(await batchOf(id))).toMatchObject({ status: "completed", reason: "", completed: 20, failed: 0 });
  });

  it("starts one item at a time to test the provider, and never runs an item twice", async () => {
    let failures = 0;
    const runs = createRuns({ ends: (index) => (index < 3 ? "failed" : "completed") });
    const outageOf = (): Promise<typeof away | undefined> => {
      failures = [...runs.known.values()].filter(({ status }) => status === "failed").length;
      return Promise.resolve(failures < 3 ? { model: "lumen", trialAt: 0 } : undefined);
    };
    const id = await place(20);
    expect(await carrier(runs, outageOf)(id, never)).toBe("over");
    expect(await rowsOf(id, "failed")).toEqual([0, 1, 2]);
    expect((await batchOf(id)).counts).toEqual({ completed: 17, failed: 3, cancelled: 0 });
    expect(runs.keys).toHaveLength(20);
  });

  it("runs the items before the first one that needs the provider", async () => {
    const runs = createRuns();
    const id = await place(6);
    const stopping = new AbortController();
    const needsLumen = ({ index }: BatchRow): boolean => index === 4;
    const turn = carrier(runs, (row) => Promise.resolve(needsLumen(row as BatchRow) ? away : undefined))(id, stopping.signal);
    await eventually(
      () => batchOf(id),
      ({ counts, outage }) => counts.completed === 4 && outage !== undefined,
    );
    stopping.abort();
    await turn;
    expect(await rowsOf(id, "completed")).toEqual([0, 1, 2, 3]);
  });

  it("is paused after a day, and waits again when it is resumed", async () => {
    const runs = createRuns();
    const id = await place(2, { outage: { model: "lumen", since: new Date(Date.now() - TIMING.batchOutage) } });
    expect(await carrier(runs, () => Promise.resolve(away))(id, never)).toBe("over");
    const { status, reason, outage } = await batchOf(id);
    expect({ status, reason, outage }).toEqual({
      ...{ status: "paused", outage: undefined },
      reason: {
        code: "PROVIDER_UNAVAILABLE",
        message: "the provider of lumen was unavailable for 24 hours: resume the batch when it is back, or cancel",
      },
    });
  });

  it("waits for a node only if none of its alternatives responds", async () => {
    const trials: Record<string, number | undefined> = { lumen: 5, prism: undefined, beam: 7 };
    const outageOf = createOutageOf({
      catalog: { getAny: (name) => Promise.resolve({ providerJson: name } as never) },
      nextTrial: (name) => trials[name],
    });
    expect(await outageOf({ models: [["lumen", "prism"], ["prism"]] })).toBeUndefined();
    expect(await outageOf({ models: [["lumen"], ["beam", "lumen"]] })).toEqual({ model: "lumen", trialAt: 5 });
    expect(await outageOf({ models: [["lumen"], ["beam"]] })).toEqual({ model: "beam", trialAt: 7 });
    expect(await outageOf({})).toBeUndefined();
  });
});

it("is removed with its rows after its retention, but not while work for it is pending", async () => {
  const long = { finishedAt: new Date(0), createdAt: new Date(0) };
  const expiredBatch = await place(2, { ...long, status: "completed" });
  const keptBatches = [
    await place(1, { ...long, status: "completed", finishedAt: new Date() }),
    await place(1, { ...long, status: "paused", finishedAt: null }),
    // The batch's webhook is being delivered.
    await place(1, { ...long, status: "completed" }),
  ];
  await stores.batches.noteWebhook(expiredBatch, {}, true);
  await stores.batches.noteWebhook(keptBatches[0]!, {}, true);
  let removed = 0;
  for (let next = "again"; next !== "";) {
    const page = await stores.batches.removeExpired(new Date(Date.now() - 60_000), 1);
    removed += page.removed;
    ({ next } = page);
  }
  expect([removed, await stores.batches.find(expiredBatch), await stores.batches.rowsFrom(expiredBatch, 0, 10)]).toEqual([1, null, []]);
  for (const id of keptBatches) expect((await stores.batches.rowsFrom(id, 0, 10)).length).toBe(1);
});

it("lists runs that are items of a batch only on request", async () => {
  const userId = randomUUID();
  const [batchId, alone, item] = [randomUUID(), newRecord(userId), newRecord(userId)];
  await stores.rows.insert(alone);
  await stores.rows.insert({ ...item, batchId, index: 0 });
  const listed = async (of?: string): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { _id } of stores.rows.list({ userId, batchId: of, limit: 10 })) ids.push(_id);
    return ids;
  };
  expect([await listed(), await listed(batchId)]).toEqual([[alone._id], [item._id]]);
});
