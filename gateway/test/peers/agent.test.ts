import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { clientOf, type Account } from "../../../test-support/client";
import { startPlatform, type Platform } from "../../../test-support/platform";
import { startLocalChat, type LocalChat } from "./agent/local-chat";

/** Agents on a running platform. They build, price and run a pipeline and show its results, with tools only. */

const execute = promisify(execFile);
const SCRIPTS = join(__dirname, "agent");
const PACKAGES = ["@modelcontextprotocol/client@2.4.0"];
const MAX_OUTPUT = 64 * 1024 * 1024;
const FETCH_MS = 20 * 60_000;

let folder: string;
let local: LocalChat;
let platform: Platform;
let user: Account;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-agent-"));
  await execute("npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", ...PACKAGES]);
  await cp(SCRIPTS, folder, { recursive: true });
  local = await startLocalChat(folder);
  platform = await startPlatform({ env: local.env, allow: [local.address] });
  user = await clientOf(platform).account({ tier: "business" });
}, FETCH_MS);
afterAll(async () => {
  await platform?.stop();
  await local?.stop();
  await rm(folder, { recursive: true, force: true });
});

const agent = async (script: string, ...args: string[]): Promise<Record<string, unknown>> => {
  const { stdout } = await execute(process.execPath, [join(folder, script), ...args], { maxBuffer: MAX_OUTPUT });
  return JSON.parse(stdout) as Record<string, unknown>;
};
const workflow = async (slug: unknown) => (await clientOf(platform).call("GET", `/api/workflows/${String(slug)}`, { key: user.key })).body;

it("with scripted decisions corrects the problems that a quote reports in its graph", async () => {
  const result = await agent("scripted.mjs", `${platform.baseUrl}/mcp?models=true`, user.key!);
  expect(result).toMatchObject({
    used: ["save_workflow", "quote", "save_workflow", "quote", "run", "get_execution", "run"],
    status: "completed",
    images: 2,
  });
  expect(await workflow(result.slug)).toMatchObject({ name: "Two postcards" });
  expect(await workflow(result.slug)).not.toHaveProperty("mcp");
});

it("with a small local model's decisions fulfils the request", async () => {
  const result = await agent("local.mjs", platform.baseUrl, user.key!, "local-chat", "a lighthouse in a storm");
  process.stdout.write(`${JSON.stringify(result)}\n`);
  expect(result).toMatchObject({
    used: expect.arrayContaining(["save_workflow", "quote", "run", "finish"]) as unknown,
    plan: { prompt: expect.stringMatching(/lighthouse/i) as unknown },
    status: "completed",
    tokens: { completion_tokens: expect.any(Number) as number },
  });
  expect(result.images).toBeGreaterThan(0);
  expect(await workflow(result.slug)).toMatchObject({ name: (result.plan as { name: string }).name });
});
