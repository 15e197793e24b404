import { randomUUID } from "node:crypto";
import { connectMongo } from "@nodeloom/platform";
import { workflows as proto } from "@nodeloom/proto";
import { newOwner, startWorkflows, type RunningWorkflows } from "../harness";

let service: RunningWorkflows;
beforeAll(async () => {
  service = await startWorkflows();
});
afterAll(() => service.stop());

const graph = (word: string, { field = "subject", type = "text" } = {}): object => ({
  nodesJson: JSON.stringify([
    { id: "in", type: "request-input", data: { fields: [{ name: field, type, label: word, default: word }] } },
    { id: "t", type: "text-box", data: { text: word } },
    { id: "out", type: "response-output" },
  ]),
  edgesJson: JSON.stringify([{ id: "e", source: "t", sourceHandle: "text", target: "out", targetHandle: "text" }]),
});
const publish = (slug: string, ownerId: string) =>
  service.client.publishVersion(proto.PublishVersionRequest.fromPartial({ slug, ownerId }));
/** A workflow with two versions of the same form, and production at the first. */
const withTwo = async (more: object = {}): Promise<{ slug: string; owner: string }> => {
  const owner = newOwner();
  const { slug } = await service.create(owner, { ...graph("one"), ...more });
  await publish(slug, owner);
  await service.update(slug, owner, graph("two"));
  await publish(slug, owner);
  await set({ slug, owner }, {});
  return { slug, owner };
};
type Which = { slug: string; owner: string };
const set = ({ slug, owner }: Which, more: Parameters<typeof proto.SetAliasRequest.fromPartial>[0]) =>
  service.client.setAlias(proto.SetAliasRequest.fromPartial({ slug, ownerId: owner, name: "production", version: 1, ...more }));
const SETTINGS = { version: 2, percent: 50, minRuns: 20 };
const start = (which: Which, settings: Partial<proto.CanarySettings> = {}) => set(which, { canary: { ...SETTINGS, ...settings } });
const definition = ({ slug, owner }: Which, userId = owner) =>
  service.client.getDefinition(proto.GetDefinitionRequest.fromPartial({ slug, userId }));
const idOf = async (which: Which): Promise<string> => (await definition(which)).canary!.id;
const alias = async ({ slug, owner }: Which): Promise<proto.Alias> =>
  (await service.client.listAliases({ slug, ownerId: owner })).aliases.find(({ name }) => name === "production")!;

interface Reported {
  executionId?: string;
  holdId?: string;
  isCanary?: boolean;
  outcome?: string;
  millicredits?: number;
  durationMs?: number;
}
const count = (canaryId: string, run: Reported = {}) =>
  service.client.countCanaryRun({
    ...{ canaryId, executionId: randomUUID(), holdId: randomUUID(), isCanary: true, outcome: "completed" },
    ...{ millicredits: 1_000, durationMs: 500, ...run },
  });

it("a canary gets a share of its owner's runs of the alias, and of nobody else's", async () => {
  const which = await withTwo({ isTemplate: true });
  const { alias: started } = await start(which, { maxMillicredits: 5_000 });
  expect(started).toMatchObject({ version: 1, canary: { settings: { ...SETTINGS, maxMillicredits: 5_000 }, startedBy: which.owner } });
  expect(await definition(which)).toMatchObject({ version: 1, canary: { version: 2, percent: 50, isLimited: true } });
  expect((await definition(which, newOwner())).canary).toBeUndefined();
});

it("the same settings again change nothing; other settings start anew, and a move or `null` ends it", async () => {
  const which = await withTwo();
  await start(which);
  const id = await idOf(which);
  await count(id);
  await start(which);
  await set(which, {});
  expect(await idOf(which)).toBe(id);
  expect((await alias(which)).canary).toMatchObject({ canary: { runs: 1 } });
  await start(which, { percent: 10 });
  expect(await idOf(which)).not.toBe(id);
  expect((await alias(which)).canary).toMatchObject({ canary: { runs: 0 } });
  await set(which, { withoutCanary: true });
  expect(await alias(which)).toMatchObject({ version: 1, canary: undefined, lastCanary: undefined });
  await start(which);
  await set(which, { version: 2 });
  expect(await alias(which)).toMatchObject({ version: 2, canary: undefined });
});

it("rejects versions with other input fields or results, unknown and same versions, and shares out of range", async () => {
  const which = await withTwo();
  for (const [settings, reason] of [
    [{ version: 1 }, "INVALID_REQUEST"],
    [{ version: 9 }, "VERSION_NOT_FOUND"],
    [{ percent: 0 }, "INVALID_REQUEST"],
    [{ percent: 51 }, "INVALID_REQUEST"],
    [{ minRuns: 19 }, "INVALID_REQUEST"],
  ] as const)
    await expect(start(which, settings)).rejects.toMatchObject({ reason });
  await service.update(which.slug, which.owner, graph("three", { field: "topic" }));
  await publish(which.slug, which.owner);
  await expect(start(which, { version: 3 })).rejects.toMatchObject({
    ...{ kind: "conflict", reason: "CANARY_SHAPE", metadata: { fields: ["subject", "topic"], results: [] } },
  });
  const { nodesJson } = graph("four") as { nodesJson: string };
  await service.update(which.slug, which.owner, { nodesJson, edgesJson: "[]" });
  await publish(which.slug, which.owner);
  await expect(start(which, { version: 4 })).rejects.toMatchObject({ reason: "CANARY_SHAPE", metadata: { fields: [], results: ["text"] } });
});

it("an alias that requires tests takes only canaries that passed them", async () => {
  const which = await withTwo({ testsJson: JSON.stringify([{ name: "a", inputs: {}, expect: [] }]) });
  const { digest } = await service.client.getTests({ slug: which.slug, ownerId: which.owner });
  const note = (version: number) => service.client.notePassedTests({ slug: which.slug, ownerId: which.owner, version, digest });
  await note(1);
  await set(which, { requireTests: true });
  await expect(start(which)).rejects.toMatchObject({ reason: "TESTS_REQUIRED" });
  await note(2);
  await start(which);
});

it("a failing canary is rolled back once, by the run that decides it, with its confidence", async () => {
  const which = await withTwo();
  await start(which);
  const id = await idOf(which);
  const decisions: proto.CanaryDecision[] = [];
  let runs = 0;
  for (; decisions.length === 0 && runs < 60; runs += 1) {
    await count(id, { isCanary: false });
    const run = { executionId: randomUUID(), outcome: "failed" };
    const { decision } = await count(id, run);
    if (!decision) continue;
    decisions.push(decision);
    // The process may have died before it announced the end.
    expect((await count(id, run)).decision).toEqual(decision);
  }
  expect(decisions).toMatchObject([
    {
      ...{ canaryId: id, slug: which.slug, ownerId: which.owner, alias: "production", versionBefore: 1, version: 1 },
      ended: { version: 2, outcome: "rolled_back", reason: "errors", canary: { runs, failed: runs }, base: { runs, failed: 0 } },
    },
  ]);
  expect(decisions[0]!.ended!.confidence).toBeGreaterThanOrEqual(0.95);
  expect(await alias(which)).toMatchObject({ version: 1, canary: undefined, lastCanary: { version: 2, outcome: "rolled_back" } });
  expect((await definition(which)).canary).toBeUndefined();
  // Runs that end later change nothing.
  expect((await count(id, { outcome: "failed" })).decision).toBeUndefined();
});

it("a harmless canary is promoted after its runs: the alias points to its version, and keeps its settings", async () => {
  const which = await withTwo({ testsJson: JSON.stringify([{ name: "a", inputs: {}, expect: [] }]) });
  const { digest } = await service.client.getTests({ slug: which.slug, ownerId: which.owner });
  for (const version of [1, 2]) await service.client.notePassedTests({ slug: which.slug, ownerId: which.owner, version, digest });
  await set(which, { requireTests: true });
  await start(which);
  const id = await idOf(which);
  let decision: proto.CanaryDecision | undefined;
  for (let run = 0; run < 20; run += 1) {
    await count(id, { isCanary: false });
    ({ decision } = await count(id));
  }
  expect(decision).toMatchObject({ versionBefore: 1, version: 2, ended: { outcome: "promoted", reason: "", canary: { runs: 20 } } });
  expect(await alias(which)).toMatchObject({ version: 2, requireTests: true, lastCanary: { outcome: "promoted" } });
  expect(await definition(which)).toMatchObject({ version: 2, alias: "production" });
});

it("counts a run once, however often and by how many processes it is reported, and no cancelled runs", async () => {
  const which = await withTwo();
  await start(which, { minRuns: 1_000 });
  const id = await idOf(which);
  const runs = Array.from({ length: 30 }, (_, index) => ({ executionId: randomUUID(), isCanary: index % 2 === 0 }));
  await Promise.all([...runs, ...runs, ...runs].map((run) => count(id, run)));
  await count(id, { outcome: "uncounted" });
  expect((await alias(which)).canary).toMatchObject({
    ...{ base: { runs: 15 }, canary: { runs: 15, failed: 0, millicredits: 1_000, durationMs: 500 }, millicredits: 16_000 },
  });
});

it("the canary's runs never cost more than maxMillicredits together: it is rolled back before a run could exceed it", async () => {
  const which = await withTwo();
  await start(which, { maxMillicredits: 5_000 });
  const id = await idOf(which);
  const reserve = (holdId: string, millicredits = 2_000) =>
    service.client.reserveCanaryRun({ canaryId: id, holdId, millicredits, isStored: false });
  const reserved = async (holdId: string) => (await reserve(holdId)).reserved;
  expect(await Promise.all(["a", "b"].map(reserved))).toEqual([true, true]);
  // A repeated call keeps its reservation, and a refused run returns its credits, once.
  expect(await reserved("a")).toBe(true);
  for (let time = 0; time < 2; time += 1) await service.client.releaseCanaryRun({ canaryId: id, holdId: "b" });
  expect((await count(id, { holdId: "a", millicredits: 1_500 })).decision).toBeUndefined();
  const racing = await Promise.all(["c", "d", "e", "f"].map(reserved));
  expect(racing.filter(Boolean)).toHaveLength(1);
  expect(await reserved("g")).toBe(false);
  const { decision } = await count(id, { isCanary: false });
  expect(decision).toMatchObject({ version: 1, ended: { outcome: "rolled_back", reason: "max_credits" } });
  expect(await reserved("h")).toBe(false);
});

it("credits that a canary reserved for a run that was never stored come back after a while", async () => {
  const which = await withTwo();
  await start(which, { maxMillicredits: 5_000 });
  const id = await idOf(which);
  const reserve = async (holdId: string, isStored = false) =>
    (await service.client.reserveCanaryRun({ canaryId: id, holdId, millicredits: 2_000, isStored })).reserved;
  const mongo = await connectMongo({ uri: process.env.MONGODB_URI!, database: service.database });
  const canaries = mongo.collection<{ _id: string; reservations: { id: string; until?: Date }[] }>("canaries");
  const letExpire = async () => {
    const { reservations } = (await canaries.findOne({ _id: id }))!;
    const past = reservations.map((one) => (one.until ? { ...one, until: new Date(0) } : one));
    await canaries.updateOne({ _id: id }, { $set: { reservations: past } });
  };
  for (const holdId of ["lost", "running"]) expect(await reserve(holdId)).toBe(true);
  expect(await reserve("running", true)).toBe(true);
  await letExpire();
  expect(await reserve("third")).toBe(true);
  expect((await canaries.findOne({ _id: id }))!.reservations.map((one) => one.id)).toEqual(["running", "third"]);
  // A run that is stored only now gets credits again if there are any.
  expect(await reserve("third", true)).toBe(true);
  expect(await reserve("lost", true)).toBe(false);
  await mongo.close();
});

it("a canary that its owner ends first isn't announced, and a deleted workflow leaves nothing", async () => {
  const which = await withTwo();
  await start(which);
  const id = await idOf(which);
  await set(which, { withoutCanary: true });
  for (let run = 0; run < 25; run += 1) expect((await count(id)).decision).toBeUndefined();
  expect(await alias(which)).toMatchObject({ version: 1, lastCanary: undefined });
  await start(which);
  const second = await idOf(which);
  await count(second);
  await service.client.deleteWorkflow(proto.DeleteWorkflowRequest.fromPartial({ slug: which.slug, ownerId: which.owner }));
  expect((await count(second)).decision).toBeUndefined();
  expect((await service.client.reserveCanaryRun({ canaryId: second, holdId: "a", millicredits: 1, isStored: false })).reserved).toBe(false);
});
