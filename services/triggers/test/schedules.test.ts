import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { accountSuspended, DomainError } from "@nodeloom/kernel";
import { connectMongo, makeCollections } from "@nodeloom/platform";
import { connectTemporal, type RunningTemporal } from "@nodeloom/platform/temporal";
import { identity, triggers, type executions as messages } from "@nodeloom/proto";
import type { Connection } from "mongoose";
import { eventually } from "../../../test-support/eventually";
import { newRecord } from "../../executions/test/support/index";
import { logger, startMoney, type Money } from "../../executions/test/support/money";
import { createWorld, PRICE, type World } from "../../executions/test/support/world";
import { createActivities } from "../src/activities";
import { createArrivals } from "../src/arrivals-store";
import { createHookStore } from "../src/hooks/hook-store";
import { createTemporalSchedules, type TemporalSchedules } from "../src/schedules/temporal-schedules";
import { nextTimes } from "../src/schedules/cron";
import { createScheduleStore, type ScheduleRecord, type ScheduleStore } from "../src/schedules/schedule-store";
import { createTriggers, type Triggers } from "../src/triggers";

/** A time that isn't reached during tests. */
const NEVER = { cron: "0 0 29 2 *", timezone: "UTC" };
const FREE = JSON.stringify({ calls: 0 });
const PAID = JSON.stringify({ calls: 1 });
const AT = new Date("2027-01-04T09:00:00.000Z");
const minutesLater = (minutes: number): Date => new Date(AT.getTime() + minutes * 60_000);

let money: Money;
let connection: Connection;
let store: ScheduleStore;
let temporal: RunningTemporal;
let temporalSchedules: TemporalSchedules;
const earlierQueue = `schedules-${randomUUID().slice(0, 8)}`;
const taskQueue = `${earlierQueue}-triggers`;

/** Responses of identity about accounts, and of planning. */
let user: identity.User;
let keyFailure: DomainError | undefined;
let planFailure: DomainError | undefined;
const accounts = {
  getUser: () => Promise.resolve({ user }),
  resolveKey: ({ keyId }: identity.ResolveKeyRequest) =>
    keyFailure
      ? Promise.reject(keyFailure)
      : Promise.resolve(
          identity.ResolveKeyResponse.fromPartial({ key: { id: keyId }, user, effectiveCapabilities: ["workflow:flow:run"] }),
        ),
};

const approveGraph = ({ slug, ownerId }: { slug: string; ownerId: string }): Promise<object> => {
  approvals.push(`${slug} of ${ownerId}`);
  return Promise.resolve({});
};
const approvals: string[] = [];

let world: World;
let all: Triggers;
const planned: string[] = [];

/** Ids of schedules that executions still stores. */
const unmoved = new Set<string>();

/** Executions with the real store and billing, and without schedules to move. */
const executionsOf = (replica: ReturnType<World["replica"]>) =>
  ({
    run: async (request: messages.RunRequest) => {
      const { row } = await replica.runs.run(request, Date.now() + 60_000);
      return { execution: { id: row._id } };
    },
    quote: ({ target }: messages.QuoteRequest) => {
      planned.push(target?.version ?? "");
      return planFailure ? Promise.reject(planFailure) : Promise.resolve({});
    },
    getExecution: async ({ executionId }: messages.GetExecutionRequest) => ({ execution: await money.stores.rows.find(executionId) }),
    findUnmoved: ({ id }: messages.FindUnmovedRequest) => Promise.resolve({ scheduleIds: unmoved.has(id) ? [id] : [], hookIds: [] }),
  }) as never;
const start = (): void => {
  const workflows = { approveGraph } as never;
  const executions = executionsOf(world.replica());
  const arrivals = createArrivals(connection, executions);
  all = createTriggers({
    ...{ stores: { schedules: store, hooks: createHookStore(connection) }, arrivals },
    ...{ executions, identity: accounts as never, workflows, temporalSchedules, logger },
  });
};

beforeAll(async () => {
  money = await startMoney();
  connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${money.prefix}triggers` });
  store = createScheduleStore(connection);
  await makeCollections(connection);
  temporal = await connectTemporal({
    ...{ address: process.env.TEMPORAL_ADDRESS!, namespace: "default", taskQueue, logger, shutdownGraceMs: 2_000 },
    workflowBundle: { codePath: join(__dirname, "..", "dist", "workflow-bundle.js") },
  });
  temporalSchedules = createTemporalSchedules({ client: temporal.client, taskQueue, earlierQueue });
  const fire: Triggers["fire"] = (scheduleId, at) => all.fire(scheduleId, at);
  await temporal.work(createActivities({ fire, reconcile: (beat) => all.reconcile(beat) }));
});
afterAll(async () => {
  for await (const { scheduleId } of temporalSchedules.runningSchedules()) await temporalSchedules.end(scheduleId);
  await temporal.stop();
  await connection.dropDatabase();
  await connection.close();
  await money.stopBalanced();
});
beforeEach(async () => {
  world = await createWorld(money);
  const plan = identity.Plan.fromPartial({ tier: "pro", base: "pro", markupPermille: 1_500, concurrency: 10 });
  user = identity.User.fromPartial({ id: world.userId, role: "user", tier: "pro", approved: true, plan });
  [keyFailure, planFailure] = [undefined, undefined];
  planned.length = 0;
  approvals.length = 0;
  start();
});

const create = (part: Partial<triggers.CreateScheduleRequest> = {}, keyId = ""): Promise<ScheduleRecord> =>
  all.schedules.create(
    triggers.CreateScheduleRequest.fromPartial({
      owner: { userId: world.userId, keyId },
      workflowSlug: "flow",
      ...NEVER,
      inputsJson: FREE,
      ...part,
    }),
  );
const update = (row: ScheduleRecord, part: object, keyId = ""): Promise<ScheduleRecord> =>
  all.schedules.update(
    triggers.UpdateScheduleRequest.fromPartial({ owner: { userId: world.userId, keyId }, workflowSlug: "flow", id: row._id, ...part }),
  );
const serve = (row: ScheduleRecord, at = AT) => all.fire(temporalSchedules.idOf(row), at);
const stored = async ({ _id }: ScheduleRecord): Promise<ScheduleRecord> => (await store.find(_id))!;
const handleOf = (row: ScheduleRecord) => temporal.client.schedule.getHandle(temporalSchedules.idOf(row));
const isCarried = (row: ScheduleRecord): Promise<boolean> =>
  handleOf(row)
    .describe()
    .then(
      () => true,
      () => false,
    );

describe("a schedule", () => {
  it("starts one run at its time, with its owner's key, when Temporal triggers it", async () => {
    const row = await create({}, "key-1");
    await handleOf(row).trigger();
    await eventually(async () => (await stored(row)).history.length > 0);
    const [served] = (await stored(row)).history;
    expect(served).toMatchObject({ outcome: "started", code: null });
    expect(await money.stores.rows.find(served!.executionId!)).toMatchObject({
      userId: world.userId,
      status: "completed",
      source: "api-workflow",
      keyId: "key-1",
      metadata: [`scheduleId\0${row._id}`],
    });
  });

  it("approves the workflow's current graph when it is set, and later approvals also apply", async () => {
    const row = await create();
    expect([planned, approvals]).toEqual([[""], [`flow of ${world.userId}`]]);
    await update(row, { inputsJson: PAID });
    expect([planned, approvals.length]).toEqual([["", "approved"], 1]);
    planFailure = new DomainError("not_found", "WORKFLOW_NOT_FOUND", "workflow not found");
    await expect(create()).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
    expect(approvals).toHaveLength(1);
  });

  it("runs once per time, however often and from wherever it is triggered", async () => {
    const row = await create();
    const many = await Promise.all([serve(row), serve(row), serve(row)]);
    const again = await serve(row);
    expect(new Set([...many, again].map((time) => time?.executionId)).size).toBe(1);
    expect((await stored(row)).history).toHaveLength(1);
    expect(await money.usageRows(world.userId)).toHaveLength(1);
    const next = await serve(row, minutesLater(1));
    expect(next?.executionId).not.toBe(again?.executionId);
    expect(await money.usageRows(world.userId)).toHaveLength(2);
  });

  it("skips a time while the previous run is in progress", async () => {
    const row = await create();
    const before = newRecord(world.userId, { status: "processing" });
    await money.stores.rows.insert(before);
    const time = { at: AT, outcome: "started" as const, executionId: before._id, code: null, message: null };
    await store.note(row._id, time, { unpaid: 0, lastExecutionId: before._id });
    expect(await serve(row, minutesLater(1))).toMatchObject({ outcome: "skipped", executionId: null });
    expect((await stored(row)).lastExecutionId).toBe(before._id);
  });

  it.each([
    ["the account is suspended", "ACCOUNT_SUSPENDED", () => void (user = { ...user, suspended: true })],
    ["approval is taken back", "ACCOUNT_NOT_APPROVED", () => void (user = { ...user, approved: false })],
    ["the tier has no API any more", "CAPABILITY_DENIED", () => void (user = { ...user, plan: { ...user.plan!, base: "free" } })],
  ])("stops with the reason if %s", async (_when, code, change) => {
    const row = await create();
    change();
    expect(await serve(row)).toMatchObject({ outcome: "refused", code });
    expect((await stored(row)).stopped).toMatchObject({ code });
    expect(await isCarried(row)).toBe(false);
    expect(await serve(row, minutesLater(1))).toBeNull();
    expect(await money.usageRows(world.userId)).toEqual([]);
  });

  it("stops with the key that set it, and continues for the account that resumes it", async () => {
    const row = await create({}, "key-1");
    keyFailure = new DomainError("unauthenticated", "UNAUTHENTICATED", "no");
    await serve(row);
    const stopped = await stored(row);
    expect(stopped.stopped).toMatchObject({ code: "UNAUTHENTICATED", message: expect.stringContaining("revoked") as string });
    const resumed = await update(stopped, { paused: false });
    expect(resumed).toMatchObject({ stopped: null, keyId: null });
    expect(await isCarried(resumed)).toBe(true);
    expect(await serve(resumed, minutesLater(1))).toMatchObject({ outcome: "started" });
  });

  it.each([
    ["its inputs", { inputsJson: PAID }],
    ["its limit", { limit: { millicredits: 1 } }],
    ["its limit to none", { limit: {} }],
    ["its times", { cron: "0 1 29 2 *" }],
    ["its time zone", { timezone: "Europe/Berlin" }],
    ["a pause that ends", { paused: false }],
    ["its inputs while it pauses", { paused: true, inputsJson: PAID }],
  ])("uses the key of the caller who changes %s from then on", async (_what, part) => {
    const row = await create({}, "key-1");
    expect(await update(row, part, "key-2")).toMatchObject({ keyId: "key-2" });
  });

  it("keeps the key that set it if another caller only pauses it", async () => {
    const row = await create({}, "key-1");
    expect(await update(row, { paused: true }, "key-2")).toMatchObject({ paused: true, keyId: "key-1" });
  });

  it("stops after three consecutive unpaid runs, and not before", async () => {
    world = await createWorld(money, { funds: 1 });
    user = { ...user, id: world.userId };
    start();
    const row = await create({ inputsJson: PAID });
    for (const minute of [0, 1]) expect(await serve(row, minutesLater(minute))).toMatchObject({ code: "INSUFFICIENT_CREDITS" });
    await update(row, { inputsJson: FREE });
    expect(await serve(row, minutesLater(2))).toMatchObject({ outcome: "started" });
    await update(row, { inputsJson: PAID });
    for (const minute of [3, 4]) await serve(row, minutesLater(minute));
    expect((await stored(row)).stopped).toBeNull();
    await serve(row, minutesLater(5));
    expect((await stored(row)).stopped).toMatchObject({
      code: "INSUFFICIENT_CREDITS",
      message: expect.stringContaining("3 times") as string,
    });
  });

  it("limits each run by its own maximum", async () => {
    const row = await create({ inputsJson: PAID, maxMillicredits: PRICE - 1 });
    expect(await serve(row)).toMatchObject({ outcome: "refused", code: "INSUFFICIENT_CREDITS" });
  });

  it("follows a change of its times: Temporal has the new ones, and an earlier trigger of the old ones still runs", async () => {
    const row = await create();
    const changed = await update(row, { cron: "0 12 29 2 *" });
    expect([await isCarried(row), await isCarried(changed)]).toEqual([false, true]);
    expect(await serve(row, new Date(changed.timedAt.getTime() + 1))).toBeNull();
    expect(await serve(row, new Date(row.timedAt.getTime() - 1))).toMatchObject({ outcome: "started" });
    const paused = await update(changed, { paused: true });
    expect([await isCarried(changed), await isCarried(paused)]).toEqual([false, false]);
    expect(await serve(changed)).toBeNull();
  });

  it("is rejected if the workflow can't run, or its times are invalid", async () => {
    planFailure = new DomainError("not_found", "WORKFLOW_NOT_FOUND", "workflow not found");
    await expect(create()).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
    planFailure = undefined;
    user = { ...user, suspended: true };
    await expect(create()).rejects.toMatchObject({ reason: accountSuspended().reason });
    user = { ...user, suspended: false };
    for (const part of [{ cron: "61 * * * *" }, { cron: "* * * * * *" }, { cron: "0 0 30 2 *" }, { cron: "0 9 L * *" }])
      await expect(create(part)).rejects.toMatchObject({ metadata: { issues: [expect.objectContaining({ path: "cron" })] } });
    for (const timezone of ["Middle/Earth", "+02:00", ""])
      await expect(create({ timezone })).rejects.toMatchObject({ metadata: { issues: [expect.objectContaining({ path: "timezone" })] } });
    await expect(create({ inputsJson: "[]" })).rejects.toMatchObject({ metadata: { issues: [{ path: "inputs" }] } });
    expect(await all.schedules.list(world.userId, "flow")).toEqual([]);
  });

  it.each([
    ["a day that its months don't have", { cron: "0 0 30 2 *" }, "never comes: its months don't have this day"],
    ["a city alone", { timezone: "new york" }, "isn't a time zone such as Europe/Berlin or UTC: did you mean America/New_York?"],
  ])("says what to do about %s", async (_what, part, message) => {
    await expect(create(part)).rejects.toMatchObject({ metadata: { issues: [{ message }] } });
  });

  it("is limited to twenty per account, however many are created at once", async () => {
    const results = await Promise.allSettled(Array.from({ length: 22 }, () => create({ paused: true })));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
    await expect(create()).rejects.toMatchObject({ reason: "PRECONDITION_FAILED", metadata: { limit: 20, workflows: ["flow"] } });
  });
});

describe("Temporal's schedules", () => {
  const reconcile = () => all.reconcile(() => undefined);
  /** Polls until Temporal's list is up to date. */
  const settled = (): Promise<boolean> => eventually(async () => (await reconcile()).changed === 0);

  it("are created again from the rows after Temporal has lost them, and end without a row", async () => {
    const [lostSchedule, removed, paused] = [await create(), await create(), await create({ paused: true })];
    await settled();
    await handleOf(lostSchedule).delete();
    await store.remove(world.userId, "flow", removed._id);
    await eventually(async () => {
      await reconcile();
      return (await isCarried(lostSchedule)) && !(await isCarried(removed));
    });
    await settled();
    expect([await isCarried(lostSchedule), await isCarried(removed), await isCarried(paused)]).toEqual([true, false, false]);
  });

  it("replace the schedules of 1.0.0 whose rows have moved or are deleted, and keep those that executions still has", async () => {
    const earlier = createTemporalSchedules({ client: temporal.client, taskQueue: earlierQueue, earlierQueue });
    const [moved, removedSchedule, stays] = [await create(), await create(), await create()];
    for (const row of [moved, removedSchedule, stays]) await earlier.begin(row);
    for (const row of [removedSchedule, stays]) await store.remove(world.userId, "flow", row._id);
    unmoved.add(stays._id);
    const isThere = (row: ScheduleRecord) =>
      temporal.client.schedule
        .getHandle(earlier.idOf(row))
        .describe()
        .then(
          () => true,
          () => false,
        );
    await eventually(async () => {
      await reconcile();
      return !(await isThere(moved)) && !(await isThere(removedSchedule));
    });
    expect([await isCarried(moved), await isCarried(removedSchedule), await isThere(stays)]).toEqual([true, false, true]);
    // After the move, the row defines the schedule's times.
    expect(await all.fire(earlier.idOf(moved), AT)).toMatchObject({ outcome: "started" });
    unmoved.clear();
    await settled();
    expect(await isThere(stays)).toBe(false);
  });

  it.each([
    ["0 9 * * 1-5", "Europe/Berlin"],
    ["*/20 5-6 * 1,jul *", "America/New_York"],
    ["30 2 13 * 5", "UTC"],
    ["0 0 1,15 * 7", "asia/kolkata"],
    ["30 2 28 3 *", "Europe/Berlin"],
    ["@weekly", "Pacific/Auckland"],
  ])("start at the displayed times: %s in %s", async (cron, timezone) => {
    const row = await create({ cron, timezone });
    const { info } = await handleOf(row).describe();
    const times = nextTimes(row, 5);
    expect(info.nextActionTimes.slice(0, times.length)).toEqual(times);
    expect(times.length).toBeGreaterThan(3);
  });
});
