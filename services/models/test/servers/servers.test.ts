import { randomUUID } from "node:crypto";
import { connectMongo, createGrpcClient, unary, type ClientOf } from "@nodeloom/platform";
import { identity as identityProto, models, type modelServers } from "@nodeloom/proto";
import { startFakeService } from "../../../../test-support/fake-service";
import { eventually } from "../../../../test-support/eventually";
import { patient } from "../../../../test-support/patient";
import { startMigrated } from "../../../../test-support/start-migrated";
import { service } from "../../src/main";
import { startStandIn, type StandIn } from "../../../../test-support/model-server";

type Client = ClientOf<models.ModelsServiceServer>;
type Replica = { client: Client; stop(): Promise<void> };

const prefix = `test_${randomUUID().slice(0, 8)}_`;
let identity: Awaited<ReturnType<typeof startFakeService>>;
let ollama: StandIn;
let comfy: StandIn;
let first: Replica;
let second: Replica;

const environment = () => ({
  MONGODB_URI: process.env.MONGODB_URI!,
  MONGODB_DATABASE_PREFIX: prefix,
  MODELS_LISTEN: "127.0.0.1:0",
  LOG_LEVEL: "silent",
  IDENTITY_ADDRESS: identity.address,
  MODEL_SERVERS: `openai=${ollama.url}`,
});
const startReplica = async (): Promise<Replica> => {
  const running = await startMigrated(service, environment());
  const address = `127.0.0.1:${running.ports!.MODELS_LISTEN}`;
  const client = patient(createGrpcClient<models.ModelsServiceServer>(models.ModelsServiceService, { address }));
  const stop = async (): Promise<void> => {
    client.close();
    await running.stop();
  };
  return { client, stop };
};

beforeAll(async () => {
  identity = await startFakeService(identityProto.IdentityServiceService, {
    listSecrets: unary(() => Promise.resolve({ secrets: [], configured: true })),
    readSecrets: unary(({ names }: identityProto.ReadSecretsRequest) =>
      Promise.resolve({
        values: Object.fromEntries(names.map((name) => [name, `value of ${name}`])),
        hosts: Object.fromEntries(names.map((name) => [name, { hosts: [storedFor], workflows: [] }])),
      }),
    ),
  });
  ollama = await startStandIn({ "/v1/models": { data: [{ id: "llama3.2:3b" }, { id: "nomic-embed-text" }, { id: "flux.1-schnell" }] } });
  storedFor = ollama.url;
  comfy = await startStandIn({ "/system_stats": { system: { comfyui_version: "0.3" } } });
  [first, second] = await Promise.all([startReplica(), startReplica()]);
});
afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop()]);
  identity?.stop();
  await Promise.all([ollama?.stop(), comfy?.stop()]);
  const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${prefix}models` });
  await connection.dropDatabase();
  await connection.close();
});

/** The URL for which server keys were stored. */
let storedFor: string;

const envId = (): string => ollama.host.replace(/[.:]/g, "-");
const modelNamed = async (client: Client, end: string): Promise<models.Model | undefined> =>
  (await client.listModels({ includeDisabled: true })).models.find(({ internalName }) => internalName === `${envId()}-${end}`);
const settingsOf = (model: models.Model | undefined): Record<string, unknown> => JSON.parse(model!.providerJson) as Record<string, unknown>;
const add = (
  server: Partial<modelServers.AddServerRequest>,
): Promise<models.ModelsServiceServer extends never ? never : { server?: modelServers.ModelServer | undefined }> =>
  first.client.addServer({ kind: "openai", url: `${ollama.url}/v1`, name: "GPU box", hasKey: false, ...server });

it("has the models of a configured server, with their modality, for free", async () => {
  const chat = await eventually(() => modelNamed(first.client, "llama3-2-3b"), (model) => model !== undefined); // prettier-ignore
  expect(chat).toMatchObject({ modality: "text", runsAt: "local", enabled: true, displayName: `llama3.2:3b (${ollama.host})` });
  expect(chat!.price).toEqual({ basis: { $case: "tokens", value: { inputMicroUsdPerMillion: 0, outputMicroUsdPerMillion: 0 } } });
  // Parameters that OpenAI-compatible proxies of other models forward.
  expect(Object.keys(JSON.parse(chat!.inputSchemaJson).properties as object)).toEqual(
    expect.arrayContaining(["tools", "tool_choice", "steps", "top_p", "stop"]),
  );
  expect(settingsOf(chat)).toMatchObject({ kind: "llm", model: "llama3.2:3b", baseUrl: `${ollama.url}/v1`, server: { id: envId() } });
  expect(await modelNamed(first.client, "flux-1-schnell")).toMatchObject({ modality: "image", providerKind: "direct-http" });
  expect(await modelNamed(first.client, "nomic-embed-text")).toBeUndefined();
});

it("adds a server once over all replicas, and sends its key only to it", async () => {
  const { server } = await add({ hasKey: true });
  expect(server).toMatchObject({ id: "gpu-box", kind: "openai", hasKey: true });
  expect(await first.client.checkServer({ id: "gpu-box" })).toMatchObject({ server: { state: "ready" } });
  await expect(add({})).rejects.toMatchObject({ reason: "ALREADY_EXISTS" });
  expect(ollama.requests).toContain("/v1/models Bearer value of MODEL_SERVER_GPU_BOX");
  const model = async () =>
    (await second.client.listModels({ includeDisabled: false })).models.find(({ internalName }) => internalName === "gpu-box-llama3-2-3b");
  const listedModel = await eventually(model, (foundModel) => foundModel !== undefined);
  expect(settingsOf(listedModel)).toMatchObject({ auth: { scheme: "Bearer", secretEnv: "MODEL_SERVER_GPU_BOX" } });
  // Server keys aren't listed as provider keys.
  expect((await first.client.listProviderKeys({})).keys.map(({ name }) => name)).not.toContain("MODEL_SERVER_GPU_BOX");
});

it("sends a key only to the URL it was stored for, whichever of the two changed", async () => {
  storedFor = "https://gpu.example.com";
  const before = ollama.requests.length;
  await first.client.checkServer({ id: "gpu-box" });
  expect(ollama.requests.slice(before)).toEqual(["/v1/models -"]);
  storedFor = ollama.url;
});

it("lets administrators set a model's task", async () => {
  const change = { id: "gpu-box", name: undefined, url: undefined, hasKey: undefined };
  const say = (id: string, makes: string) => first.client.updateServer({ ...change, models: [{ id, makes, sees: undefined }] });
  const { server } = await say("llama3.2:3b", "transcribe");
  expect(server!.models.find(({ id }) => id === "llama3.2:3b")).toMatchObject({ makes: "transcribe" });
  expect((await first.client.getModel({ internalName: "gpu-box-llama3-2-3b", includeDisabled: false })).model).toMatchObject({
    providerKind: "direct-http",
    modality: "text",
  });
  await expect(say("llama3.2:3b", "films")).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  await expect(say("gpt-9", "chat")).rejects.toMatchObject({ message: expect.stringContaining("the server has no model gpt-9") as string });
  await say("llama3.2:3b", "chat");
});

it("accepts a price for a server's model like for any other", async () => {
  const price = { basis: { $case: "tokens" as const, value: { inputMicroUsdPerMillion: 1_000, outputMicroUsdPerMillion: 2_000 } } };
  const request = { internalName: "gpu-box-llama3-2-3b", enabled: undefined, price, minTier: undefined, fallback: undefined };
  expect((await second.client.updateModel(request)).model?.price).toEqual(price);
  const get = async () => (await first.client.getModel({ internalName: "gpu-box-llama3-2-3b", includeDisabled: false })).model?.price;
  expect(await eventually(get, (foundPrice) => JSON.stringify(foundPrice) === JSON.stringify(price))).toEqual(price);
});

it("keeps the models of an unavailable server, also over a restart, and notices its return", async () => {
  await ollama.stop();
  const third = await startReplica();
  const status = async (client: Client) =>
    (await client.getModel({ internalName: "gpu-box-llama3-2-3b", includeDisabled: false })).model?.status;
  expect(await status(third.client)).toMatchObject({
    state: "away",
    reason: expect.stringContaining("GPU box") as string,
    retryAfterSeconds: 15,
  });
  await ollama.start();
  expect(await third.client.checkServer({ id: "gpu-box" })).toMatchObject({ server: { state: "ready" } });
  expect(await status(third.client)).toMatchObject({ state: "ready" });
  await third.stop();
});

it.each<[string, Record<string, unknown>, string]>([
  ["another kind of server", { "/v1/models": { object: "list" } }, "its list of models has no data"],
  ["one that wants a key", { "/v1/models": 401 }, "it requires another key"],
  ["one that is none", {}, "it answers 404 at /v1/models"],
  ["one that sends elsewhere", { "/v1/models": "http://169.254.169.254/latest" }, "it answers 302"],
])("gives the reason why %s can't be used", async (_name, answers, problem) => {
  const other = await startStandIn(answers);
  const { problem: problemText } = await first.client.testServer({ kind: "openai", url: other.url, key: "" });
  expect(problemText).toContain(problem);
  expect(other.requests).toEqual(["/v1/models -"]);
  await other.stop();
});

it.each([
  ["http://169.254.169.254/v1", "it is not the address of a host"],
  ["http://[fe80::1]/v1", "it is not the address of a host"],
  ["http://[fd00:ec2::254]/v1", "it is not the address of a host"],
])("never calls a cloud metadata service: %s", async (url, problem) => {
  expect((await first.client.testServer({ kind: "openai", url, key: "" })).problem).toContain(problem);
});

it("keeps configured servers as they are in the environment", async () => {
  await expect(first.client.removeServer({ id: envId() })).rejects.toMatchObject({
    message: expect.stringContaining("MODEL_SERVERS") as string,
  });
  const change = { id: envId(), url: "http://elsewhere", name: undefined, hasKey: undefined, models: [] };
  await expect(first.client.updateServer(change)).rejects.toMatchObject({ message: expect.stringContaining("MODEL_SERVERS") as string });
});

describe("a ComfyUI server", () => {
  const workflow = {
    "3": { class_type: "KSampler", inputs: { seed: 1, steps: 20, cfg: 7.5, model: ["4", 0] }, _meta: { title: "KSampler" } },
    "6": { class_type: "CLIPTextEncode", inputs: { text: "a loom", clip: ["4", 1] }, _meta: { title: "Prompt" } },
    "9": { class_type: "SaveImage", inputs: { filename_prefix: "ComfyUI", images: ["8", 0] }, _meta: { title: "Save Image" } },
    "10": { class_type: "LoadImage", inputs: { image: "a.png" }, _meta: { title: "Face" } },
  };
  const put = (part: Partial<modelServers.PutWorkflowRequest> = {}) =>
    first.client.putWorkflow({ id: "comfy", name: "Portrait", workflowJson: JSON.stringify(workflow), inputs: [], modality: "", ...part });
  const workflowInput = (name: string, node: string, input: string): modelServers.WorkflowInput => ({
    name,
    node,
    input,
    title: "",
    classType: "",
    valueJson: "",
    titled: false,
    schemaJson: "",
  });

  beforeAll(async () => {
    comfy.answers["/object_info/KSampler"] = {
      KSampler: {
        display_name: "KSampler",
        input: { required: { steps: ["INT", { min: 1, max: 100 }], seed: ["INT", { min: 0, max: 2 ** 64 }] } },
      },
    };
    comfy.answers["/object_info/LoadImage"] = {
      LoadImage: { display_name: "Load Image", input: { required: { image: [["a.png"], { image_upload: true }] } } },
    };
    comfy.answers["/object_info/SaveImage"] = { SaveImage: { display_name: "Save Image", input: { required: {} } } };
    await add({ kind: "comfyui", url: comfy.url, name: "Comfy" });
  });

  it("lists the possible inputs of a workflow, titled nodes first", async () => {
    const { inputs, modality } = await first.client.inspectWorkflow({ id: "comfy", workflowJson: JSON.stringify(workflow) });
    expect(modality).toBe("image");
    expect(inputs.map(({ name, titled }) => `${name}${titled ? "!" : ""}`)).toEqual([
      "prompt!",
      "face!",
      "seed",
      "steps",
      "cfg",
      "filename_prefix",
    ]);
    expect(inputs.map(({ schemaJson }) => JSON.parse(schemaJson) as unknown)).toMatchObject([
      { type: "string", default: "a loom" },
      { format: "media", contentMediaType: "image/*" },
      { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      { type: "integer", minimum: 1, maximum: 100, default: 20 },
      { type: "number", default: 7.5 },
      { type: "string", default: "ComfyUI" },
    ]);
  });

  it("has a model for each workflow, with the values of titled nodes as its inputs unless others are chosen", async () => {
    await put();
    const get = async () => (await first.client.getModel({ internalName: "comfy-portrait", includeDisabled: false })).model!;
    const model = await get();
    expect(model).toMatchObject({ modality: "image", providerKind: "http-polling", runsAt: "local", displayName: "Portrait (Comfy)" });
    expect(JSON.parse(model.inputSchemaJson)).toMatchObject({ required: ["face"], properties: { prompt: {}, face: {} } });
    expect(settingsOf(model)).toMatchObject({
      kind: "comfyui",
      inputs: { prompt: { node: "6", input: "text" }, face: { node: "10", input: "image" } },
      files: { face: { send: ["upload"] } },
    });
    await put({ inputs: [workflowInput("words", "6", "text"), workflowInput("steps", "3", "steps")] });
    expect(Object.keys((JSON.parse((await get()).inputSchemaJson) as { properties: object }).properties)).toEqual(["words", "steps"]);
    const { server } = await first.client.removeWorkflow({ id: "comfy", slug: "portrait" });
    expect(server!.workflows).toEqual([]);
  });

  it.each<[string, Partial<modelServers.PutWorkflowRequest>, string]>([
    ["one as it is saved", { workflowJson: JSON.stringify({ nodes: [], links: [] }) }, "Export (API)"],
    ["one without nodes", { workflowJson: "{}" }, "must have 1 to 500 nodes"],
    ["one that is too large", { workflowJson: JSON.stringify({ "1": { class_type: "x".repeat(300_000) } }) }, "262144 characters"],
    ["an input that is not there", { inputs: [workflowInput("a", "6", "clip")] }, 'node 6 has no value "clip"'],
    ["an input that can't be called so", { inputs: [workflowInput("a b", "6", "text")] }, "must be letters, digits and underscores"],
    [
      "one that makes nothing that is known",
      { workflowJson: JSON.stringify({ "6": workflow["6"] }) },
      "no node says what the workflow makes",
    ],
    ["one without titles", { workflowJson: JSON.stringify({ "9": workflow["9"] }) }, "name the values that are inputs"],
  ])("rejects a workflow and gives the next step: %s", async (_name, part, problem) => {
    await expect(put(part)).rejects.toMatchObject({ reason: "INVALID_REQUEST", message: expect.stringContaining(problem) as string });
  });
});

it("removes a server with its models", async () => {
  await first.client.removeServer({ id: "gpu-box" });
  const hasServerModel = async () =>
    (await second.client.listModels({ includeDisabled: true })).models.some(({ internalName }) => internalName.startsWith("gpu-box-"));
  expect(await eventually(hasServerModel, (there) => !there)).toBe(false);
  await expect(first.client.removeServer({ id: "gpu-box" })).rejects.toMatchObject({ reason: "NOT_FOUND" });
});
