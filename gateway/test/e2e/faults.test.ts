import { connectMongo } from "@nodeloom/platform";
import { clientOf, eventually, type Account, type Answer } from "../../../test-support/client";
import { startChatProvider, type ChatProvider } from "./support/chat-provider";
import { clip, filmLoop, greeting } from "../../../test-support/graphs";
import { APART, startPlatform, type Platform } from "../../../test-support/platform";
import { withTemporal } from "./support/temporal";
import { idOf, isSignedBy } from "../../../test-support/receiver";
import { startRecorder, type Recorder } from "../../../test-support/recorder";

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account & { webhookSecret?: string };
let receiver: Recorder;
let chat: ChatProvider;
const BILLING = "billing";
const EXECUTIONS = "executions";

beforeAll(async () => {
  [receiver, chat] = await Promise.all([startRecorder(), startChatProvider()]);
  platform = await startPlatform({
    allow: [receiver.address, chat.address],
    groups: [APART[0]!.filter((name) => name !== BILLING), [BILLING], [EXECUTIONS], ["gateway"]],
  });
  client = clientOf(platform);
  user = await client.account({ tier: "enterprise", webhook: { url: receiver.url } });
});
afterAll(async () => {
  await platform.stop();
  await receiver.close();
  await chat.close();
});

const post = (path: string, body: unknown): Promise<Answer> => client.call("POST", path, { key: user.key, body });
const get = (path: string): Promise<Answer> => client.call("GET", path, { key: user.key });
const save = async (graph: unknown): Promise<string> => ((await post("/api/workflows", graph)).body as unknown as { slug: string }).slug;
const isFinal = ({ body }: Answer): boolean => ["completed", "failed", "cancelled"].includes(body.status as string);
/** A service that was just killed can be unavailable for a moment, so the test retries like a client. */
const me = (): Promise<Answer> =>
  eventually(
    () => client.call("GET", "/api/me", { cookie: user.cookie }),
    ({ status }) => status === 200,
  );
const balance = async (): Promise<number> => ((await me()).body.credits as { plan: number }).plan;
/** Runs rejected while billing was unavailable release their holds after it returns. */
const nothingIsHeld = (): Promise<Answer> => eventually(me, ({ body }) => (body.credits as { held: number }).held === 0);
const rowsOf = async (slug: string): Promise<{ status: string; creditsCost: number }[]> =>
  (await get(`/api/usage?workflowSlug=${slug}&limit=500`)).body.rows as unknown as { status: string; creditsCost: number }[];
/** Usage rows of finished runs. They can appear shortly after the response. */
const finalRowsOf = (slug: string, count: number): ReturnType<typeof rowsOf> =>
  eventually(
    () => rowsOf(slug),
    (rows) => rows.length === count && rows.every(({ status }) => status !== "processing"),
  );
const ledgerIsRight = async (): Promise<void> =>
  expect((await client.asAdmin("GET", "/api/admin/ledger/check")).body).toMatchObject({ ok: true, mismatches: [] });

/** Makes all running runs look untouched for an hour. */
const ageRuns = async (): Promise<void> => {
  const { MONGODB_URI, MONGODB_DATABASE_PREFIX } = platform.env;
  const database = await connectMongo({ uri: MONGODB_URI!, database: `${MONGODB_DATABASE_PREFIX!}executions` });
  await database
    .collection("executions")
    .updateMany({ status: "processing" }, { $set: { seenRunningAt: new Date(Date.now() - 3_600_000) } });
  await database.close();
};

it("completes an asynchronous run once after kill -9 of the executions process, and charges it once", async () => {
  const slug = await save(clip({ latencyMs: 3_000 }));
  const before = await balance();
  const started = await post(`/api/workflows/${slug}/run?async=true`, { inputs: {} });
  expect(started.status).toBe(202);
  await platform.processes[EXECUTIONS]!.kill();
  await platform.processes[EXECUTIONS]!.start();
  const endedRun = await eventually(() => get(`/api/executions/${started.body.executionId as string}`), isFinal);
  expect(endedRun.body).toMatchObject({ status: "completed", result: { videos: [{}] } });
  expect(await finalRowsOf(slug, 1)).toEqual([expect.objectContaining({ status: "completed", creditsCost: 5.75 })]);
  expect(before - (await balance())).toBeCloseTo(5.75, 6);
  const id = `msg_${started.body.executionId as string}`;
  const [delivery] = await eventually(
    () => Promise.resolve(receiver.requests.filter((one) => idOf(one) === id)),
    (messages) => messages.length > 0,
  );
  expect(isSignedBy(user.webhookSecret!, delivery!)).toBe(true);
  await ledgerIsRight();
});

it("answers a synchronous run even if the executions process is killed meanwhile", async () => {
  const slug = await save(clip({ latencyMs: 2_500 }));
  const answer = post(`/api/workflows/${slug}/run`, { inputs: {} });
  await eventually(
    () => rowsOf(slug),
    (rows) => rows.length === 1,
  );
  await platform.processes[EXECUTIONS]!.kill();
  await platform.processes[EXECUTIONS]!.start();
  expect(await answer).toMatchObject({ status: 200, body: { success: true } });
  await finalRowsOf(slug, 1);
});

it("continues a loop in the turn in which the executions process was killed, and charges each turn once", async () => {
  const slug = await save(filmLoop(await save(clip({ latencyMs: 2_000 })), 3));
  const before = await balance();
  const { body } = await post(`/api/workflows/${slug}/run?async=true`, { inputs: {} });
  const poll = (): Promise<Answer> => get(`/api/executions/${body.executionId as string}`);
  const turn = ({ body: { nodes } }: Answer, number: number) => (nodes as { id: string }[]).find(({ id }) => id === `loop/${number}/clip`);
  await eventually(poll, (answer) => (turn(answer, 2) as { status?: string } | undefined)?.status === "processing");
  await platform.processes[EXECUTIONS]!.kill();
  await platform.processes[EXECUTIONS]!.start();
  const endedRun = await eventually(poll, isFinal);
  expect(endedRun.body).toMatchObject({ status: "completed", result: { videos: [{}], turns: 3 } });
  for (const number of [1, 2, 3]) expect(turn(endedRun, number)).toMatchObject({ status: "completed", creditsCost: 5.75 });
  expect(before - (await balance())).toBeCloseTo(3 * 5.75, 6);
  await ledgerIsRight();
});

it("charges every run exactly once while billing is killed repeatedly", async () => {
  const slug = await save(clip({ latencyMs: 300 }));
  const before = await balance();
  const runs = Array.from({ length: 40 }, () => post(`/api/workflows/${slug}/run?async=true`, { inputs: {} }));
  for (let kills = 0; kills < 3; kills += 1) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await platform.processes[BILLING]!.kill();
    await platform.processes[BILLING]!.start();
  }
  const answers = await Promise.all(runs);
  const accepted = answers.filter((answer) => answer.status === 202);
  // Requests that weren't accepted got SERVICE_UNAVAILABLE and had no other effect.
  expect(answers.filter((answer) => answer.status !== 202).every((answer) => answer.status === 503)).toBe(true);
  for (const { body } of accepted) {
    const endedRun = await eventually(() => get(`/api/executions/${body.executionId as string}`), isFinal);
    expect(endedRun.body).toMatchObject({ status: "completed" });
  }
  const rows = await finalRowsOf(slug, accepted.length);
  await nothingIsHeld();
  expect(before - (await balance())).toBeCloseTo(rows.length * 5.75, 6);
  await ledgerIsRight();
});

it("gives correct limits and settles exactly once with two gateways and two executions processes", async () => {
  const [gateway] = await Promise.all([platform.startAnother("gateway"), platform.startAnother(EXECUTIONS)]);
  const bases = [platform.baseUrl, `http://${gateway.env.GATEWAY_LISTEN!}`];
  const pro = await client.account({ tier: "pro" });
  const replies = await Promise.all(
    Array.from({ length: 130 }, (_, index) =>
      clientOf({ baseUrl: bases[index % 2]!, admin: platform.admin }).call("GET", "/api/usage", { key: pro.key }),
    ),
  );
  const refusals = replies.filter(({ status }) => status !== 200);
  expect(refusals.map(({ status, body }) => [status, body.code])).toEqual(Array(30).fill([429, "RATE_LIMIT_EXCEEDED"]));

  const slug = await save(clip({ latencyMs: 200 }));
  const before = await balance();
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      clientOf({ baseUrl: bases[index % 2]!, admin: platform.admin }).call("POST", `/api/workflows/${slug}/run`, {
        key: user.key,
        body: { inputs: {} },
      }),
    ),
  );
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
  await finalRowsOf(slug, 30);
  expect(before - (await balance())).toBeCloseTo(30 * 5.75, 6);
  await ledgerIsRight();
});

it("never exceeds a provider's limit with two executions processes, also when one of them is killed", async () => {
  const LIMIT = 4;
  const RUNS = 80;
  expect(await client.asAdmin("POST", "/api/admin/models", chat.entry("chat", LIMIT))).toMatchObject({ status: 201 });
  const other = await platform.startAnother(EXECUTIONS);
  const gateway = await platform.startAnother("gateway", { EXECUTIONS_ADDRESS: other.env.EXECUTIONS_LISTEN! });
  const bases = [platform.baseUrl, `http://${gateway.env.GATEWAY_LISTEN!}`];
  const since = new Date().toISOString();
  // A run starts on the process that accepts it.
  const [survivors] = bases.map((baseUrl) =>
    Array.from({ length: RUNS / 2 }, () =>
      clientOf({ baseUrl, admin: platform.admin })
        .call("POST", "/api/models/chat/run", { key: user.key, body: { inputs: { prompt: "a loom" } } })
        .catch(() => undefined),
    ),
  );
  await eventually(() => chat.counts.ended > RUNS / 8);
  await other.process.kill();
  for (const answer of await Promise.all(survivors!)) expect(answer).toMatchObject({ status: 200 });
  const { rows } = (
    await eventually(
      () => get(`/api/executions?limit=${RUNS}&createdAfter=${since}`),
      ({ body }) => (body.rows as { status: string }[]).every(({ status }) => status !== "processing"),
    )
  ).body as unknown as { rows: { status: string }[] };
  // The killed process hadn't accepted all of its requests.
  expect(rows.length).toBeGreaterThan(RUNS / 2);
  expect(rows.filter(({ status }) => status !== "completed")).toEqual([]);
  expect(chat.counts.most).toBe(LIMIT);
});

it("holds both money invariants under 100 parallel runs of one user", async () => {
  const slug = await save(greeting());
  const paidSlug = await save(clip({ latencyMs: 50 }));
  const before = await balance();
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => post(`/api/workflows/${index % 2 === 0 ? slug : paidSlug}/run`, { inputs: {} })),
  );
  expect(answers.every((answer) => answer.status === 200)).toBe(true);
  expect(before - (await balance())).toBeCloseTo(50 * 5.75, 6);
  await ledgerIsRight();
});

it("ends a run that an operator terminated: failed, free, with its webhook sent and no held credits", async () => {
  const slug = await save(clip({ latencyMs: 600_000 }));
  const before = await balance();
  const [terminated, completed] = await Promise.all([1, 2].map(() => post(`/api/workflows/${slug}/run?async=true`, { inputs: {} })));
  const [lostId, carriedId] = [terminated!.body.executionId as string, completed!.body.executionId as string];
  await withTemporal(async (temporal) => {
    await temporal.workflow.getHandle(lostId).terminate("by mistake");
    await ageRuns();
    await temporal.schedule.getHandle(`${platform.env.TEMPORAL_TASK_QUEUE!}-reconcile-runs`).trigger();
  });
  const endedRun = await eventually(() => get(`/api/executions/${lostId}`), isFinal);
  expect(endedRun.body).toMatchObject({ status: "failed", error: { code: "EXECUTION_FAILED" }, webhookDelivery: { configured: true } });
  const { body: carries } = await eventually(
    () => get(`/api/executions/${carriedId}`),
    ({ body }) => body.requestId !== null,
  );
  expect(carries.status).toBe("processing");
  await post(`/api/executions/${carriedId}/cancel`, undefined);
  await eventually(() => get(`/api/executions/${carriedId}`), isFinal);
  expect(await finalRowsOf(slug, 2)).toContainEqual(expect.objectContaining({ status: "failed", creditsCost: 0 }));
  // The cancelled run is charged.
  expect(before - (await balance())).toBeCloseTo(5.75, 6);
  expect((await me()).body.credits).toMatchObject({ held: 0 });
  const [delivery] = await eventually(
    () => Promise.resolve(receiver.requests.filter((one) => idOf(one) === `msg_${lostId}`)),
    (rows) => rows.length > 0,
  );
  expect(JSON.parse(delivery!.body)).toMatchObject({ type: "execution.failed", data: { executionId: lostId } });
  await ledgerIsRight();
});

it("runs a schedule on time, and restores it after Temporal has lost it", async () => {
  const path = `/api/workflows/${await save(greeting())}/schedules`;
  const { body: schedule } = await post(path, { cron: "0 0 29 2 *", inputs: { prompt: "a loom" } });
  const queue = `${platform.env.TEMPORAL_TASK_QUEUE!}-triggers`;
  await withTemporal(async (temporal) => {
    const carriedSchedule = temporal.schedule.getHandle(`${queue}-schedule-${String(schedule.id)}-1`);
    await carriedSchedule.trigger();
    const { body } = await eventually(
      () => get(`${path}/${String(schedule.id)}`),
      (answer) => (answer.body.history as unknown[]).length > 0,
    );
    expect(body).toMatchObject({
      history: [{ outcome: "started" }],
      executions: [{ status: "completed", source: "api-workflow", metadata: { scheduleId: schedule.id } }],
    });
    await carriedSchedule.delete();
    // Temporal's list can show deleted entries for a moment.
    await eventually(async () => {
      await temporal.schedule.getHandle(`${queue}-reconcile-schedules`).trigger();
      return carriedSchedule.describe().then(
        () => true,
        () => false,
      );
    });
  });
});
