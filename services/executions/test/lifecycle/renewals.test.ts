import { randomUUID } from "node:crypto";
import type { ScheduleHandle } from "@temporalio/client";
import { connectMongo } from "@nodeloom/platform";
import { billing as billingProto } from "@nodeloom/proto";
import { createRenewals, type RenewalProgress } from "../../src/lifecycle/renewals";
import type { Activities, LocalActivities } from "../../src/contract/activity-types";
import { bundlePath } from "../../src/temporal/bundle";
import { ensureSchedules } from "../../src/temporal/schedules";
import { connectTemporal, type RunningTemporal } from "../../src/temporal/worker";
import { Context } from "@temporalio/activity";
import { logger, startMoney, type Money } from "../support/money";

const USERS = Array.from({ length: 7 }, (_, index) => `user-${index}`);
const MONTHLY = 2_000;
const LAST_MONTH = new Date(Date.now() - 45 * 86_400_000);

let money: Money;
let temporal: RunningTemporal;
let schedule: ScheduleHandle;
const taskQueue = `renewals-${randomUUID().slice(0, 8)}`;

beforeAll(async () => {
  money = await startMoney();
  temporal = await connectTemporal({
    address: process.env.TEMPORAL_ADDRESS!,
    namespace: "default",
    taskQueue,
    dataConverter: {},
    logger,
    workflowBundle: { codePath: bundlePath },
    shutdownGraceMs: 1_000,
  });
  const renewals = createRenewals({ billing: money.billing });
  const renewDuePlans: Activities["renewDuePlans"] = () => renewals((progress) => Context.current().heartbeat(progress));
  await temporal.work({ renewDuePlans } as unknown as Activities & LocalActivities);
  schedule = temporal.client.schedule.getHandle(`${taskQueue}-plan-renewals`);
});
afterAll(async () => {
  await schedule.delete();
  await temporal.client.schedule.getHandle(`${taskQueue}-reconcile-runs`).delete();
  await temporal.stop();
  await money.stop();
});

/** Accounts with a plan whose month is over for a while. */
const subscribe = async (users: readonly string[]): Promise<void> => {
  for (const userId of users) {
    await money.billing.setPlan(
      billingProto.SetPlanRequest.fromPartial({ userId, tier: "pro", monthlyMillicredits: MONTHLY, reference: "approved" }),
    );
  }
  const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${money.prefix}billing` });
  await connection
    .collection<{ _id: string }>("accounts")
    .updateMany({ _id: { $in: [...users] } }, { $set: { renewsAt: LAST_MONTH }, $inc: { revision: 1 } });
  await connection.close();
};

const kindsOf = async (userId: string): Promise<string[]> =>
  (await money.billing.listLedger({ userId, limit: 100, cursor: "" })).rows.map((row) => row.kind);

/** The result of the next workflow that the schedule starts. */
const trigger = async (): Promise<unknown> => {
  const before = new Set((await schedule.describe()).info.recentActions.map(({ action }) => action.workflow.firstExecutionRunId));
  // By its own policy a schedule skips what it is asked for before it has heard that the last one is over.
  await schedule.trigger("ALLOW_ALL");
  for (;;) {
    const { recentActions } = (await schedule.describe()).info;
    const started = recentActions.find(({ action }) => !before.has(action.workflow.firstExecutionRunId));
    if (started) {
      // Workflows of one second share their id.
      const { workflowId, firstExecutionRunId } = started.action.workflow;
      return temporal.client.workflow.getHandle(workflowId, firstExecutionRunId).result();
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

it("is scheduled every hour, once over all processes, and stays paused when an operator has paused it", async () => {
  await Promise.all([ensureSchedules(temporal.client, { name: taskQueue, taskQueue }), ensureSchedules(temporal.client, { name: taskQueue, taskQueue })]);
  const described = await schedule.describe();
  expect(described.spec.intervals).toEqual([expect.objectContaining({ every: 3_600_000 })]);
  expect(described.policies).toMatchObject({ overlap: "SKIP", catchupWindow: 3_600_000 });
  await schedule.pause("an operator's reasons");
  await ensureSchedules(temporal.client, { name: taskQueue, taskQueue });
  expect((await schedule.describe()).state.paused).toBe(true);
  await schedule.unpause();
});

it("renews accounts that nobody touches, once, when Temporal triggers it, beside runs that renew them, too", async () => {
  await ensureSchedules(temporal.client, { name: taskQueue, taskQueue });
  await subscribe(USERS);
  const [touched] = USERS;
  const run = { executionId: "e1", userId: touched!, items: [{ key: "a:0", model: "m", maxMillicredits: 100 }], maxActive: 0 };
  const [result] = await Promise.all([trigger(), money.billing.hold(billingProto.HoldRequest.fromPartial(run))]);
  expect([USERS.length, USERS.length - 1]).toContain((result as { renewed: number }).renewed);
  expect(await trigger()).toEqual({ renewed: 0, failed: 0 });
  for (const userId of USERS) {
    const kinds = (await kindsOf(userId)).filter((kind) => kind !== "hold");
    expect(kinds).toEqual(["plan_renewal", "plan_expiry", "plan_renewal"]);
  }
  expect(await money.billing.checkLedger({ cursor: "" })).toMatchObject({ ok: true });
});

it("goes on where an earlier attempt came to", async () => {
  const asked: string[] = [];
  const pages = ["", "1:a", "2:b"];
  const renewals = createRenewals({
    billing: {
      renewDuePlans: ({ cursor }) => {
        asked.push(cursor);
        const next = pages[pages.indexOf(cursor) + 1] ?? "";
        return Promise.resolve(billingProto.RenewDuePlansResponse.fromPartial({ renewed: 1, nextCursor: next }));
      },
    },
  });
  const beats: RenewalProgress[] = [];
  expect(await renewals((progress) => void beats.push(progress))).toEqual({ renewed: 3, failed: 0 });
  expect(asked).toEqual(pages);
  asked.length = 0;
  expect(await renewals(() => undefined, beats[0])).toEqual({ renewed: 3, failed: 0 });
  expect(asked).toEqual(pages.slice(1));
});
