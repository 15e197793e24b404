import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEgressClient, type EgressClient, type RunningService } from "@nodeloom/platform";
import { service as sandboxService } from "@nodeloom/sandbox";
import { keepRecording, perform, recorder, SECRET, type Exchange, type Step } from "../calls/providers/recording";
import { pictures } from "../support/direct";
import { freePort } from "../../../../deploy/local/servers/ports.cjs";
import { peerOf, START_MS, startPeer } from "./process";

/**
 * The OpenAI chat and images dialects against LiteLLM's proxy, which speaks OpenAI's API for many providers. Its answers
 * are its own: mock responses, and pictures that it has drawn by the sandbox as by any OpenAI-compatible provider.
 */

const PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SENTENCE = "A loom weaves threads into cloth.";

const configOf = (sandboxUrl: string): object => ({
  model_list: [
    { model_name: "chat", litellm_params: { model: "openai/gpt-4o-mini", api_key: "none", mock_response: SENTENCE } },
    { model_name: "busy", litellm_params: { model: "openai/gpt-4o-mini", api_key: "none", mock_response: "litellm.RateLimitError" } },
    {
      model_name: "broken",
      litellm_params: { model: "openai/gpt-4o-mini", api_key: "none", mock_response: "litellm.InternalServerError" },
    },
    { model_name: "pixel", litellm_params: { model: "openai/gpt-image-1", api_key: "none", mock_response: PIXEL } },
    { model_name: "picture", litellm_params: { model: "openai/sandbox-image-fast", api_key: "sandbox", api_base: `${sandboxUrl}/v1` } },
  ],
  litellm_settings: { num_retries: 0 },
  router_settings: { num_retries: 0, disable_cooldowns: true },
});

let folder: string;
let sandbox: RunningService;
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
  // JSON is YAML, too.
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(configOf(`http://127.0.0.1:${sandbox.ports!.SANDBOX_LISTEN}`)));
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

/** Does the steps, and writes down what was said. */
const run = async (name: string, settings: Record<string, unknown>, ...steps: Step[]): Promise<unknown[]> => {
  const exchanges: Exchange[] = [];
  const outcomes = await perform(settings, steps, recorder(egress, exchanges));
  keepRecording(name, address, { source: "LiteLLM 1.106.2", settings, steps, outcomes, exchanges });
  return outcomes;
};
const ask: Step = { do: "run", inputs: { prompt: "What is a loom?", system: "Be brief.", maxTokens: 50, temperature: 0 } };

it("chats, and says what it used and how the answer is called", async () => {
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

it("tells a provider without time from one that failed, from a model it does not know", async () => {
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

it("passes on what the provider behind refuses", async () => {
  const inputs = { prompt: "a loom", sandbox: { fail: "submit", status: 422 } };
  const [answer] = await run("direct-http/openai-images-litellm-refused", images("picture"), { do: "run", inputs });
  expect(answer).toMatchObject({ error: { kind: "refused" } });
});
