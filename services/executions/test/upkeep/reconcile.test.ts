import type { RunEnd } from "../../src/run/types";
import { createReconciler } from "../../src/upkeep/reconcile";
import { createRelayedRuns } from "../../src/upkeep/runs";
import { createLooks } from "../../../../test-support/looks";
import { initialNodes } from "../../src/run/nodes";
import { createLook } from "@nodeloom/platform";
import { newRecord } from "../support/index";
import { logger, runOf, startMoney, type Money } from "../support/money";

/** Repairs runs that processes, Temporal or a database have lost. */

let money: Money;
beforeEach(async () => {
  money = await startMoney();
});
afterEach(() => money.stop());

const seenAt = new Date(Date.now() - 3_600_000);
const freeRun = (userId = "user", part = {}) => runOf(userId, [{ id: "pics", model: "painter", calls: 1, maxMillicredits: 0 }], part);
const endOf = (run: ReturnType<typeof freeRun>, status: "completed" | "failed"): RunEnd => ({
  status,
  result: status === "completed" ? { text: "done" } : null,
  error: null,
  requestId: null,
  nodes: initialNodes(run.plan),
  completed: [],
});

describe("runs without a process", () => {
  it("are ended separately: one that can't be ended doesn't prevent the others", async () => {
    const good = [newRecord("user", { seenRunningAt: seenAt }), newRecord("user", { seenRunningAt: seenAt })];
    // Billing rejects the id of this run's hold.
    const poisoned = newRecord("user", { seenRunningAt: new Date(seenAt.getTime() - 1), holdId: "" });
    for (const record of [poisoned, ...good]) await money.stores.rows.insert(record);
    const { stores } = money;
    const reconcile = createReconciler({ stores, starter: { isRunning: () => Promise.resolve(false) }, end: money, logger });
    expect(await reconcile(() => undefined)).toEqual({ seen: 3, changed: 2, failed: 1 });
    for (const { _id } of good) expect(await stores.rows.find(_id)).toMatchObject({ status: "failed" });
    expect(await stores.rows.find(poisoned._id)).toMatchObject({ status: "processing" });
  });

  it("are left alone if they end during the check", async () => {
    const run = await money.begin(freeRun());
    const { stores } = money;
    const ending = async (): Promise<boolean> => {
      await money.settle(run, endOf(run, "completed"));
      return false;
    };
    const reconcile = createReconciler({ stores, starter: { isRunning: ending }, end: money, logger, unseenMs: 0 });
    await reconcile(() => undefined);
    expect(await stores.rows.find(run.executionId)).toMatchObject({ status: "completed", resultJson: '{"text":"done"}' });
    expect(await money.usageRows("user")).toMatchObject([{ status: "completed" }]);
  });
});

it("sweeps each run separately: one that can't be swept doesn't prevent the others", async () => {
  const { stores, execution, queue, outbox } = money;
  const good = newRecord("user", { status: "accepted", attempt: 1, unsettled: true, outbox: [] });
  const poisoned = newRecord("user", { status: "accepted", attempt: 1, unsettled: true, outbox: [], createdAt: new Date(1) });
  for (const record of [poisoned, good]) await stores.rows.insert(record);
  const refuse: typeof execution.refuse = (row, ...rest) =>
    row._id === poisoned._id ? Promise.reject(new TypeError("broken")) : execution.refuse(row, ...rest);
  await createLooks(createRelayedRuns({ stores, execution: { ...execution, refuse }, end: money, queue, outbox }))();
  expect(await stores.rows.find(good._id)).toMatchObject({ status: "refused" });
  expect(await stores.rows.find(poisoned._id)).toMatchObject({ status: "accepted" });
});

it("finds a run that never started behind 25,000 queued ones within 30 seconds", async () => {
  const { stores, execution, outbox } = money;
  const part = { status: "queued", attempt: 1, unsettled: true, outbox: [], holdId: "hold", queuedAt: new Date() };
  const waiting = Array.from({ length: 25_000 }, (_, index) => ({
    ...{ _id: `run-${index}`, userId: `user-${index % 25}`, createdAt: new Date(index + 1) },
    ...part,
  }));
  await money.connection.collection("executions").insertMany(waiting as never);
  const lostRun = newRecord("user", { status: "accepted", unsettled: true });
  await stores.rows.insert(lostRun);
  let mended = 0;
  const mend = async (_userId: string, queued: readonly unknown[]) => void (mended += queued.length);
  let now = 0;
  const runs = createRelayedRuns({ stores, execution, end: money, queue: { mend }, outbox });
  const look = createLook(runs, { logger, now: () => now });
  const startMs = performance.now();
  // A check every five seconds, the first one just before the run is lost.
  for (; now <= 15_000; now += 5_000) await look();
  expect(await stores.rows.find(lostRun._id)).toMatchObject({ status: "refused" });
  expect(mended).toBeGreaterThanOrEqual(waiting.length);
  process.stdout.write(`four looks at 25,000 rows took ${Math.round(performance.now() - startMs)} ms\n`);
});

describe("after a restore of the database", () => {
  it("a run without its row ends as usual, and isn't treated as cancelled", async () => {
    const run = freeRun();
    expect(await money.stores.rows.callStanding(run.executionId)).toMatchObject({ isCancelled: false });
    expect(await money.stores.rows.decideEnding(run.executionId, "completed")).toEqual({ ending: "completed" });
    expect(await money.settle(run, endOf(run, "completed"))).toMatchObject({ status: "completed" });
    expect(await money.stores.rows.find(run.executionId)).toMatchObject({ status: "completed", resultJson: '{"text":"done"}' });
  });

  it.each(["accepted", "queued"] as const)("a run whose row is %s again ends as usual", async (status) => {
    const run = freeRun();
    const { executionId: _id, holdId, userId } = run;
    await money.stores.rows.insert(newRecord(userId, { _id, holdId, status, attempt: 1, unsettled: true, outbox: [] }));
    expect(await money.settle(run, endOf(run, "completed"))).toMatchObject({ status: "completed" });
    expect(await money.stores.rows.find(_id)).toMatchObject({ status: "completed", ending: "completed" });
  });
});

it("never takes less than zero time, however far the receiver's clock is ahead", async () => {
  const ahead = Date.now() + 3_600_000;
  const run = await money.begin(freeRun("user", { receivedAt: ahead }));
  const { executionId, userId } = run;
  const call = { executionId, userId, nodeId: "pics", nodeIndex: 0, item: 0, items: 1, startedAt: ahead, key: `${executionId}:pics:0` };
  await money.execution.itemCompleted(call, {});
  const log = await money.stores.log.current((await money.stores.rows.find(executionId))!);
  expect(log.nodes[0]).toMatchObject({ status: "completed", durationMs: 0 });
  await money.settle(run, endOf(run, "completed"));
  expect(await money.stores.rows.find(executionId)).toMatchObject({ durationMs: 0 });
  expect(await money.usageRows(userId)).toMatchObject([{ durationMs: 0 }]);
});
