import { randomUUID } from "node:crypto";
import { billing as billingProto } from "@nodeloom/proto";
import type { RunEnd, RunInput } from "../../src/run/types";
import { createLeaks, type LeaksOptions } from "../../src/upkeep/leaks";
import { initialNodes } from "../../src/run/nodes";
import { logger, runOf, startMoney, type Money } from "../support/money";

/** Orphaned holds, with real billing and store. */

const PRICE = 1_000;
const { CREDIT_KIND_PLAN } = billingProto.CreditKind;

let money: Money;
beforeEach(async () => {
  money = await startMoney();
});
afterEach(() => money.stopBalanced());

const newRun = async (calls = 2): Promise<RunInput> => {
  const userId = randomUUID();
  const credit = { userId, kind: CREDIT_KIND_PLAN, millicredits: 10 * PRICE, reference: randomUUID() };
  await money.billing.credit(billingProto.CreditRequest.fromPartial(credit));
  return runOf(userId, [{ id: "pics", model: "painter", calls, maxMillicredits: PRICE }]);
};
const balance = async (userId: string) => {
  const { account } = await money.billing.getAccount({ userId });
  return { free: account!.planMillicredits, held: account!.heldMillicredits };
};
const leaks = (part: Partial<LeaksOptions> = {}, runningIds: readonly string[] = []) => {
  const { billing, stores } = money;
  const starter = { isRunning: (id: string) => Promise.resolve(runningIds.includes(id)) };
  return createLeaks({ billing, stores, starter, logger, ageMs: 0, ...part });
};
const look = (...args: Parameters<typeof leaks>) => leaks(...args)(() => undefined);

const completed = (input: RunInput, keys: readonly string[]): RunEnd => ({
  status: "completed",
  result: {},
  error: null,
  requestId: null,
  nodes: initialNodes(input.plan),
  completed: keys.map((key) => ({ key, nodeId: "pics", costMicroUsd: 4_000 })),
});

it("releases the hold of a run without a row and a workflow", async () => {
  const run = await newRun();
  await money.holds.hold(run);
  expect(await look({}, [run.executionId])).toMatchObject({ changed: 0, failed: 0 });
  expect(await balance(run.userId)).toEqual({ free: 8 * PRICE, held: 2 * PRICE });
  expect(await look()).toMatchObject({ changed: 1, failed: 0 });
  expect(await balance(run.userId)).toEqual({ free: 10 * PRICE, held: 0 });
});

it("releases the hold of a rejected attempt, and of one before the finished attempt", async () => {
  const run = await newRun();
  const row = { ...(await money.begin(run)), status: "refused" };
  expect(row.held).toHaveLength(2);
  const other = await newRun();
  await money.holds.hold({ ...other, holdId: `${other.executionId}.1` });
  const second = await money.begin({ ...other, holdId: `${other.executionId}.2`, attempt: 2 });
  // While the second attempt runs, no part of the run changes.
  expect(await look({}, [run.executionId, other.executionId])).toMatchObject({ changed: 0, failed: 0 });
  await money.settle(second, completed(second, ["pics:0"]));
  expect(await look({}, [run.executionId])).toMatchObject({ changed: 1, failed: 0 });
  expect(await balance(other.userId)).toEqual({ free: 10 * PRICE - 600, held: 0 });
});

it("never touches the hold of a running run, or a recent one", async () => {
  const run = await money.begin(await newRun());
  expect(await look()).toMatchObject({ changed: 0, failed: 0 });
  expect(await look({ ageMs: 600_000 })).toMatchObject({ changed: 0, failed: 0 });
  expect(await balance(run.userId)).toMatchObject({ held: 2 * PRICE });
});

it("captures the charge in a run's row if billing has lost it", async () => {
  const run = await newRun();
  const { executionId, userId } = run;
  const begunRun = await money.begin(run);
  const call = { _id: `${executionId}:pics:0`, executionId, nodeId: "pics", item: 0, requestId: null };
  await money.stores.calls.recordEnd({ ...call, status: "completed", costMicroUsd: 4_000 });
  await money.settle(begunRun, completed(run, ["pics:0"]));
  // As after a restore of billing's database: the hold is open again under the row's id.
  const rest = await newRun();
  await money.holds.hold({ ...rest, holdId: `${executionId}.1` });
  expect(await look()).toMatchObject({ changed: 1, failed: 0 });
  expect(await balance(rest.userId)).toEqual({ free: 10 * PRICE - 600, held: 0 });
  expect(await balance(userId)).toEqual({ free: 10 * PRICE - 600, held: 0 });
});

it("captures the charge in the row of a run with one call, even without a record of that call's end", async () => {
  const run = await newRun(1);
  const begunRun = await money.begin(run);
  await money.settle(begunRun, completed(run, ["pics:0"]));
  const rest = await newRun(1);
  await money.holds.hold({ ...rest, holdId: `${run.executionId}.1` });
  expect(await look()).toMatchObject({ changed: 1, failed: 0 });
  expect(await balance(rest.userId)).toEqual({ free: 10 * PRICE - 600, held: 0 });
});

it("closes all other holds if one can't be checked", async () => {
  const runs = await Promise.all(Array.from({ length: 3 }, () => newRun()));
  for (const run of runs) await money.holds.hold(run);
  const [poisoned] = runs;
  const starter = {
    isRunning: (id: string) => (id === poisoned!.executionId ? Promise.reject(new TypeError("broken")) : Promise.resolve(false)),
  };
  expect(await look({ starter })).toMatchObject({ changed: 2, failed: 1 });
  expect(await look()).toMatchObject({ changed: 1, failed: 0 });
});
