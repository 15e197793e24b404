import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connectMongo, createGrpcClient, type ClientOf } from "@nodeloom/platform";
import { models } from "@nodeloom/proto";
import { MAX_ENTRIES, withEntry, withoutEntry, type AddedEntries } from "../src/added/entries";
import { service } from "../src/main";
import { eventually } from "../../../test-support/eventually";
import { startMigrated } from "../../../test-support/start-migrated";
import { patient } from "../../../test-support/patient";

const prefix = `test_${randomUUID().slice(0, 8)}_`;
const env = { MONGODB_URI: process.env.MONGODB_URI!, MONGODB_DATABASE_PREFIX: prefix, MODELS_LISTEN: "127.0.0.1:0", LOG_LEVEL: "silent" };
type Client = ClientOf<models.ModelsServiceServer>;
type Json = Record<string, unknown>;
const stops: (() => Promise<void>)[] = [];

const startReplica = async (): Promise<Client> => {
  const running = await startMigrated(service, env);
  const address = `127.0.0.1:${running.ports!.MODELS_LISTEN}`;
  const client = patient(createGrpcClient<models.ModelsServiceServer>(models.ModelsServiceService, { address }));
  stops.push(async () => {
    client.close();
    await running.stop();
  });
  return client;
};

let first: Client;
let second: Client;
beforeAll(async () => {
  [first, second] = await Promise.all([startReplica(), startReplica()]);
});
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  const connection = await connectMongo({ uri: env.MONGODB_URI, database: `${prefix}models` });
  await connection.dropDatabase();
  await connection.close();
});

const SCHNELL = JSON.parse(readFileSync(join(__dirname, "..", "registry", "flux-schnell.json"), "utf8")) as Json & { provider: Json };
/** An entry that needs no key. */
const entryNamed = (internalName: string, change: Json = {}): Json => {
  const { auth: _, ...provider } = SCHNELL.provider;
  return { ...SCHNELL, internalName, provider, ...change };
};
const put = (client: Client, entry: Json | string, more: Partial<models.PutEntryRequest> = {}): Promise<models.PutEntryResponse> =>
  client.putEntry({
    entryJson: typeof entry === "string" ? entry : JSON.stringify(entry),
    create: false,
    internalName: "",
    ifRevision: undefined,
    ...more,
  });
const get = async (client: Client, internalName: string, includeDisabled = false): Promise<models.Model> =>
  (await client.getModel({ internalName, includeDisabled })).model!;
const name = (): string => `added-${randomUUID().slice(0, 8)}`;

describe("an added entry", () => {
  it("is a model here at once, and soon on every replica", async () => {
    const added = name();
    const { model, revision, beforeJson } = await put(first, entryNamed(added), { create: true });
    expect([model!.internalName, model!.enabled, revision, beforeJson]).toEqual([added, true, 1, ""]);
    expect((await get(first, added)).displayName).toBe("FLUX.1 [schnell]");
    await eventually(async () => (await second.listModels({ includeDisabled: false })).models.some((one) => one.internalName === added));
  });

  it("that is retired isn't found and names the first enabled successor, which lists it, even if successors form a circle", async () => {
    const [oldest, old, living, circle] = [name(), name(), name(), name()];
    await put(first, entryNamed(oldest, { retired: true, successor: old }));
    await put(first, entryNamed(old, { retired: true, successor: living }));
    await put(first, entryNamed(living));
    await put(first, entryNamed(circle, { retired: true, successor: `${circle}-2` }));
    await put(first, entryNamed(`${circle}-2`, { retired: true, successor: circle }));
    await expect(get(first, oldest)).rejects.toMatchObject({ reason: "MODEL_NOT_FOUND", metadata: { successor: living } });
    await expect(get(first, circle)).rejects.toMatchObject({ reason: "MODEL_NOT_FOUND", metadata: {} });
    await expect(put(first, entryNamed(oldest, { successor: oldest }))).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
    const { models: listed } = await first.listModels({ includeDisabled: false });
    const names = listed.map(({ internalName }) => internalName);
    expect(listed.find(({ internalName }) => internalName === living)!.replaces.sort()).toEqual([old, oldest].sort());
    expect(names.filter((one) => [oldest, old, circle].includes(one))).toEqual([]);
    expect((await get(first, oldest, true)).retired).toBe(true);
  });

  it("is read as it was sent, and replaced only at the revision that was read", async () => {
    const added = name();
    await put(first, entryNamed(added));
    const { entryJson, revision, isFile } = await first.getEntry({ internalName: added });
    expect([JSON.parse(entryJson), revision, isFile]).toEqual([entryNamed(added), 1, false]);
    const renamed = entryNamed(added, { displayName: "Renamed" });
    expect((await put(first, renamed, { ifRevision: 1 })).beforeJson).toBe(entryJson);
    await expect(put(first, entryNamed(added), { ifRevision: 1 })).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
    expect((await put(first, renamed)).revision).toBe(2);
  });

  it("is created once, however often it is sent", async () => {
    const added = name();
    const answers = await Promise.all([first, second, first].map((client) => put(client, entryNamed(added), { create: true })));
    expect(answers.map(({ revision }) => revision)).toEqual([1, 1, 1]);
    await expect(put(first, entryNamed(added, { displayName: "Other" }), { create: true })).rejects.toMatchObject({
      reason: "ALREADY_EXISTS",
    });
  });

  it("loses its overrides when it is replaced", async () => {
    const added = name();
    await put(first, entryNamed(added));
    await first.updateModel({ internalName: added, enabled: false, price: undefined, minTier: "enterprise", fallback: undefined });
    await expect(get(first, added)).rejects.toMatchObject({ reason: "MODEL_NOT_FOUND" });
    await put(first, entryNamed(added, { displayName: "New" }));
    expect(await get(first, added)).toMatchObject({ displayName: "New", enabled: true, minTier: "free" });
  });

  it("needs a price, and keeps it afterwards", async () => {
    const added = name();
    const { model } = await put(first, entryNamed(added, { price: null }));
    expect([model!.enabled, model!.price]).toEqual([false, undefined]);
    await expect(
      first.updateModel({ internalName: added, enabled: true, price: undefined, minTier: undefined, fallback: undefined }),
    ).rejects.toMatchObject({
      metadata: { issues: [{ path: "enabled" }] },
    });
    const price: models.Price = { basis: { $case: "perImageMicroUsd", value: 4_000 } };
    await first.updateModel({ internalName: added, enabled: undefined, price, minTier: undefined, fallback: undefined });
    expect((await get(first, added)).price).toEqual(price);
    await put(first, entryNamed(added));
    await expect(put(first, entryNamed(added, { price: null }))).rejects.toMatchObject({ metadata: { issues: [{ path: "price" }] } });
  });

  it("disappears when it is deleted, except for runs in progress", async () => {
    const added = name();
    await put(first, entryNamed(added));
    await first.deleteEntry({ internalName: added, ifRevision: undefined });
    await expect(get(first, added)).rejects.toMatchObject({ reason: "MODEL_NOT_FOUND" });
    expect(await get(first, added, true)).toMatchObject({ internalName: added, enabled: false });
    expect((await first.listModels({ includeDisabled: true })).models.map((one) => one.internalName)).not.toContain(added);
    await expect(first.deleteEntry({ internalName: added, ifRevision: undefined })).rejects.toMatchObject({ reason: "MODEL_NOT_FOUND" });
  });
});

describe("an entry is rejected", () => {
  const properties = { ...(SCHNELL.inputSchema as { properties: Json }).properties, prompt: { type: "string", minLenght: 1 } };
  const misspelt = entryNamed("x", { inputSchema: { ...(SCHNELL.inputSchema as Json), properties } });
  it.each<[string, Json | string, string]>([
    ["text that isn't JSON", "{ nope", ""],
    ["an unknown member", entryNamed("x", { colour: "red" }), ""],
    ["a misspelt keyword", misspelt, "inputSchema"],
    ["an input that it doesn't have", entryNamed("x", { price: { perSecondUsd: 1 } }), "price"],
    [
      "a variable in its address",
      entryNamed("x", { provider: { ...SCHNELL.provider, baseUrl: "https://evil.example/${MONGODB_URI}" } }),
      "provider.baseUrl",
    ],
    [
      "a secret that no file names",
      entryNamed("x", { provider: { ...SCHNELL.provider, auth: { secretEnv: "API_KEY_PEPPER" } } }),
      "provider.auth.secretEnv",
    ],
    [
      "a file's secret for another host",
      entryNamed("x", { provider: { ...SCHNELL.provider, baseUrl: "https://evil.example" } }),
      "provider.auth.secretEnv",
    ],
    ["being of the machine itself", entryNamed("x", { runsAt: "local" }), "runsAt"],
    ["being the sandbox", entryNamed("x", { sandbox: true }), "sandbox"],
    ["another name than the address has", entryNamed("y"), "internalName"],
  ])("for %s", async (_what, entry, path) => {
    await expect(put(first, entry, { internalName: "x" })).rejects.toMatchObject({
      reason: "INVALID_REQUEST",
      metadata: { issues: [{ path }] },
    });
  });

  it("with the name of a file, which PATCH changes", async () => {
    await expect(put(first, SCHNELL)).rejects.toMatchObject({
      reason: "ALREADY_EXISTS",
      message: expect.stringContaining("PATCH") as string,
    });
    await expect(first.deleteEntry({ internalName: "flux-schnell", ifRevision: undefined })).rejects.toMatchObject({
      reason: "ALREADY_EXISTS",
    });
    expect(await first.getEntry({ internalName: "flux-schnell" })).toMatchObject({ isFile: true, revision: 0 });
  });

  it("unless its secret belongs to a file with that host, or to added entries", async () => {
    const [same, other] = [name(), name()];
    const elsewhere = { ...SCHNELL.provider, baseUrl: "https://api.lumen.example", auth: { secretEnv: "PROVIDER_KEY_LUMEN" } };
    const answers = [
      await put(first, { ...SCHNELL, internalName: same }),
      await put(first, { ...SCHNELL, internalName: other, provider: elsewhere }),
    ];
    expect(answers.map(({ model }) => model!.status?.reason)).toEqual([
      expect.stringContaining("FAL_KEY"),
      expect.stringContaining("PROVIDER_KEY_LUMEN"),
    ]);
  });

  it("if it is too long, or beyond the maximum number", () => {
    const added = (entries: AddedEntries, one: string, json = "{}"): AddedEntries =>
      withEntry(entries, { name: one, json, mode: "put", now: 0 });
    expect(() => added({}, "long", " ".repeat(50_000))).toThrow(/at most/);
    let entries: AddedEntries = {};
    for (let index = 0; index < MAX_ENTRIES; index += 1) entries = added(entries, `m${index}`);
    expect(() => added(entries, "one-more")).toThrow(String(MAX_ENTRIES));
    const month = 32 * 24 * 60 * 60 * 1_000;
    const without = withoutEntry(entries, { name: "m0", now: 0 });
    expect(() => added(without, "one-more")).toThrow(String(MAX_ENTRIES));
    expect(Object.keys(withEntry(without, { name: "one-more", json: "{}", mode: "put", now: month }))).toHaveLength(MAX_ENTRIES);
  });
});
