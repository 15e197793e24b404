import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEgressClient, type EgressClient, type RunningService } from "@nodeloom/platform";
import { service as sandboxService } from "@nodeloom/sandbox";
import { keepRecording, perform, recorder, SECRET, type Exchange, type Step } from "../support/recording";
import { pictures } from "../../../../test-support/direct";
import { startRecordingServer, type RecordedRequest, type RecordingServer } from "../../../../test-support/recording-server";
import { freePort } from "../../../../deploy/local/servers/ports.cjs";
import { peerOf, START_MS, startPeer } from "../../../../test-support/peer";

/**
 * Tests the dialects of OpenAI's, Anthropic's and Google's APIs against LiteLLM's proxy, which supports all of them for many providers. Its
 * answers are its own mock responses, the sandbox's texts and pictures, and for OpenAI's other requests those of a fake server.
 */

const PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SENTENCE = "A loom weaves threads into cloth.";

const REGISTRY = join(__dirname, "..", "..", "..", "models", "registry");
const SOUND = Buffer.from("a sound of two words");
const SPOKEN = Buffer.from("ID3 spoken");

/** Answers requests that the sandbox doesn't support. */
const standIn = ({ call }: RecordedRequest): ReturnType<RecordingServer["answer"]> => {
  switch (call) {
    case "POST /v1/images/edits":
      return { json: { created: 1, data: [{ b64_json: PIXEL.split(",")[1] }] } };
    case "POST /v1/audio/speech":
      return { bytes: SPOKEN, headers: { "content-type": "audio/mpeg" } };
    case "POST /v1/audio/transcriptions":
      return { json: { text: "two words", usage: { type: "duration", seconds: 2 } } };
    default:
      return { status: 404, json: { error: { message: `no ${call}`, type: "invalid_request_error" } } };
  }
};

const configOf = (sandboxUrl: string, standInUrl: string): object => ({
  model_list: [
    ...["claude-sonnet-5-5", "gemini-3.8-flash", "written"].map((model_name) => ({
      model_name,
      litellm_params: { model: "openai/sandbox-chat", api_key: "sandbox", api_base: `${sandboxUrl}/v1` },
    })),
    ...["gpt-image-2", "gpt-transcribe", "tts-1"].map((model_name) => ({
      model_name,
      litellm_params: { model: `openai/${model_name}`, api_key: "none", api_base: `${standInUrl}/v1` },
    })),
    { model_name: "chat", litellm_params: { model: "openai/gpt-4o-mini", api_key: "none", mock_response: SENTENCE } },
    { model_name: "busy", litellm_params: { model: "openai/gpt-4o-mini", api_key: "none", mock_response: "litellm.RateLimitError" } },
    {
      model_name: "broken",
      litellm_params: { model: "openai/gpt-4o-mini", api_key: "none", mock_response: "litellm.InternalServerError" },
    },
    { model_name: "pixel", litellm_params: { model: "openai/gpt-image-1", api_key: "none", mock_response: PIXEL } },
    { model_name: "picture", litellm_params: { model: "openai/sandbox-image-fast", api_key: "sandbox", api_base: `${sandboxUrl}/v1` } },
  ],
  // Otherwise LiteLLM would use OpenAI's responses API, which the sandbox doesn't support.
  litellm_settings: { num_retries: 0, drop_params: true, use_chat_completions_url_for_anthropic_messages: true },
  router_settings: { num_retries: 0, disable_cooldowns: true },
});

let folder: string;
let sandbox: RunningService;
let behind: RecordingServer;
let stopProxy: () => Promise<void>;
let address: string;
let egress: EgressClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nodeloom-litellm-"));
  sandbox = await sandboxService.start({
    SANDBOX_LISTEN: "127.0.0.1:0",
    SANDBOX_DATA_DIR: join(folder, "sandbox"),
    SANDBOX_API_KEY: "sandbox",
    LOG_LEVEL: "silent",
  });
  behind = await startRecordingServer();
  behind.answer = standIn;
  // JSON is valid YAML.
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(configOf(`http://127.0.0.1:${sandbox.ports!.SANDBOX_LISTEN}`, behind.url)));
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  stopProxy = await startPeer({
    command: peerOf("litellm"),
    args: ["-m", "litellm.proxy.proxy_cli", "--config", "config.yaml", "--host", "127.0.0.1", "--port", String(port)],
    env: { LITELLM_MASTER_KEY: SECRET, LITELLM_LOCAL_MODEL_COST_MAP: "True", NO_PROXY: "127.0.0.1" },
    cwd: folder,
    isReady: async () => (await fetch(`${address}/health/liveliness`)).ok,
  });
  egress = createEgressClient({ allow: [new URL(address).host] });
}, START_MS);
afterAll(async () => {
  await egress?.close();
  await stopProxy?.();
  await sandbox?.stop();
  await behind?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const auth = { scheme: "Bearer", secretEnv: "LITELLM_KEY" };
const chat = (model: string, part: object = {}): Record<string, unknown> => ({
  kind: "llm",
  baseUrl: `${address}/v1`,
  model,
  auth,
  ...part,
});
const images = (model: string): Record<string, unknown> => pictures(`${address}/v1`, model);

const run = async (name: string, settings: Record<string, unknown>, ...steps: Step[]): Promise<unknown[]> => {
  const exchanges: Exchange[] = [];
  const outcomes = await perform(settings, steps, recorder(egress, exchanges));
  keepRecording(name, address, { source: "LiteLLM 1.106.2", settings, steps, outcomes, exchanges });
  return outcomes;
};
const ask: Step = { do: "run", inputs: { prompt: "What is a loom?", system: "Be brief.", maxTokens: 50, temperature: 0 } };

it("chats, and reports its usage and the answer's id", async () => {
  const [answer] = await run("openai-chat/litellm", chat("chat"), ask);
  expect(answer).toEqual({
    text: SENTENCE,
    usage: { inputTokens: expect.any(Number) as number, outputTokens: expect.any(Number) as number },
    requestId: expect.stringMatching(/^chatcmpl-/) as string,
  });
});

it("chats piece by piece", async () => {
  const [answer] = (await run("openai-chat/litellm-stream", chat("chat", { stream: true }), { ...ask, stream: true } as Step)) as [
    { text: string; pieces: string[]; usage: { outputTokens: number } },
  ];
  expect(answer.text).toBe(SENTENCE);
  expect(answer.pieces.length).toBeGreaterThan(3);
  expect(answer.pieces.join("")).toBe(SENTENCE);
  expect(answer.usage.outputTokens).toBe(8);
});

it("distinguishes a busy provider, a failed one, and an unknown model", async () => {
  const [busy] = await run("openai-chat/litellm-busy", chat("busy"), ask);
  expect(busy).toMatchObject({ error: { kind: "refused", status: 429 } });
  const [broken] = await run("openai-chat/litellm-broken", chat("broken"), ask);
  expect(broken).toMatchObject({
    error: { kind: "refused", status: 500, message: expect.stringContaining("mock internal server error") as string },
  });
  const [unknown] = await run("openai-chat/litellm-unknown-model", chat("gpt-0"), ask);
  expect(unknown).toMatchObject({
    error: { kind: "refused", status: 400, message: expect.stringContaining("Invalid model name") as string },
  });
});

it("gets pictures as bytes, as from any OpenAI-compatible provider", async () => {
  const [answer] = await run("direct-http/openai-images-litellm", images("picture"), { do: "run", inputs: { prompt: "a loom", count: 2 } });
  const picture = { bytes: expect.any(Number) as number, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string };
  expect(answer).toEqual({ files: [picture, picture], requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string });
});

it("gets a picture from a data URL", async () => {
  const [answer] = await run("direct-http/openai-images-litellm-data-url", images("pixel"), { do: "run", inputs: { prompt: "a pixel" } });
  expect(answer).toMatchObject({ files: [{ bytes: Buffer.from(PIXEL.split(",")[1]!, "base64").length }] });
});

it("passes on the provider's rejection", async () => {
  const inputs = { prompt: "a loom", sandbox: { fail: "submit", status: 422 } };
  const [answer] = await run("direct-http/openai-images-litellm-refused", images("picture"), { do: "run", inputs });
  expect(answer).toMatchObject({ error: { kind: "refused" } });
});

/** The provider settings of a registry entry, with LiteLLM in the provider's place. */
const entry = (name: string, base = "/v1"): Record<string, unknown> => {
  const { provider } = JSON.parse(readFileSync(join(REGISTRY, `${name}.json`), "utf8")) as { provider: Record<string, unknown> };
  return { ...provider, baseUrl: `${address}${base}` };
};
const fileOf = (name: string, contentType: string, bytes: Buffer): object => ({
  name,
  contentType,
  length: bytes.length,
  read: async function* (): AsyncIterable<Uint8Array> {
    yield bytes;
  },
});
const lastForm = async (call: string): Promise<Record<string, unknown>> =>
  Object.fromEntries(await behind.requests.findLast((request) => request.call === call)!.form());

describe.each([
  ["claude-sonnet-5-5", "/v1"],
  ["gemini-3-8-flash", "/v1beta"],
])("the entry %s, with its maker's API", (name, base) => {
  const question = { prompt: "What is a loom?", system: "Be brief.", maxTokens: 50 };

  it("writes whole texts, and the same text piece by piece", async () => {
    const settings = entry(name, base);
    const [whole] = await perform({ ...settings, stream: false }, [{ do: "run", inputs: question }], egress);
    const usage = { inputTokens: expect.any(Number) as number, outputTokens: expect.any(Number) as number };
    expect(whole).toMatchObject({ text: expect.stringContaining("loom") as string, usage });
    const [streamed] = (await perform(settings, [{ do: "run", inputs: question, stream: true }], egress)) as [
      { text: string; pieces: string[] },
    ];
    expect(streamed.pieces.length).toBeGreaterThan(1);
    expect(streamed.pieces.join("")).toBe(streamed.text);
  });

  it("reports the rejection", async () => {
    const [failed] = await perform({ ...entry(name, base), model: "gpt-0" }, [{ do: "run", inputs: question }], egress);
    expect(failed).toMatchObject({ error: { kind: "refused" } });
  });
});

it("returns JSON by a schema", async () => {
  const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false };
  const settings = chat("written", { structuredOutput: "json_schema" });
  const [answer] = (await perform(settings, [{ do: "run", inputs: { prompt: "a name" }, schema }], egress)) as [{ text: string }];
  expect(JSON.parse(answer.text)).toMatchObject({ name: expect.any(String) as string });
});

it("edits a picture sent in a form", async () => {
  const image = fileOf("one.png", "image/png", Buffer.from(PIXEL.split(",")[1]!, "base64"));
  const [result] = await perform(entry("gpt-image-2-edit"), [{ do: "run", inputs: { prompt: "at night", image } }], egress);
  expect(result).toMatchObject({ files: [{ bytes: Buffer.from(PIXEL.split(",")[1]!, "base64").length }] });
  expect(await lastForm("POST /v1/images/edits")).toMatchObject({ model: "gpt-image-2", prompt: "at night" });
});

it("speaks", async () => {
  const request = { path: "/audio/speech", body: { model: "tts-1", voice: "alloy", input: { $input: "prompt" } } };
  const settings = { kind: "direct-http", baseUrl: `${address}/v1`, auth, request, answer: "bytes", outputs: { audios: "" } };
  const [result] = await perform(settings, [{ do: "run", inputs: { prompt: "hello" } }], egress);
  expect(result).toMatchObject({ files: [{ bytes: SPOKEN.length }] });
});

it("transcribes a sound sent in a form", async () => {
  const [result] = await perform(
    entry("gpt-transcribe"),
    [{ do: "run", inputs: { audio: fileOf("one.mp3", "audio/mpeg", SOUND), prompt: "loom" } }],
    egress,
  );
  expect(result).toMatchObject({ text: "two words" });
  const { file } = (await lastForm("POST /v1/audio/transcriptions")) as { file: { text: string } };
  expect(file.text).toBe(SOUND.toString());
});
