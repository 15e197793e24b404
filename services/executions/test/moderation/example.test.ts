import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createOwnServers, createSlots } from "@nodeloom/platform";
import { createHook, QUESTIONS, type Hook, type Question } from "../../src/moderation/hook";
import { SECRET } from "../support/moderation-hook";
import { startRecordingServer, type RecordingServer } from "../../../../test-support/recording-server";

/** The hook from the documentation, in front of a service that answers like OpenAI's moderations. */

const EXAMPLE = join(__dirname, "..", "..", "..", "..", "docs", "guide", "examples", "moderation-by-openai.mjs");
const PNG = Buffer.from("89504e470d0a1a0a", "hex");

let service: RecordingServer;
let example: ChildProcess;
let url: string;
const servers = createOwnServers();

beforeAll(async () => {
  service = await startRecordingServer();
  service.answer = ({ call, json }) => {
    if (call.startsWith("GET")) return { bytes: PNG };
    const { input } = json() as { input: { type: string; text?: string }[] };
    const isViolent = input.some(({ type, text }) => type === "image_url" || text === "blood");
    const results = [{ flagged: isViolent, categories: { hate: false, violence: isViolent } }];
    return { json: { id: "modr-1", model: "omni-moderation-latest", results } };
  };
  const env = { ...process.env, MODERATION_SECRET: SECRET, OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${service.url}/v1` };
  example = spawn(process.execPath, [EXAMPLE, "127.0.0.1:0"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(example.stdout!, "data")) as [Buffer];
  url = `http://${line.toString().trim().split(" ").at(-1)}/`;
});
afterAll(async () => {
  const exit = once(example, "exit");
  example.kill();
  await Promise.all([exit, servers.close(), service.stop()]);
});

const ask = (part: Partial<Question>, secret = SECRET): ReturnType<Hook> => {
  const hook = createHook({ url, secrets: [secret], timeoutMs: 5_000, egress: servers.clientOf(url), slots: createSlots(QUESTIONS) });
  const about = { id: "mod_1", accountId: "u", executionId: "e", workflow: null, node: null, model: null } as const;
  return hook({ ...about, kind: "input", texts: [], files: [], ...part });
};

it("approves unflagged content, and rejects flagged content with its category", async () => {
  expect(await ask({ texts: ["a loom"] })).toEqual({ decision: "allow" });
  const refusal = { decision: "refuse", reason: "violence", policy: "omni-moderation-latest" };
  expect(await ask({ texts: ["a loom", "blood"] })).toEqual(refusal);
  expect(await ask({ kind: "output", files: [{ url: `${service.url}/a.png`, contentType: "image/png", sha256: null }] })).toEqual(refusal);
});

it("responds only to the platform", async () => {
  await expect(ask({ texts: ["a loom"] }, `whsec_${Buffer.alloc(32, 1).toString("base64")}`)).rejects.toThrow("answered 401");
});
