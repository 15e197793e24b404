import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientOf, type Account, type Answer } from "./support/client";
import { node, edge } from "./support/graphs";
import { startPlatform, type Platform } from "./support/platform";

/**
 * Files among the inputs on an installation whose address is on loopback, for providers that read public addresses alone:
 * the sandbox refuses every other one, and these entries say that it is somewhere else.
 */

const REGISTRY = join(__dirname, "..", "..", "..", "services", "models", "registry");

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account;
let registry: string;

/** An entry of the sandbox's that sends its image in these ways. */
const addEntry = (internalName: string, send: string[], maxDataChars?: number): void => {
  const entry = JSON.parse(readFileSync(join(REGISTRY, "sandbox-video.json"), "utf8")) as { provider: object };
  const image = { send, ...(maxDataChars === undefined ? {} : { maxDataChars }) };
  const provider = { ...entry.provider, hosted: true, files: { image } };
  writeFileSync(join(registry, `${internalName}.json`), JSON.stringify({ ...entry, internalName, provider }));
};

beforeAll(async () => {
  registry = mkdtempSync(join(tmpdir(), "nodeloom-registry-"));
  cpSync(REGISTRY, registry, { recursive: true });
  addEntry("hosted-by-upload", ["url", "upload"]);
  addEntry("hosted-by-data", ["url", "data-url"]);
  addEntry("hosted-by-little-data", ["url", "data-url"], 50);
  addEntry("hosted-by-address", ["url"]);
  platform = await startPlatform({ env: { MODELS_REGISTRY_DIR: registry } });
  client = clientOf(platform);
  user = await client.account();
});
afterAll(async () => {
  await platform.stop();
  rmSync(registry, { recursive: true, force: true });
});

const post = (path: string, body: unknown): Promise<Answer> => client.call("POST", path, { key: user.key, body });
const submissions = async (): Promise<number> => {
  const stats = (await (await platform.sandboxControl("/sandbox/stats")).json()) as { jobs: { submissions: number; refusals: number } };
  return stats.jobs.submissions + stats.jobs.refusals;
};

/** A workflow that makes a video of a picture that it makes before. */
const videoOf = async (model: string): Promise<string> => {
  const nodes = [
    node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "a loom", sandbox: { latencyMs: 20 } } }),
    node("clip", "generate-video", { model, inputs: { prompt: "it weaves", seconds: 1, sandbox: { latencyMs: 20 } } }),
    node("out", "response-output"),
  ];
  const graph = { name: model, nodes, edges: [edge("pic.image", "clip.image"), edge("clip.video", "out.videos")] };
  return ((await post("/api/workflows", graph)).body as { slug: string }).slug;
};
const picture = async (): Promise<string> => {
  const { body } = await post("/api/models/sandbox-image-fast/run", { inputs: { prompt: "a loom", sandbox: { latencyMs: 20 } } });
  return (body.result as { images: { url: string }[] }).images[0]!.url;
};

it.each(["hosted-by-upload", "hosted-by-data", "sandbox-video"])("a picture becomes a video by %s", async (model) => {
  const made = await post(`/api/workflows/${await videoOf(model)}/run`, { inputs: {} });
  expect(made).toMatchObject({ status: 200, body: { success: true, result: { videos: [{ url: expect.any(String) as string }] } } });
  const address = await picture();
  const bytes = Buffer.from(await (await fetch(address)).arrayBuffer());
  for (const image of [address, `data:image/png;base64,${bytes.toString("base64")}`]) {
    const inputs = { prompt: "it weaves", seconds: 1, image, sandbox: { latencyMs: 20 } };
    expect(await post(`/api/models/${model}/run`, { inputs })).toMatchObject({ status: 200, body: { success: true } });
  }
});

it("what no way leads to its provider is refused before a run is made of it, with the setting to change", async () => {
  const before = await submissions();
  const message = expect.stringContaining("set PUBLIC_BASE_URL to an https address that it can read") as string;
  const slug = await videoOf("hosted-by-address");
  const refused = { status: 422, body: { code: "WORKFLOW_INVALID", error: message } };
  expect(await post(`/api/workflows/${slug}/run`, { inputs: {} })).toMatchObject(refused);
  expect(await submissions()).toBe(before);
});

it("a file that turns out to be too large fails before its call is submitted, free, with the setting to change", async () => {
  const image = await picture();
  const before = await submissions();
  const inputs = { prompt: "it weaves", seconds: 1, image };
  const failed = await post("/api/models/hosted-by-little-data/run", { inputs });
  expect(failed).toMatchObject({
    status: 500,
    body: { code: "EXECUTION_FAILED", error: expect.stringMatching(/PUBLIC_BASE_URL .*, or give a file of at most/) as string },
  });
  expect(await submissions()).toBe(before);
  const { executionId } = failed.body as { executionId: string };
  const { rows } = (await client.call("GET", "/api/usage?limit=1", { key: user.key })).body as { rows: object[] };
  expect(rows).toMatchObject([{ executionId, status: "failed", creditsCost: 0 }]);
});
