import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DomainError } from "@nodeloom/kernel";
import { connectMongo, createGrpcClient, type ClientOf } from "@nodeloom/platform";
import { models } from "@nodeloom/proto";
import { createCatalog, type Overrides } from "../src/catalog";
import { ownEntries } from "../src/own-entries";
import { loadRegistry } from "../src/registry";
import { service } from "../src/main";
import { eventually } from "../../../test-support/eventually";
import { startMigrated } from "../../../test-support/start-migrated";
import { patient } from "../../../test-support/patient";

const prefix = `test_${randomUUID().slice(0, 8)}_`;
const env = {
  MONGODB_URI: process.env.MONGODB_URI!,
  MONGODB_DATABASE_PREFIX: prefix,
  MODELS_LISTEN: "127.0.0.1:0",
  SANDBOX_URL: "http://127.0.0.1:8090",
  LOG_LEVEL: "silent",
};
type Replica = { client: ClientOf<models.ModelsServiceServer>; stop(): Promise<void> };

const startReplica = async (): Promise<Replica> => {
  const running = await startMigrated(service, env);
  const client = patient(
    createGrpcClient<models.ModelsServiceServer>(models.ModelsServiceService, {
      address: `127.0.0.1:${running.ports!.MODELS_LISTEN}`,
    }),
  );
  return {
    client,
    stop: async () => {
      client.close();
      await running.stop();
    },
  };
};

let first: Replica;
let second: Replica;

beforeAll(async () => {
  [first, second] = await Promise.all([startReplica(), startReplica()]);
});
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
  const connection = await connectMongo({ uri: env.MONGODB_URI, database: `${prefix}models` });
  await connection.dropDatabase();
  await connection.close();
});

const get = async (replica: Replica, internalName: string): Promise<models.Model> =>
  (await replica.client.getModel({ internalName, includeDisabled: false })).model!;
const update = (replica: Replica, change: Partial<models.UpdateModelRequest>): Promise<models.UpdateModelResponse> =>
  replica.client.updateModel({
    internalName: "sandbox-image",
    enabled: undefined,
    price: undefined,
    minTier: undefined,
    fallback: undefined,
    ...change,
  });
const perImage = (value: number): models.Price => ({ basis: { $case: "perImageMicroUsd", value } });

describe("reading models", () => {
  it("lists the enabled ones; all of them on request", async () => {
    const [enabled, all] = await Promise.all([
      first.client.listModels({ includeDisabled: false }),
      first.client.listModels({ includeDisabled: true }),
    ]);
    expect(enabled.models.every((model) => model.enabled)).toBe(true);
    expect(all.models.map((model) => model.internalName)).toContain("gpt-6-luna");
    expect(enabled.models.length).toBeLessThan(all.models.length);
    expect(enabled.revision).toBe(all.revision);
  });

  it("gives runs the provider's settings with the secret's name, and its price in micro-dollars", async () => {
    const model = await get(first, "sandbox-chat");
    expect(JSON.parse(model.providerJson)).toMatchObject({
      kind: "llm",
      baseUrl: "http://127.0.0.1:8090/v1",
      auth: { secretEnv: "SANDBOX_API_KEY" },
    });
    expect(model.price).toEqual({
      basis: { $case: "tokens", value: { inputMicroUsdPerMillion: 500_000, outputMicroUsdPerMillion: 1_500_000 } },
    });
    expect(JSON.parse(model.inputSchemaJson)).toMatchObject({ type: "object", required: ["prompt"] });
  });

  it.each(["no-such-model", "kling-3", "__proto__", ""])("returns MODEL_NOT_FOUND for %j", async (internalName) => {
    await expect(first.client.getModel({ internalName, includeDisabled: false })).rejects.toMatchObject({
      kind: "not_found",
      reason: "MODEL_NOT_FOUND",
    });
  });
});

describe("an administrator's change", () => {
  it("applies here at once, and soon on every replica", async () => {
    const { revision } = await second.client.listModels({ includeDisabled: false });
    const { model, before } = await update(first, { price: perImage(30_000), minTier: "pro" });
    expect(before).toMatchObject({ price: perImage(20_000), minTier: "free" });
    expect(model).toMatchObject({ price: perImage(30_000), minTier: "pro", enabled: true });
    expect((await get(first, "sandbox-image")).minTier).toBe("pro");
    await eventually(async () => (await get(second, "sandbox-image")).minTier === "pro");
    expect((await second.client.listModels({ includeDisabled: false })).revision).not.toBe(revision);
  });

  it("disables and enables a model, and keeps its other overrides", async () => {
    await update(first, { internalName: "sandbox-music", price: { basis: { $case: "perRunMicroUsd", value: 7 } } });
    await update(first, { internalName: "sandbox-music", enabled: false });
    await expect(get(first, "sandbox-music")).rejects.toMatchObject({ reason: "MODEL_NOT_FOUND" });
    const { model, before } = await update(first, { internalName: "sandbox-music", enabled: true });
    expect([before!.enabled, model!.enabled, model!.price]).toEqual([false, true, { basis: { $case: "perRunMicroUsd", value: 7 } }]);
  });

  it("sets and removes fallback models", async () => {
    const set = (...names: string[]) => update(first, { fallback: { models: names } });
    expect((await set("sandbox-image-fast")).model!.fallback).toEqual(["sandbox-image-fast"]);
    await eventually(async () => (await get(second, "sandbox-image")).fallback.length === 1);
    const { before, model } = await set();
    expect([before!.fallback, model!.fallback]).toEqual([["sandbox-image-fast"], []]);
  });

  it("can use a price per character instead", async () => {
    const price: models.Price = { basis: { $case: "perThousandCharactersMicroUsd", value: 100_000 } };
    const { model } = await update(first, { internalName: "sandbox-image-fast", price });
    expect(model!.price).toEqual(price);
    await eventually(async () => (await get(second, "sandbox-image-fast")).price?.basis?.$case === "perThousandCharactersMicroUsd");
  });

  it("isn't lost among many concurrent ones", async () => {
    const names = ["sandbox-speech", "sandbox-video", "sandbox-video-pro", "sandbox-chat"];
    await Promise.all(
      names.flatMap((internalName) => [
        update(first, { internalName, minTier: "enterprise", fallback: undefined }),
        update(second, { internalName, enabled: true }),
      ]),
    );
    await eventually(async () => {
      const { models: listed } = await second.client.listModels({ includeDisabled: false });
      return names.every((name) => listed.find((model) => model.internalName === name)?.minTier === "enterprise");
    });
  });

  it.each<[string, Partial<models.UpdateModelRequest>, string]>([
    ["an unknown tier", { minTier: "gold" }, "minTier"],
    ["a negative price", { price: perImage(-1) }, "price"],
    ["a price without a basis", { price: { basis: undefined } }, "price"],
    ["a price per second of an image", { price: { basis: { $case: "perSecondMicroUsd", value: 1 } } }, "price"],
    ["enabling what lacks its environment", { internalName: "replicate-flux-schnell", enabled: true }, "enabled"],
    ["itself in its own place", { fallback: { models: ["sandbox-image"] } }, "fallback"],
    ["an unknown model in its place", { fallback: { models: ["sandbox-image-fast", "no-such-model"] } }, "fallback.1"],
    ["one in its place that makes something else", { fallback: { models: ["sandbox-video"] } }, "fallback.0"],
  ])("is rejected for %s", async (_what, change, path) => {
    await expect(update(first, change)).rejects.toMatchObject({
      reason: "INVALID_REQUEST",
      metadata: { issues: [expect.objectContaining({ path }) as object] },
    });
  });

  it("is rejected for a model that doesn't exist", async () => {
    await expect(update(first, { internalName: "nothing" })).rejects.toMatchObject({ reason: "MODEL_NOT_FOUND" });
  });
});

describe("the catalog", () => {
  const unused = (): Promise<never> => Promise.reject(new Error("unused"));
  const registry = () => loadRegistry(join(__dirname, "..", "registry"), env);

  it("reads the store at most once a second, however many read", async () => {
    let calls = 0;
    let time = 0;
    const overrides: Overrides = { revision: 0, models: {}, orders: {}, entries: {} };
    const store = { revision: async () => (calls++, 0), read: async () => overrides, set: unused, setOrder: unused, changeEntries: unused };
    const catalog = await createCatalog({ registry: await registry(), store, env, now: () => time });
    for (time = 0; time < 3_000; time += 100) await Promise.all([catalog.list(false), catalog.get("sandbox-image")]);
    expect(calls).toBeLessThanOrEqual(3);
    expect(calls).toBeGreaterThanOrEqual(2);
  });

  it("has models of own weights while these exist, and lets every model be first for its task", async () => {
    const own = ["local-qwen", "local-phi"].map((name) => ({ name, title: name }));
    let present: typeof own | undefined = own.slice(0, 1);
    const overrides: Overrides = { revision: 0, models: {}, orders: {}, entries: {} };
    const setOrder = (task: string, order: readonly string[]) =>
      Promise.resolve({ before: overrides, after: { ...overrides, revision: 1, orders: { [task]: order } } });
    const store = { revision: async () => 0, read: async () => overrides, set: unused, setOrder, changeEntries: unused };
    const ownModels = () => Promise.resolve(present && ownEntries(present, "http://inference.test"));
    const catalog = await createCatalog({ registry: await registry(), store, env, ownModels });
    const names = async () =>
      (await catalog.list(false)).models.map(({ internalName }) => internalName).filter((name) => /qwen|phi/.test(name));
    const before = await catalog.list(false);
    expect(await names()).toEqual(["local-qwen"]);
    present = own;
    expect((await catalog.get("local-phi")).provider).toMatchObject({
      kind: "llm",
      baseUrl: "http://inference.test/v1",
      model: "local-phi",
    });
    expect((await catalog.list(false)).revision).not.toBe(before.revision);
    await catalog.setOrder("text", ["local-phi", "sandbox-chat"]);
    await expect(catalog.setOrder("image", ["local-phi"])).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
    // While the service is unreachable, its last answer is used.
    present = undefined;
    expect(await names()).toEqual(["local-qwen", "local-phi"]);
    present = [];
    expect(await names()).toEqual([]);
  });

  it("keeps serving the last known overrides while the store is unavailable", async () => {
    let time = 0;
    const problems: unknown[] = [];
    const down = (): Promise<never> => Promise.reject(new DomainError("unavailable", "SERVICE_UNAVAILABLE", "down"));
    const store = {
      revision: down,
      read: async (): Promise<Overrides> => ({
        ...{ revision: 3, orders: {}, entries: {} },
        models: { "sandbox-image": { minTier: "business" } },
      }),
      set: down,
      setOrder: down,
      changeEntries: down,
    };
    const catalog = await createCatalog({
      registry: await registry(),
      env,
      store,
      now: () => time,
      onStale: (error) => problems.push(error),
    });
    time = 5_000;
    expect((await catalog.get("sandbox-image")).minTier).toBe("business");
    expect(problems).toHaveLength(1);
  });
});

describe("starting", () => {
  it("is rejected if a registry file can't be used, with its name", async () => {
    const folder = await mkdtemp(join(tmpdir(), "nodeloom-registry-"));
    await writeFile(join(folder, "broken.json"), "{}");
    await expect(service.start({ ...env, MODELS_REGISTRY_DIR: folder })).rejects.toThrow("broken.json");
    await rm(folder, { recursive: true });
  });
});
