import { randomUUID } from "node:crypto";
import type { ScheduleHandle } from "@temporalio/client";
import { connectMongo } from "@nodeloom/platform";
import { billing as billingProto } from "@nodeloom/proto";
import { createLedgerCheck, createRenewals, type RenewalProgress } from "../../src/maintenance/billing";
import type { Activities, LedgerReport } from "../../src/workflow/activity-types";
import { SCHEDULES } from "../../src/workflow/prepare";
import { ensureSchedules, type RunningTemporal } from "@nodeloom/platform/temporal";
import { Context } from "@temporalio/activity";
import { logger, startMoney, type Money } from "../support/money";
import { startWorker } from "../support/temporal";

const USERS = Array.from({ length: 7 }, (_, index) => `user-${index}`);
const MONTHLY = 2_000;
const LAST_MONTH = new Date(Date.now() - 45 * 86_400_000);

let money: Money;
let temporal: RunningTemporal;
let renewalsSchedule: ScheduleHandle;
let ledgerSchedule: ScheduleHandle;
const taskQueue = `renewals-${randomUUID().slice(0, 8)}`;

beforeAll(async () => {
  money = await startMoney();
  const renewals = createRenewals({ billing: money.billing });
  const renewDuePlans: Activities["renewDuePlans"] = () => renewals((progress) => Context.current().heartbeat(progress));
  const ledgerCheck = createLedgerCheck({ billing: money.billing, logger });
  const checkLedger: Activities["checkLedger"] = () => ledgerCheck((progress) => Context.current().heartbeat(progress));
  temporal = await startWorker(taskQueue, { renewDuePlans, checkLedger }, { shutdownGraceMs: 1_000 });
  renewalsSchedule = temporal.client.schedule.getHandle(`${taskQueue}-plan-renewals`);
  ledgerSchedule = temporal.client.schedule.getHandle(`${taskQueue}-ledger-check`);
});
afterAll(async () => {
  for (const name of ["plan-renewals", "ledger-check", "reconcile-runs", "retention", "retiring-models"])
    await temporal.client.schedule.getHandle(`${taskQueue}-${name}`).delete();
  await temporal.stop();
  await money.stop();
});

/** Creates accounts whose month is over. */
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

/** Result of the next workflow that the schedule starts. */
const trigger = async (schedule: ScheduleHandle): Promise<unknown> => {
  const before = new Set((await schedule.describe()).info.recentActions.map(({ action }) => action.workflow.firstExecutionRunId));
  // Without this policy a schedule skips a trigger until it has seen the end of its last workflow.
  await schedule.trigger("ALLOW_ALL");
  for (;;) {
    const { recentActions } = (await schedule.describe()).info;
    const started = recentActions.find(({ action }) => !before.has(action.workflow.firstExecutionRunId));
    if (started) {
      // Workflows started in one second share their id.
      const { workflowId, firstExecutionRunId } = started.action.workflow;
      return temporal.client.workflow.getHandle(workflowId, firstExecutionRunId).result();
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

it.each([
  ["reconcile-runs", "reconcileRuns", 300_000],
  ["plan-renewals", "renewPlans", 3_600_000],
  ["retention", "removeExpired", 3_600_000],
  ["ledger-check", "checkWholeLedger", 604_800_000],
  ["retiring-models", "tellOfRetiringModels", 86_400_000],
])("schedules %s as one workflow at a time", async (name, workflowType, every) => {
  await ensureSchedules(temporal.client, taskQueue, SCHEDULES);
  const described = await temporal.client.schedule.getHandle(`${taskQueue}-${name}`).describe();
  expect(described.spec.intervals).toEqual([expect.objectContaining({ every })]);
  expect(described).toMatchObject({ action: { type: "startWorkflow", workflowType, taskQueue }, policies: { overlap: "SKIP" } });
});

it("is scheduled hourly, once over all processes, and stays paused if an operator paused it", async () => {
  await Promise.all([ensureSchedules(temporal.client, taskQueue, SCHEDULES), ensureSchedules(temporal.client, taskQueue, SCHEDULES)]);
  const schedule = renewalsSchedule;
  const described = await schedule.describe();
  expect(described.spec.intervals).toEqual([expect.objectContaining({ every: 3_600_000 })]);
  expect(described.policies).toMatchObject({ overlap: "SKIP", catchupWindow: 3_600_000 });
  await schedule.pause("an operator's reasons");
  await ensureSchedules(temporal.client, taskQueue, SCHEDULES);
  expect((await schedule.describe()).state.paused).toBe(true);
  await schedule.unpause();
});

it("renews accounts without activity once when Temporal triggers it, in parallel with runs that also renew them", async () => {
  await ensureSchedules(temporal.client, taskQueue, SCHEDULES);
  await subscribe(USERS);
  const [touched] = USERS;
  const run = { executionId: "e1", userId: touched!, items: [{ key: "a:0", model: "m", maxMillicredits: 100 }], maxActive: 0 };
  const [result] = await Promise.all([trigger(renewalsSchedule), money.billing.hold(billingProto.HoldRequest.fromPartial(run))]);
  expect([USERS.length, USERS.length - 1]).toContain((result as { renewed: number }).renewed);
  expect(await trigger(renewalsSchedule)).toEqual({ renewed: 0, failed: 0 });
  for (const userId of USERS) {
    const kinds = (await kindsOf(userId)).filter((kind) => kind !== "hold");
    expect(kinds).toEqual(["plan_renewal", "plan_expiry", "plan_renewal"]);
  }
  expect(await money.billing.checkLedger({ cursor: "" })).toMatchObject({ ok: true });
});

it("checks every account against all of its rows, and counts differences", async () => {
  await ensureSchedules(temporal.client, taskQueue, SCHEDULES);
  const before = (await trigger(ledgerSchedule)) as LedgerReport;
  expect(before).toMatchObject({ mismatches: 0 });
  expect(before.accounts).toBeGreaterThanOrEqual(USERS.length);
  const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${money.prefix}billing` });
  await connection.collection<{ _id: string }>("accounts").updateOne({ _id: USERS[1]! }, { $inc: { topUp: 5 } });
  await connection.close();
  expect(await trigger(ledgerSchedule)).toEqual({ ...before, mismatches: 1 });
});

it("continues where an earlier attempt stopped", async () => {
  const cursors: string[] = [];
  const pages = ["", "1:a", "2:b"];
  const renewals = createRenewals({
    billing: {
      renewDuePlans: ({ cursor }) => {
        cursors.push(cursor);
        const next = pages[pages.indexOf(cursor) + 1] ?? "";
        return Promise.resolve(billingProto.RenewDuePlansResponse.fromPartial({ renewed: 1, nextCursor: next }));
      },
    },
  });
  const beats: RenewalProgress[] = [];
  expect(await renewals((progress) => void beats.push(progress))).toEqual({ renewed: 3, failed: 0 });
  expect(cursors).toEqual(pages);
  cursors.length = 0;
  expect(await renewals(() => undefined, beats[0])).toEqual({ renewed: 3, failed: 0 });
  expect(cursors).toEqual(pages.slice(1));
});
