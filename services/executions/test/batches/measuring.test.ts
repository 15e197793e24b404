import { randomUUID } from "node:crypto";
import { createMediaUrls, DomainError, executionNotFound, unavailable, type Expectation, type WorkflowTest } from "@nodeloom/kernel";
import { executions, media as mediaProto, type transform as transformProto } from "@nodeloom/proto";
import { createMeasuring } from "../../src/batches/tests/measuring";
import type { TestedItem } from "../../src/batches/tests/reading";
import type { CatalogModel } from "../../src/plan/model-catalog";
import { rowId } from "../../src/record/batches";
import type { Stores } from "../../src/record/stores";
import type { BatchRecord, BatchRow } from "../../src/run/batch";
import type { ExecutionView } from "../../src/run/record";
import { TIMING } from "../../src/run/timing";
import { openStore } from "../support";

/** Measures tests with the real store. The test simulates the runs of judges and the transform service. */

const PUBLIC = "http://public.test";
const PRICE = 5;
let stores: Stores;
let stop: () => Promise<void>;
beforeAll(async () => void ({ stores, stop } = await openStore()));
afterAll(() => stop());

const JUDGE = { model: "judge", rubric: "kind", atLeast: 3 };
const runner = executions.Runner.fromPartial({ userId: "u", source: "test" });
const chat = { internalName: "judge", modality: "text", providerKind: "llm", inputSchema: { properties: { prompt: {}, image: {} } } };
const hearing = { ...chat, internalName: "hearing", inputSchema: { properties: { prompt: {}, audio: {} } } };
const MODELS = new Map([chat, hearing].map((model) => [model.internalName, model as unknown as CatalogModel]));

interface World {
  /** Result of each attempt of a judge's run. */
  answers?: ((request: executions.RunRequest, attempt: number) => Partial<ExecutionView>)[];
  transform?: () => Promise<object>;
  files?: (Partial<mediaProto.StoredObject> & { key: string; ownerId: string })[];
  since?: Date;
  sources?: string[];
}

const completed = (json: unknown): Partial<ExecutionView> => ({
  ...{ status: "completed", millicredits: PRICE, resultJson: JSON.stringify({ text: "", json }), error: null },
});
const GOOD = completed({ reason: "so", score: 4 });

const createWorld = async (expect: Expectation[], result: unknown, more: World & Partial<WorkflowTest> = {}) => {
  const { answers = [() => GOOD], transform = () => Promise.resolve({}), files = [], since, sources = [], ...limits } = more;
  const id = randomUUID();
  const row: BatchRow = { _id: rowId(id, 0), batchId: id, index: 0, input: { json: JSON.stringify({ sources }) }, price: 0, most: 0 };
  const test = { name: "x", inputs: {}, expect, ...limits };
  const batch = {
    ...{
      _id: id,
      userId: "u",
      status: "running",
      total: 1,
      metadata: [],
      test: { slug: "s", digest: "", ...(since ? { measuringSince: since } : {}) },
    },
  } as unknown as BatchRecord;
  await stores.batches.insert(batch);
  await stores.batches.insertRows([row]);
  const requests: executions.RunRequest[] = [];
  const cancelledIds: string[] = [];
  const operations: transformProto.RunRequest[] = [];
  const contentTypes: Record<string, string> = { png: "image/png", mp4: "video/mp4", wav: "audio/wav" };
  const measuring = createMeasuring({
    stores,
    urls: createMediaUrls(PUBLIC),
    readTested: async () => {
      const [stored] = await stores.batches.rowsAt(id, [0]);
      const run = { status: "completed", error: null, result, millicredits: 0, durationMs: 1 };
      const fileAt = (url: string) => ({ contentType: contentTypes[url.split(".").at(-1)!]! });
      return [{ test, executionId: "e", run: { ...run, fileAt }, row: stored! } satisfies TestedItem];
    },
    catalog: {
      get: (name) =>
        MODELS.has(name)
          ? Promise.resolve(MODELS.get(name)!)
          : Promise.reject(new DomainError("not_found", "MODEL_NOT_FOUND", `there is no enabled model ${name}`)),
    },
    runs: {
      run: (request) => {
        const attempt = requests.push(request) - 1;
        const answer = answers[Math.min(attempt, answers.length - 1)]!;
        return Promise.resolve({ row: { _id: request.executionId, ...answer(request, attempt) } as ExecutionView, isReplay: false });
      },
    },
    cancellation: {
      cancel: (executionId) => {
        cancelledIds.push(executionId);
        return requests.length === 0 ? Promise.reject(executionNotFound()) : Promise.resolve("cancel_requested");
      },
    },
    media: {
      getObjects: ({ ids = [] }) => Promise.resolve({ objects: files.filter(({ key }) => ids.includes(key)) }) as never,
      getObjectsByKey: ({ keys = [] }) => Promise.resolve({ objects: files.filter(({ key }) => keys.includes(key)) }) as never,
    },
    transform: {
      measure: transform as never,
      run: (request) => {
        operations.push(request as transformProto.RunRequest);
        return Promise.resolve({
          outputs: [{ object: { key: `${request.callId}.png`, url: `${PUBLIC}/media/${request.callId}.png` } }],
        }) as never;
      },
    },
  });
  const measured = async () => {
    const [stored] = await stores.batches.rowsAt(id, [0]);
    return stored?.measured && { ...stored.measured, ...(JSON.parse(stored.measured.json) as object) };
  };
  return {
    id,
    batch,
    requests,
    operations,
    cancelledIds,
    measured,
    turn: () => measuring.measure(batch, runner),
    cancel: () => measuring.cancel(batch),
  };
};

const file = (name: string) => ({ image: { url: `${PUBLIC}/media/${name}`, id: name } });
const PICTURE = file(`${"a".repeat(32)}.png`);

it("asks a judge once, also if it answers later, and adds its charge", async () => {
  const world = await createWorld([{ judge: JUDGE }], { text: "hi" }, { answers: [() => ({ status: "processing" }), () => GOOD] });
  expect(await world.turn()).toBe(false);
  expect(await world.measured()).toMatchObject({ isOver: false, runs: [world.requests[0]!.executionId] });
  expect(await world.turn()).toBe(true);
  expect(await world.turn()).toBe(true);
  expect(new Set(world.requests.map(({ executionId }) => executionId)).size).toBe(1);
  expect(world.requests).toHaveLength(2);
  expect(await world.measured()).toMatchObject({ isOver: true, millicredits: PRICE, "0.0.vote": { vote: { score: 4, reason: "so" } } });
});

it("asks and charges equal judges of a test once", async () => {
  const world = await createWorld([{ judge: JUDGE }, { judge: { ...JUDGE, atLeast: 5 } }], { text: "hi" });
  expect(await world.turn()).toBe(true);
  expect(await world.measured()).toMatchObject({ millicredits: PRICE, runs: { length: 1 } });
});

it("asks for source test, with the answer's schema, and reuses equal calls of earlier runs", async () => {
  const world = await createWorld([{ judge: JUDGE }], PICTURE, { sources: ["earlier"] });
  await world.turn();
  const [request] = world.requests;
  expect(request!.runner).toMatchObject({ source: "test" });
  expect(request!.target).toMatchObject({
    target: { $case: "model", value: "judge" },
    schemaJson: expect.stringContaining('"score"') as string,
  });
  expect(JSON.parse(request!.inputsJson)).toMatchObject({ image: PICTURE.image.url });
  expect(request!.rerun).toMatchObject({ sources: [expect.any(String)], otherGraph: true });
});

it.each<[string, World["answers"], Partial<WorkflowTest>, RegExp]>([
  [
    "fails",
    [() => ({ status: "failed", millicredits: 0, error: { code: "EXECUTION_FAILED", message: "refused" } as never })],
    {},
    /EXECUTION_FAILED: refused/,
  ],
  ["answers without a verdict", [() => completed({ reason: "so" })], {}, /has no verdict/],
  ["has used up maxCredits", [() => GOOD], { maxCredits: 0 }, /BUDGET_EXCEEDED: the test's judges have cost 0 of its maxCredits 0/],
])("keeps the problem of a judge that %s", async (_what, answers, limits, problem) => {
  const world = await createWorld([{ judge: JUDGE }], { text: "hi" }, { answers: answers!, ...limits });
  expect(await world.turn()).toBe(true);
  expect(await world.measured()).toMatchObject({ "0.0.vote": { problem: expect.stringMatching(problem) as string } });
});

it("limits each judge to what is left of maxCredits", async () => {
  const world = await createWorld([{ judge: { ...JUDGE, votes: 2 } }], { text: "hi" }, { maxCredits: 0.008 });
  await world.turn();
  expect(world.requests.map(({ maxMillicredits }) => maxMillicredits)).toEqual([8, 3]);
});

it("fails judges that can't see the value, without a call", async () => {
  const two = { images: [PICTURE.image, file(`${"b".repeat(32)}.png`).image] };
  const world = await createWorld([{ judge: JUDGE }, { judge: { ...JUDGE, model: "none" } }], two);
  expect(await world.turn()).toBe(true);
  expect(world.requests).toEqual([]);
  expect(await world.measured()).toMatchObject({
    "0.0.vote": { problem: "INVALID_INPUTS: the judge would get 2 pictures, and judge takes at most 1 picture: choose another model" },
    "1.0.vote": { problem: "MODEL_NOT_FOUND: there is no enabled model none" },
  });
});

const VIDEO = file(`${"d".repeat(32)}.mp4`);
const SOUND = file(`${"e".repeat(32)}.wav`);
const stored = { key: VIDEO.image.id, ownerId: "u", id: "maker-0-0", origin: mediaProto.Origin.ORIGIN_GENERATED };

it("shows a judge one picture of a video's frames, evenly spaced, in the video's proportions", async () => {
  const files = [{ ...stored, durationMs: 8_000, width: 1_920, height: 1_080 }];
  const world = await createWorld([{ judge: JUDGE }], VIDEO, { files });
  expect(await world.turn()).toBe(true);
  const settings = world.operations.map(({ settingsJson }) => JSON.parse(settingsJson) as object);
  expect(settings.slice(0, 4)).toEqual([{ at: 1 }, { at: 3 }, { at: 5 }, { at: 7 }]);
  expect(settings[4]).toMatchObject({ columns: 2, cellWidth: 768, cellHeight: 432 });
  expect(world.operations[4]!.inputs).toHaveLength(4);
  expect(JSON.parse(world.requests[0]!.inputsJson)).toMatchObject({ image: `${PUBLIC}/media/maker-0-0-frames.png` });
});

it("keeps the frames of a video that no run made with the run that is judged", async () => {
  const origin = mediaProto.Origin.ORIGIN_UPLOAD;
  const world = await createWorld([{ judge: JUDGE }], VIDEO, { files: [{ ...stored, origin, durationMs: 1_000 }] });
  await world.turn();
  expect(world.operations.at(-1)!.callId).toBe("e-maker-0-0-frames");
});

it("sends sounds to judges that hear, and names the reason for others, and for videos that are gone", async () => {
  const judges = ["hearing", "judge"].map((model) => ({ judge: { ...JUDGE, model } }));
  const world = await createWorld(judges, SOUND);
  await world.turn();
  expect(world.requests.map(({ inputsJson }) => (JSON.parse(inputsJson) as { audio?: string }).audio)).toEqual([SOUND.image.url]);
  expect(await world.measured()).toMatchObject({
    "1.0.vote": { problem: "INVALID_INPUTS: the judge would get 1 sound, and judge takes no sounds: choose another model" },
  });
  const gone = await createWorld([{ judge: JUDGE }], VIDEO);
  await gone.turn();
  expect(await gone.measured()).toMatchObject({ "0.0.vote": { problem: expect.stringMatching(/the video was deleted/) as string } });
});

it("waits while a service is unavailable, until its time is up", async () => {
  const transform = () => Promise.reject(unavailable("ffmpeg is being fetched"));
  const expectations = [{ file: { loudness: -16 } }];
  expect(await (await createWorld(expectations, PICTURE, { transform })).turn()).toBe(false);
  const late = await createWorld(expectations, PICTURE, { transform, since: new Date(Date.now() - TIMING.measuring - 1) });
  expect(await late.turn()).toBe(true);
  expect(await late.measured()).toMatchObject({
    isOver: true,
    "0.0.file": { problem: expect.stringContaining("no answer in time") as string },
  });
});

it("compares only with a golden file of the owner", async () => {
  const golden = `${"c".repeat(32)}.png`;
  const expectations = [{ file: { similarTo: { file: `${PUBLIC}/media/${golden}` } } }];
  const transform = () => Promise.resolve({ ssim: 0.5, hash: 0.75 });
  const own = await createWorld(expectations, PICTURE, { transform, files: [{ key: golden, ownerId: "u" }] });
  await own.turn();
  expect(await own.measured()).toMatchObject({ "0.0.file": { ssim: 0.5, hash: 0.75 } });
  const foreign = await createWorld(expectations, PICTURE, { transform, files: [{ key: golden, ownerId: "other" }] });
  await foreign.turn();
  expect(await foreign.measured()).toMatchObject({ "0.0.file": { problem: expect.stringContaining("isn't one of your files") as string } });
});

it("cancels the judges of a cancelled batch", async () => {
  const world = await createWorld([{ judge: JUDGE }], { text: "hi" }, { answers: [() => ({ status: "processing" })], since: new Date() });
  await world.turn();
  await world.cancel();
  expect(world.cancelledIds).toEqual([world.requests[0]!.executionId]);
});

it("stores nothing about an erased run", async () => {
  const world = await createWorld([{ judge: JUDGE }], { text: "hi" });
  await stores.tombstones.markRow(world.id, 0);
  expect(await world.turn()).toBe(true);
  expect(world.requests).toEqual([]);
  expect(await world.measured()).toBeUndefined();
});
