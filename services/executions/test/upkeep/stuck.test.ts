import { randomUUID } from "node:crypto";
import { billing as billingProto } from "@nodeloom/proto";
import { createAbandon } from "../../src/lifecycle/abandon";
import type { RunInput } from "../../src/run/types";
import { createStuckSweep } from "../../src/upkeep/stuck";
import { logger, runOf, startMoney, type Money } from "../support/money";

/** Runs with failing workflow tasks, with real store and billing. The test simulates Temporal's responses. */

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stopBalanced());

const MINUTE_MS = 60_000;
const PRICE = 6_000;

const fund = async (): Promise<string> => {
  const userId = randomUUID();
  const kind = billingProto.CreditKind.CREDIT_KIND_PLAN;
  await money.billing.credit(billingProto.CreditRequest.fromPartial({ userId, kind, millicredits: PRICE, reference: randomUUID() }));
  return userId;
};
const begin = async (): Promise<RunInput> =>
  money.begin(runOf(await fund(), [{ id: "pics", model: "painter", calls: 1, maxMillicredits: PRICE }]));
const stateOf = async ({ executionId, userId }: RunInput) => ({
  row: await money.stores.rows.find(executionId),
  account: (await money.billing.getAccount({ userId })).account,
});

interface StuckRuns {
  count?: number;
  minutes?: number;
  isOneBuild?: boolean;
}

/** Sweeps once, with the given failures from Temporal. @returns the workflows that it ended */
const sweep = async (runs: readonly RunInput[], { count = 10, minutes = 10, isOneBuild = true }: StuckRuns): Promise<string[]> => {
  const terminated: string[] = [];
  const starter = { placed: async () => undefined, terminate: async (id: string) => void terminated.push(id) };
  const since = new Date(Date.now() - minutes * MINUTE_MS);
  const tasks = {
    list: async () => runs.map(({ executionId }) => ({ workflowId: executionId, type: "executeGraph" })),
    isOneBuild: async () => isOneBuild,
    failures: async () => (count === 0 ? null : { count, since }),
  };
  const { stores, end } = money;
  await createStuckSweep({ stores, tasks, starter, abandon: createAbandon({ stores, starter, end: { end } }), logger })();
  return terminated;
};

it("ends a run whose workflow task failed 10 times over 10 minutes as failed, and releases its hold", async () => {
  const run = await begin();
  expect(await sweep([run], {})).toEqual([run.executionId]);
  const { row, account } = await stateOf(run);
  expect(row).toMatchObject({ status: "failed", millicredits: 0, error: { code: "EXECUTION_FAILED" } });
  expect(account).toMatchObject({ planMillicredits: PRICE, heldMillicredits: 0 });
  expect(await money.usageRows(run.userId)).toMatchObject([{ status: "failed", millicredits: 0 }]);
  // Temporal's list can be slightly outdated.
  expect(await sweep([run], {})).toEqual([]);
});

it.each([
  ["it failed 9 times", { count: 9 }],
  ["it has failed for 9 minutes", { minutes: 9 }],
  ["some workers have another build", { isOneBuild: false }],
  ["it failed on other builds alone", { count: 0 }],
])("lets a run continue after a rollback if %s", async (_case, bounds: StuckRuns) => {
  const run = await begin();
  expect(await sweep([run], bounds)).toEqual([]);
  const { row, account } = await stateOf(run);
  expect(row).toMatchObject({ status: "processing" });
  expect(account).toMatchObject({ heldMillicredits: PRICE });
  await sweep([run], {});
});

it("never fails running runs after a bad rollout: 5 with failing tasks continue after a rollback", async () => {
  const runs = await Promise.all(Array.from({ length: 5 }, begin));
  expect(await sweep(runs, { count: 1_000, minutes: 1_000 })).toEqual([]);
  const endedIds = await sweep(runs.slice(1), { count: 1_000, minutes: 1_000 });
  expect(endedIds.sort()).toEqual(
    runs
      .slice(1)
      .map(({ executionId }) => executionId)
      .sort(),
  );
  await sweep(runs.slice(0, 1), {});
});

it("ends a cancelled run as cancelled, however many others fail", async () => {
  const runs = await Promise.all(Array.from({ length: 6 }, begin));
  const [cancelled] = runs;
  await money.execution.requestCancel(cancelled!.executionId, cancelled!.userId);
  expect(await sweep(runs, { count: 1, minutes: 0, isOneBuild: false })).toEqual([cancelled!.executionId]);
  const { row, account } = await stateOf(cancelled!);
  expect(row).toMatchObject({ status: "cancelled", millicredits: 0, error: null });
  expect(account).toMatchObject({ heldMillicredits: 0 });
  for (const run of runs.slice(1)) await sweep([run], {});
});
