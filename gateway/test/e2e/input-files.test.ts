import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientOf, eventually, type Account, type Answer } from "../../../test-support/client";
import { node, edge } from "../../../test-support/graphs";
import { startModeration, type ModerationHook, type Question } from "./support/moderation";
import { startPlatform, type Platform } from "../../../test-support/platform";

/**
 * Input files on an installation with a loopback address, for providers that read only public addresses. The sandbox rejects every other
 * address, and these entries claim to be at another one.
 */

const REGISTRY = join(__dirname, "..", "..", "..", "services", "models", "registry");

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account;
let registry: string;
/** Hook that moderates every file, as on an installation with moderation. */
let moderation: ModerationHook;

/** Adds a sandbox entry that sends its image in these ways. */
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
  moderation = await startModeration();
  platform = await startPlatform({ allow: [moderation.address], env: { MODELS_REGISTRY_DIR: registry, ...moderation.env } });
  client = clientOf(platform);
  user = await client.account({ webhook: { url: moderation.webhookUrl } });
});
afterAll(async () => {
  await platform.stop();
  await moderation.close();
  rmSync(registry, { recursive: true, force: true });
});

const post = (path: string, body: unknown): Promise<Answer> => client.call("POST", path, { key: user.key, body });
const submissions = async (): Promise<number> => {
  const stats = (await (await platform.sandboxControl("/sandbox/stats")).json()) as { jobs: { submissions: number; refusals: number } };
  return stats.jobs.submissions + stats.jobs.refusals;
};

/** A workflow that makes a picture and then a video from it. */
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
  const reply = await post(`/api/workflows/${await videoOf(model)}/run`, { inputs: {} });
  expect(reply).toMatchObject({ status: 200, body: { success: true, result: { videos: [{ url: expect.any(String) as string }] } } });
  const address = await picture();
  const bytes = Buffer.from(await (await fetch(address)).arrayBuffer());
  for (const image of [address, `data:image/png;base64,${bytes.toString("base64")}`]) {
    const inputs = { prompt: "it weaves", seconds: 1, image, sandbox: { latencyMs: 20 } };
    expect(await post(`/api/models/${model}/run`, { inputs })).toMatchObject({ status: 200, body: { success: true } });
  }
});

it("a file that can't reach its provider in any way is rejected before the run starts, with the setting to change", async () => {
  const before = await submissions();
  const message = expect.stringContaining("set PUBLIC_BASE_URL to an https address that it can read") as string;
  const slug = await videoOf("hosted-by-address");
  const refusal = { status: 422, body: { code: "WORKFLOW_INVALID", error: message } };
  expect(await post(`/api/workflows/${slug}/run`, { inputs: {} })).toMatchObject(refusal);
  expect(await submissions()).toBe(before);
});

it("a file that is too large fails before its call is submitted, for free, with the setting to change", async () => {
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

describe("moderation", () => {
  const get = (path: string): Promise<Answer> => client.call("GET", path, { key: user.key });
  const spentCredits = async (): Promise<number> => {
    const { body } = await client.call("GET", "/api/me", { cookie: user.cookie });
    const { plan, held } = body.credits as { plan: number; held: number };
    return plan + held;
  };
  const refuse = { decision: "refuse", reason: "violence", message: "Blood is not shown here." };
  const refusing = (word: string, kind: "input" | "output"): void => {
    moderation.decide = (question) => (question.kind === kind && JSON.stringify(question).includes(word) ? refuse : { decision: "allow" });
  };
  const runModel = (model: string, prompt: string): Promise<Answer> =>
    post(`/api/models/${model}/run`, { inputs: { prompt, sandbox: { latencyMs: 0 } } });
  afterEach(() => {
    moderation.decide = () => ({ decision: "allow" });
    moderation.isDown = false;
  });

  it("rejects a prompt before anything is held or sent, whichever API it comes from", async () => {
    refusing("BLOOD", "input");
    const [before, credits] = [await submissions(), await spentCredits()];
    const refusal = { status: 422, body: { code: "CONTENT_REFUSED", reason: "violence" } };
    expect(await runModel("sandbox-image-fast", "BLOOD")).toMatchObject(refusal);
    const images = await client.call("POST", "/v1/images/generations", {
      headers: { authorization: `Bearer ${user.key}` },
      body: { model: "sandbox-image-fast", prompt: "BLOOD" },
    });
    expect(images).toMatchObject({ status: 422, body: { error: { code: "CONTENT_REFUSED" } } });
    const { body: batch } = await post("/api/models/sandbox-image-fast/batches", { inputs: [{ prompt: "BLOOD" }, { prompt: "a loom" }] });
    const isOver = ({ body }: Answer): boolean => ["completed", "failed"].includes(body.status as string);
    await eventually(() => get(`/api/batches/${batch.batchId as string}`), isOver);
    const results = (await get(`/api/batches/${batch.batchId as string}/results?format=jsonl`)).text.trim().split("\n");
    expect(results.map((line) => (JSON.parse(line) as { status: string; error?: { code: string } | null }).error?.code ?? "none")).toEqual([
      "CONTENT_REFUSED",
      "none",
    ]);
    expect(await spentCredits()).toBeCloseTo(credits - 0.52, 5);
    expect(await submissions()).toBe(before + 1);
    const { body } = await client.asAdmin("GET", `/api/admin/moderation?userId=${user.userId}`);
    const expected = { userId: user.userId, kind: "input", decision: "refuse", reason: "violence", message: refuse.message };
    expect(body).toMatchObject({ configured: true, rows: [expected, expected, expected] });
    expect(JSON.stringify(body)).not.toContain("BLOOD");
  });

  it("starts no run while the hook is unavailable, and runs once it is back", async () => {
    moderation.isDown = true;
    expect(await runModel("sandbox-image-fast", "a loom")).toMatchObject({
      status: 503,
      body: { code: "SERVICE_UNAVAILABLE", moderation: "away" },
    });
    moderation.isDown = false;
    await eventually(
      () => runModel("sandbox-image-fast", "a loom"),
      ({ status }) => status === 200,
    );
  });

  it("never shows rejected results, and charges them", async () => {
    let decide!: (decision: object) => void;
    const decided = new Promise<object>((resolve) => (decide = resolve));
    const askedQuestion = new Promise<Question>((resolve) => {
      moderation.decide = (question) => {
        if (question.kind === "input") return { decision: "allow" };
        resolve(question);
        return decided;
      };
    });
    const credits = await spentCredits();
    const nodes = [
      node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "a loom", sandbox: { latencyMs: 0 } } }),
      node("clip", "generate-video", { model: "sandbox-video", inputs: { prompt: "it weaves", seconds: 1 } }),
      node("out", "response-output"),
    ];
    const graph = {
      name: "Refused",
      nodes,
      edges: [edge("pic.image", "clip.image"), edge("pic.image", "out.images"), edge("clip.video", "out.videos")],
    };
    const slug = ((await post("/api/workflows", graph)).body as { slug: string }).slug;
    const before = await submissions();
    const { body: submission } = await client.call("POST", `/api/workflows/${slug}/run`, {
      key: user.key,
      headers: { prefer: "respond-async" },
      body: { inputs: {} },
    });
    const executionId = submission.executionId as string;
    const [file] = (await askedQuestion).files as [Question["files"][number]];
    const key = new URL(file.url).pathname.slice("/media/".length);
    expect((await fetch(file.url)).status).toBe(200);
    const readers = (): Promise<Answer[]> =>
      Promise.all([
        get(`/api/executions/${executionId}`),
        get("/api/executions?limit=5"),
        get("/api/media?limit=100"),
        get(`/api/media/${executionId}-0-0-0/provenance`),
        get(`/media/${key}`),
        get(`/media/${key}?w=64`),
      ]);
    const sees = (answers: readonly Answer[]): boolean => answers.some(({ text }) => text.includes(key) || text.includes("PNG"));
    expect(sees(await readers())).toBe(false);
    decide(refuse);
    const isOver = ({ body }: Answer): boolean => body.status === "failed";
    const { body: endedRun } = await eventually(() => get(`/api/executions/${executionId}`), isOver);
    expect(endedRun).toMatchObject({
      error: { code: "CONTENT_REFUSED", nodeId: "pic" },
      nodes: [{ id: "pic", status: "failed" }, { id: "clip" }, { id: "out" }],
    });
    expect(sees([...(await readers()), await get(`/api/executions/${executionId}/events`), await get("/api/usage?limit=5")])).toBe(false);
    expect((await fetch(file.url)).status).toBe(404);
    const message = await eventually(
      () => moderation.webhooks.find((letter) => letter.includes(executionId)) ?? "",
      (letter) => letter !== "",
    );
    expect([message.includes("CONTENT_REFUSED"), message.includes(key)]).toEqual([true, false]);
    // Only the picture was submitted, because the clip wasn't started.
    expect(await submissions()).toBe(before + 1);
    expect(await spentCredits()).toBeCloseTo(credits - 0.52, 5);
    // A rejected result isn't reused: it is created, moderated and rejected again.
    refusing("", "output");
    const again = await post(`/api/executions/${executionId}/rerun`, {});
    expect(again).toMatchObject({ status: 422, body: { code: "CONTENT_REFUSED" } });
    expect(await spentCredits()).toBeCloseTo(credits - 1.04, 5);
  });
});
