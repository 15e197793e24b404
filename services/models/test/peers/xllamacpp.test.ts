import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { readAnswer } from "@nodeloom/kernel";
import { connectMongo, createGrpcClient, createOwnServers, unary, type ClientOf } from "@nodeloom/platform";
import { identity as identityProto, models } from "@nodeloom/proto";
import { freePort } from "../../../../deploy/local/servers/ports.cjs";
import { startFakeService } from "../../../../test-support/fake-service";
import { createProvider, type TextProvider } from "@nodeloom/providers";
import { peerOf, START_MS, startPeer } from "../../../../test-support/peer";
import { eventually } from "../../../../test-support/eventually";
import { startMigrated } from "../../../../test-support/start-migrated";
import { service } from "../../src/main";

/** Adds a llama.cpp server, lists its models, and requests text and JSON through its entry. */

const KEY = "a-key-of-llama";
const prefix = `test_${randomUUID().slice(0, 8)}_`;
let stopLlama: () => Promise<void>;
let address: string;
let identity: Awaited<ReturnType<typeof startFakeService>>;
let running: Awaited<ReturnType<typeof startMigrated>>;
let client: ClientOf<models.ModelsServiceServer>;
const ownServers = createOwnServers();

beforeAll(async () => {
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  identity = await startFakeService(identityProto.IdentityServiceService, {
    listSecrets: unary(() => Promise.resolve({ secrets: [], configured: true })),
    readSecrets: unary(({ names }: identityProto.ReadSecretsRequest) =>
      Promise.resolve({ values: Object.fromEntries(names.map((name) => [name, KEY])), hosts: {} }),
    ),
  });
  stopLlama = await startPeer({
    command: peerOf("xllamacpp"),
    args: [join(__dirname, "llama_server.py"), String(port), KEY],
    env: {},
    cwd: __dirname,
    isReady: async () => (await fetch(`${address}/health`)).ok,
  });
  running = await startMigrated(service, {
    MONGODB_URI: process.env.MONGODB_URI!,
    MONGODB_DATABASE_PREFIX: prefix,
    MODELS_LISTEN: "127.0.0.1:0",
    IDENTITY_ADDRESS: identity.address,
    LOG_LEVEL: "silent",
  });
  const listen = `127.0.0.1:${running.ports!.MODELS_LISTEN}`;
  client = createGrpcClient<models.ModelsServiceServer>(models.ModelsServiceService, { address: listen });
}, START_MS);
afterAll(async () => {
  client?.close();
  await running?.stop();
  identity?.stop();
  await Promise.all([stopLlama?.(), ownServers.close()]);
  const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${prefix}models` });
  await connection.dropDatabase();
  await connection.close();
});

const modelOf = async (): Promise<models.Model | undefined> =>
  (await client.listModels({ includeDisabled: false })).models.find(({ internalName }) => internalName.startsWith("llama-"));
const provider = async (key = KEY): Promise<TextProvider> => {
  const { providerJson } = (await eventually(modelOf, (model) => model !== undefined))!;
  const egress = {
    stream: () => Promise.reject(new Error("no")),
    request: () => Promise.reject(new Error("no")),
    listen: () => Promise.reject(new Error("no")),
    close: () => Promise.resolve(),
  };
  return createProvider(providerJson, { egress, ownServers, secret: () => key }) as TextProvider;
};

it("lists its model, which is ready", async () => {
  await client.addServer({ kind: "openai", url: address, name: "Llama", hasKey: true });
  const { server } = await client.checkServer({ id: "llama" });
  expect(server).toMatchObject({ state: "ready", models: [{ makes: "chat", sees: false }] });
  expect(await eventually(modelOf, (model) => model !== undefined)).toMatchObject({
    internalName: "llama-smollm2-135m-instruct-q4-1",
    displayName: "SmolLM2-135M-Instruct.Q4_1 (Llama)",
    modality: "text",
    runsAt: "local",
    status: { state: "ready" },
  });
});

it("writes text piece by piece, and counts its tokens", async () => {
  const pieces: string[] = [];
  const inputs = { prompt: "Say hello.", maxTokens: 24, temperature: 0 };
  const { text, usage } = await (await provider()).run({ inputs, idempotencyKey: "k", onText: (piece) => void pieces.push(piece) });
  expect(pieces.length).toBeGreaterThan(3);
  expect(pieces.join("")).toBe(text);
  expect(usage.inputTokens).toBeGreaterThan(3);
  expect(usage.outputTokens).toBeLessThanOrEqual(24);
}, 60_000);

it("rejects another key", async () => {
  const answer = (await provider("another-key")).run({ inputs: { prompt: "Say hello.", maxTokens: 4 }, idempotencyKey: "k" });
  await expect(answer).rejects.toMatchObject({ kind: "refused", status: 401 });
});

it("returns JSON by a schema, also by one that isn't an object's", async () => {
  const schema = { type: "array", items: { type: "integer", minimum: 1, maximum: 9 }, minItems: 2, maxItems: 4 };
  const inputs = { prompt: "Three small numbers.", maxTokens: 64, temperature: 0 };
  const { text } = await (await provider()).run({ inputs, schema, idempotencyKey: "k" });
  expect(readAnswer(text, schema)).toHaveProperty("value");
}, 60_000);

it("is freed by an aborted call", async () => {
  const cancellation = new AbortController();
  const answer = (await provider()).run({
    inputs: { prompt: "Count to one thousand.", maxTokens: 900 },
    idempotencyKey: "k",
    signal: cancellation.signal,
    onText: () => cancellation.abort(new Error("given up")),
  });
  await expect(answer).rejects.toThrow("given up");
}, 60_000);
