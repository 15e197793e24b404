import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../../deploy/local/servers/ports.cjs";
import { peerOf, START_MS, startPeer } from "../../../test-support/peer";
import { expectEverything, startStage, TRANSCRIBES, type Stage } from "./openai/stage";

/** LiteLLM's proxy in front of a running platform, called by OpenAI's Python library. */

const execute = promisify(execFile);
const KEY = "sk-of-the-proxy";
const MODELS = ["sandbox-image", "sandbox-speech", "sandbox-chat", TRANSCRIBES];

let stage: Stage;
let stopProxy: () => Promise<void>;
let address: string;

beforeAll(async () => {
  stage = await startStage();
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  const litellm_params = { api_base: `${stage.platform.baseUrl}/v1`, api_key: stage.key };
  const config = {
    model_list: MODELS.map((name) => ({ model_name: name, litellm_params: { ...litellm_params, model: `openai/${name}` } })),
    // LiteLLM accepts response_format of pictures only for DALL-E.
    litellm_settings: { num_retries: 0, drop_params: true },
    router_settings: { num_retries: 0, disable_cooldowns: true },
  };
  // JSON is valid YAML.
  await writeFile(join(stage.folder, "config.yaml"), JSON.stringify(config));
  stopProxy = await startPeer({
    command: peerOf("litellm"),
    args: ["-m", "litellm.proxy.proxy_cli", "--config", "config.yaml", "--host", "127.0.0.1", "--port", String(port)],
    env: { LITELLM_MASTER_KEY: KEY, LITELLM_LOCAL_MODEL_COST_MAP: "True", NO_PROXY: "127.0.0.1" },
    cwd: stage.folder,
    isReady: async () => (await fetch(`${address}/health/liveliness`)).ok,
  });
}, 2 * START_MS);
afterAll(async () => {
  await stopProxy?.();
  await stage?.stop();
});

it("creates, edits, speaks, transcribes and chats through LiteLLM's proxy", async () => {
  const env = { ...process.env, OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${address}/v1` };
  const script = join(__dirname, "openai", "client.py");
  const { stdout } = await execute(peerOf("litellm"), [script, ...stage.files], { env, cwd: stage.folder });
  // LiteLLM's proxy has its own error codes.
  expectEverything(stdout, { status: 500 });
});
