import { join } from "node:path";
import { createEgressClient, createGrpcClient, type EgressClient } from "@nodeloom/platform";
import { models as modelsProto } from "@nodeloom/proto";
import { startFakeService } from "../../../test-support/fake-service";
import { startRecorder, type Recorder } from "../../../test-support/recorder";
import type { Catalog } from "../src/catalog";
import { createLocalModels, type LocalModels } from "../src/local-models";
import { loadRegistry } from "../src/registry";
import { modelsHandlers } from "../src/server";

const KEY = "key-of-the-test";
/** Answer of the fake inference service; undefined if it fails. */
let answer: object | undefined;
let requests: string[];
let server: Recorder;
let egress: EgressClient;
let url: string;
let time: number;
let local: LocalModels;

beforeAll(async () => {
  server = await startRecorder((response, { path, headers }) => {
    requests.push(`${path} ${headers.authorization}`);
    response.writeHead(answer ? 200 : 500).end(JSON.stringify(answer ?? {}));
  });
  ({ url } = server);
  egress = createEgressClient({ allow: [server.address] });
});
afterAll(async () => {
  await egress.close();
  await server.close();
});
beforeEach(() => {
  requests = [];
  time = 0;
  local = createLocalModels({ egress, url, apiKey: KEY, now: () => time });
});

const FETCHING = {
  models: { "local-chat": { status: "downloading", retryAfterSeconds: 12 }, "local-speech": { status: "ready" } },
  fetch: { state: "fetching", fetchedBytes: 120_000_000, totalBytes: 540_000_000 },
};

it("reports for each model whether it can run, and the step to wait for", async () => {
  answer = FETCHING;
  expect(await local.statusOf("local-speech")).toEqual({ state: "ready", reason: "", retryAfterSeconds: 0 });
  expect(await local.statusOf("local-chat")).toEqual({
    state: "downloading",
    reason: "its files are being downloaded (120 of 540 MB): wait for them",
    retryAfterSeconds: 12,
  });
  expect(await local.statusOf("local-nothing")).toMatchObject({ state: "away" });
  expect(await local.progress()).toMatchObject({ state: "downloading", fetchedBytes: 120_000_000, totalBytes: 540_000_000 });
});

it("checks at intervals, with its key, however often it is read", async () => {
  answer = FETCHING;
  await Promise.all([local.statusOf("local-chat"), local.statusOf("local-speech"), local.progress()]);
  expect(requests).toEqual([`/v1/status Bearer ${KEY}`]);
  answer = { models: { "local-chat": { status: "ready" } }, fetch: null };
  expect((await local.statusOf("local-chat")).state).toBe("downloading");
  time = 2_000;
  expect((await local.statusOf("local-chat")).state).toBe("ready");
  expect(requests).toHaveLength(2);
});

it("reports a model as unavailable if its service is unreachable or returns invalid data", async () => {
  answer = undefined;
  expect(await local.statusOf("local-chat")).toMatchObject({ state: "away", retryAfterSeconds: 60 });
  time = 5_000;
  answer = { models: 7 };
  expect(await local.progress()).toMatchObject({ state: "away" });
});

it("lists the models of the operator's own weights, and waits for none that is downloaded on request", async () => {
  const own = [{ name: "local-qwen", title: "Qwen" }];
  const models = { "local-voices": { status: "away", reason: "it was not asked for" }, "local-qwen": { status: "ready" } };
  answer = { models, own, onRequest: ["local-voices"], fetch: null };
  expect(await local.own()).toEqual(own);
  expect((await local.statusOf("local-qwen")).state).toBe("ready");
  expect(await local.progress()).toMatchObject({ state: "ready", reason: "" });
  time = 5_000;
  answer = undefined;
  expect(await local.own()).toBeUndefined();
});

describe("a model whose files are not on the machine", () => {
  const models = {
    "local-chat": { status: "ready" },
    "local-embeddings": { status: "away", reason: "its files were not fetched" },
    "local-speech": { status: "downloading", retryAfterSeconds: 12 },
  };

  it("is disabled with a reason, while one whose files are downloading is enabled", async () => {
    answer = { models, fetch: null };
    const registry = await loadRegistry(join(__dirname, "..", "registry"), { SANDBOX_URL: "http://127.0.0.1:9", INFERENCE_URL: url });
    const all = Object.keys(models).map((name) => ({ ...registry.models.get(name)!, environmentLacks: [], fallback: [] }));
    const catalog = {
      list: () => Promise.resolve({ models: all, revision: "1", orders: {}, replaced: new Map() }),
      get: (name: string) => Promise.resolve(all.find(({ internalName }) => internalName === name)!),
    } as unknown as Catalog;
    const handlers = modelsHandlers(catalog, local, {} as never, {} as never);
    const fake = await startFakeService(modelsProto.ModelsServiceService, { listModels: handlers.listModels, getModel: handlers.getModel });
    const client = createGrpcClient<modelsProto.ModelsServiceServer>(modelsProto.ModelsServiceService, { address: fake.address });
    const listed = async (includeDisabled: boolean): Promise<string[]> =>
      (await client.listModels({ includeDisabled })).models.map(({ internalName, enabled }) => `${internalName} ${enabled}`);
    expect(await listed(false)).toEqual(["local-chat true", "local-speech true"]);
    expect(await listed(true)).toContain("local-embeddings false");
    await expect(client.getModel({ internalName: "local-embeddings", includeDisabled: false })).rejects.toMatchObject({
      reason: "MODEL_NOT_FOUND",
      message: expect.stringContaining("its files were not fetched") as string,
    });
    const { model } = await client.getModel({ internalName: "local-embeddings", includeDisabled: true });
    expect(model).toMatchObject({ enabled: false, status: { state: "away", notInstalled: true, retryAfterSeconds: 0 } });
    client.close();
    fake.stop();
  });
});

it("is off without a service", async () => {
  expect(await createLocalModels({ egress, url: undefined, apiKey: KEY }).progress()).toMatchObject({ state: "off", totalBytes: 0 });
  expect(requests).toEqual([]);
});
