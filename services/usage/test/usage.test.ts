import { randomUUID } from "node:crypto";
import { connectMongo, createGrpcClient, type ClientOf, type RunningService } from "@nodeloom/platform";
import { erasure, usage as proto } from "@nodeloom/proto";
import { service } from "../src/main";
import { startMigrated } from "../../../test-support/start-migrated";
import { patient } from "../../../test-support/patient";

const prefix = `test_${randomUUID().slice(0, 8)}_`;
const env = {
  MONGODB_URI: process.env.MONGODB_URI,
  MONGODB_DATABASE_PREFIX: prefix,
  USAGE_LISTEN: "127.0.0.1:0",
  LOG_LEVEL: "error",
};
type UsageClient = ClientOf<proto.UsageServiceServer>;
let services: RunningService[];
let clients: [UsageClient, UsageClient];
let client: UsageClient;

const start = async (): Promise<UsageClient> => {
  const running = await startMigrated(service, env);
  services.push(running);
  return patient(
    createGrpcClient<proto.UsageServiceServer>(proto.UsageServiceService, { address: `127.0.0.1:${running.ports!.USAGE_LISTEN}` }),
  );
};

beforeAll(async () => {
  services = [];
  clients = [await start(), await start()];
  client = clients[0];
});
afterAll(async () => {
  for (const each of clients) each.close();
  await Promise.all(services.map((each) => each.stop()));
  const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${prefix}usage` });
  await connection.dropDatabase();
  await connection.close();
});

const user = (): string => `user-${randomUUID()}`;
const runOf = (userId: string, part: Partial<proto.RunStart> = {}): proto.RunStart =>
  proto.RunStart.fromPartial({
    executionId: randomUUID(),
    userId,
    workflowSlug: "posters",
    modelIds: ["painter"],
    source: "api-workflow",
    startedAt: new Date("2026-01-01T00:00:00Z"),
    ...part,
  });
const finished = (run: proto.RunStart, status: string, part: Partial<proto.FinishRunRequest> = {}): proto.FinishRunRequest =>
  proto.FinishRunRequest.fromPartial({
    run,
    status,
    costMicroUsd: 20_000,
    userCostMicroUsd: 30_000,
    millicredits: 3_000,
    durationMs: 42,
    ...part,
  });
const list = (userId: string, part: Partial<proto.ListRowsRequest> = {}): Promise<proto.ListRowsResponse> =>
  client.listRows(proto.ListRowsRequest.fromPartial({ userId, ...part }));
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));

it("shows a run as processing until it is final, with all reported values", async () => {
  const userId = user();
  const run = runOf(userId);
  const { id } = await client.startRun({ run });
  const { startedAt: createdAt, ...fields } = run;
  expect(await list(userId)).toMatchObject({ total: 1, rows: [{ ...fields, id, createdAt, status: "processing", millicredits: 0 }] });
  await client.finishRun(finished(run, "failed", { errorCode: "EXECUTION_FAILED", requestId: "req-1" }));
  expect((await list(userId)).rows).toMatchObject([
    {
      id,
      status: "failed",
      costMicroUsd: 20_000,
      userCostMicroUsd: 30_000,
      millicredits: 3_000,
      durationMs: 42,
      errorCode: "EXECUTION_FAILED",
      requestId: "req-1",
    },
  ]);
});

it("starts a run once, however often and wherever it is reported", async () => {
  const userId = user();
  const run = runOf(userId);
  const ids = await Promise.all(times(30, (index) => clients[index % 2]!.startRun({ run })));
  expect(new Set(ids.map(({ id }) => id)).size).toBe(1);
  expect((await list(userId)).total).toBe(1);
});

it("gives every row a unique ID that increases with time, whichever process writes it", async () => {
  const userId = user();
  const parallel = await Promise.all(times(40, (index) => clients[index % 2]!.startRun({ run: runOf(userId) })));
  expect(new Set(parallel.map(({ id }) => id)).size).toBe(40);
  for (const startedAt = Date.now(); Date.now() <= startedAt;) await client.startRun({ run: runOf(user()) });
  const { id: later } = await clients[1].startRun({ run: runOf(userId) });
  expect(later).toBeGreaterThan(Math.max(...parallel.map(({ id }) => id)));
});

it("keeps the first outcome, whatever is reported later or at the same time", async () => {
  const userId = user();
  const run = runOf(userId);
  await client.startRun({ run });
  await client.finishRun(finished(run, "completed"));
  await client.finishRun(finished(run, "completed"));
  await client.finishRun(finished(run, "cancelled", { millicredits: 9 }));
  await client.startRun({ run });
  expect((await list(userId)).rows).toMatchObject([{ status: "completed", millicredits: 3_000 }]);

  const contested = runOf(userId);
  await Promise.all(
    times(20, (index) => clients[index % 2]!.finishRun(finished(contested, "completed", { durationMs: index, millicredits: index }))),
  );
  const row = (await list(userId)).rows.find(({ executionId }) => executionId === contested.executionId)!;
  expect(row.durationMs).toBe(row.millicredits);
});

it("creates the row of a run whose start never arrived, or arrives too late", async () => {
  const userId = user();
  const runs = times(20, () => runOf(userId));
  await Promise.all(
    runs.flatMap((run, index) => [clients[index % 2]!.finishRun(finished(run, "completed")), clients[(index + 1) % 2]!.startRun({ run })]),
  );
  const { rows, total } = await list(userId);
  expect(total).toBe(20);
  expect(new Set(rows.map((row) => row.status))).toEqual(new Set(["completed"]));
});

it("finishes runs together, and returns only those that it finished", async () => {
  const [userId, other] = [user(), user()];
  const runs = times(10, () => runOf(userId));
  const takenRun = runOf(other);
  await client.startRun({ run: takenRun });
  const theirs = { ...takenRun, userId };
  const { executionIds } = await client.finishRuns({
    runs: [...runs, theirs].map((run) => finished(run, "completed", { unstarted: true })),
  });
  expect(executionIds.toSorted()).toEqual(runs.map(({ executionId }) => executionId).sort());
  const { rows, total } = await list(userId);
  expect([total, new Set(rows.map(({ status }) => status))]).toEqual([10, new Set(["completed"])]);
  expect((await list(other)).rows).toMatchObject([{ status: "processing" }]);
});

it("starts runs together, and returns only those that have their rows", async () => {
  const [userId, other] = [user(), user()];
  const runs = times(10, () => runOf(userId));
  const run = runOf(other);
  await client.startRun({ run });
  for (let again = 0; again < 2; again += 1) {
    const { executionIds } = await client.startRuns({ runs: [...runs, { ...run, userId }] });
    expect(executionIds.toSorted()).toEqual(runs.map(({ executionId }) => executionId).sort());
  }
  const { rows, total } = await list(userId);
  expect([total, new Set(rows.map(({ status }) => status)), new Set(rows.map(({ id }) => id)).size]).toEqual([
    10,
    new Set(["processing"]),
    10,
  ]);
});

it("never changes another user's run", async () => {
  const run = runOf(user());
  await client.startRun({ run });
  const stranger = { ...run, userId: user() };
  await expect(client.startRun({ run: stranger })).rejects.toMatchObject({ kind: "conflict" });
  await expect(client.finishRun(finished(stranger, "completed"))).rejects.toMatchObject({ kind: "conflict" });
  expect((await list(run.userId)).rows).toMatchObject([{ status: "processing" }]);
  expect((await list(stranger.userId)).total).toBe(0);
});

describe("lists", () => {
  const userId = user();
  beforeAll(async () => {
    const runs = [
      runOf(userId, { modelIds: ["painter", "singer"] }),
      runOf(userId, { workflowSlug: undefined, source: "api-slim", modelIds: ["singer"] }),
      runOf(userId, { source: "canvas", modelIds: ["secret"] }),
      runOf(userId, { workflowSlug: "songs" }),
    ];
    for (const run of runs) await client.startRun({ run });
    await client.finishRun(finished(runs[0]!, "completed"));
    await client.finishRun(finished(runs[1]!, "cancelled"));
    await client.startRun({ run: runOf(user()) });
  });

  it.each<[string, Partial<proto.ListRowsRequest>, (string | undefined)[]]>([
    ["everything, newest first", {}, ["songs", "posters", undefined, "posters"]],
    ["completed rows", { status: "completed" }, ["posters"]],
    ["cancelled rows", { status: "cancelled" }, [undefined]],
    ["processing rows", { status: "processing" }, ["songs", "posters"]],
    ["failed rows", { status: "failed" }, []],
    ["a model's rows", { modelId: "singer" }, [undefined, "posters"]],
    ["a workflow's rows", { workflowSlug: "songs" }, ["songs"]],
    ["rows of some sources", { sources: ["api-slim", "api-workflow"] }, ["songs", undefined, "posters"]],
    ["rows that match every filter", { sources: ["api-slim"], modelId: "singer", status: "cancelled" }, [undefined]],
  ])("show %s", async (_, filter, slugs) => {
    const { rows, total } = await list(userId, filter);
    expect(rows.map((row) => row.workflowSlug)).toEqual(slugs);
    expect(total).toBe(slugs.length);
  });

  it("are split into pages and still count everything", async () => {
    const whole = (await list(userId)).rows.map(({ id }) => id);
    const { rows, total } = await list(userId, { limit: 2, offset: 1 });
    expect({ ids: rows.map(({ id }) => id), total }).toEqual({ ids: whole.slice(1, 3), total: 4 });
  });

  it("list the distinct models, sorted, of the requested sources", async () => {
    expect(await client.listModelNames({ userId, sources: [] })).toEqual({ names: ["painter", "secret", "singer"] });
    expect(await client.listModelNames({ userId, sources: ["api-slim", "api-workflow"] })).toEqual({ names: ["painter", "singer"] });
  });
});

it.each<[string, () => Promise<unknown>, string]>([
  ["an unknown status filter", () => list("u", { status: "cancel_requested" }), "status"],
  ["a page that is too long", () => list("u", { limit: 501 }), "limit"],
  ["a negative offset", () => list("u", { offset: -1 }), "offset"],
  ["a list without a user", () => list(""), "userId"],
  ["an outcome that isn't final", () => client.finishRun(finished(runOf("u"), "processing")), "status"],
  ["a run without an id", () => client.startRun({ run: runOf("u", { executionId: "" }) }), "executionId"],
  ["no run at all", () => client.startRun({ run: undefined }), "executionId"],
])("rejects %s and names the path", async (_, call, path) => {
  const error = (await call().catch((reason: unknown) => reason)) as { reason: string; metadata: { issues: { path: string }[] } };
  expect(error.reason).toBe("INVALID_REQUEST");
  expect(error.metadata.issues.map((issue) => issue.path)).toContain(path);
});

describe("an erased value of metadata", () => {
  it.each(["customer", "$a.customer"])("is removed from the account's rows with it, and from no others: %s", async (name) => {
    const eraser = createGrpcClient<erasure.ErasureServiceServer>(erasure.ErasureServiceService, {
      address: `127.0.0.1:${services[0]!.ports!.USAGE_LISTEN}`,
    });
    const userId = user();
    const add = async (metadata: Record<string, string>, of = userId): Promise<void> =>
      void (await client.finishRun(finished(runOf(of, { metadata }), "completed")));
    const stranger = user();
    await add({ [name]: "ada", team: "x" });
    await add({ [name]: "ada", team: "y" });
    await add({ [name]: "bob", team: "x" });
    await add({ [name]: "ada", team: "x" }, stranger);
    const of = async (who: string) =>
      (await client.listRows(proto.ListRowsRequest.fromPartial({ userId: who, limit: 10 }))).rows.map(({ metadata }) => metadata);
    await eraser.eraseMetadata({ ownerId: userId, name, value: "ada", within: { team: "x" } });
    expect(await of(userId)).toEqual(expect.arrayContaining([{ team: "x" }, { [name]: "ada", team: "y" }, { [name]: "bob", team: "x" }]));
    await eraser.eraseMetadata({ ownerId: userId, name, value: "ada", within: {} });
    expect(await of(userId)).toEqual(expect.arrayContaining([{ team: "x" }, { team: "y" }, { [name]: "bob", team: "x" }]));
    expect(await of(stranger)).toEqual([{ [name]: "ada", team: "x" }]);
    eraser.close();
  });
});

it("compares the newest completed costs of a workflow with their estimates", async () => {
  const userId = user();
  const errorOf = (workflowSlug: string) => client.getQuoteError({ userId, workflowSlug });
  expect(await errorOf("posters")).toEqual({ runs: 0, p50: 0, p90: 0 });
  // Ten runs that cost more than expected are older than a hundred others. Free, failed and other users' runs don't count.
  const bills = [...times(10, () => 9_000), ...times(89, () => 1_000), ...times(11, () => 2_000)];
  for (const millicredits of bills)
    await client.finishRun(finished(runOf(userId), "completed", { millicredits, estimatedMillicredits: 1_500, unstarted: true }));
  await client.finishRun(finished(runOf(userId), "failed", { estimatedMillicredits: 1, unstarted: true }));
  await client.finishRun(finished(runOf(userId, { workflowSlug: "films" }), "completed", { millicredits: 0, estimatedMillicredits: 1 }));
  await client.finishRun(finished(runOf(userId, { workflowSlug: "films" }), "completed"));
  expect(await errorOf("posters")).toEqual({ runs: 100, p50: -0.5, p90: 0.25 });
  expect(await errorOf("films")).toEqual({ runs: 0, p50: 0, p90: 0 });
});
