import { readFileSync } from "node:fs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEgressClient, type EgressClient, type RunningService } from "@nodeloom/platform";
import { service as sandbox } from "@nodeloom/sandbox";
import { createProvider, ProviderError, type JobProvider, type PollState, type Provider, type Submission, type TextProvider } from "../src";
import { showable } from "../src/transport";
import { voice } from "../../../test-support/direct";
import { keepRecording, perform, recorder, type Exchange, type Step } from "./support/recording";

const REGISTRY = join(__dirname, "..", "..", "models", "registry");
let running: RunningService;
let egress: EgressClient;
let baseUrl: string;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nodeloom-providers-"));
  running = await sandbox.start({ SANDBOX_LISTEN: "127.0.0.1:0", SANDBOX_DATA_DIR: folder, LOG_LEVEL: "silent" });
  const address = `127.0.0.1:${running.ports!.SANDBOX_LISTEN}`;
  baseUrl = `http://${address}`;
  egress = createEgressClient({ allow: [address] });
});
afterAll(async () => {
  await egress.close();
  await running.stop();
  rmSync(folder, { recursive: true, force: true });
});

const provider = (model: string, change: (settings: Record<string, unknown>) => Record<string, unknown> = (same) => same): Provider => {
  const entry = JSON.parse(readFileSync(join(REGISTRY, `${model}.json`), "utf8").replaceAll("${SANDBOX_URL}", baseUrl)) as {
    provider: Record<string, unknown>;
  };
  return createProvider(JSON.stringify(change(entry.provider)), { egress, secret: () => undefined });
};
const jobs = (model: string): JobProvider => provider(model) as JobProvider;

const urlsOf = (state: PollState): string[] =>
  state.state === "succeeded" ? state.output.files.flatMap((file) => ("url" in file ? [file.url] : [])) : [];

/** Polls like the engine: after an error status it tries again. */
const finish = async (target: JobProvider, submission: Submission): Promise<PollState> => {
  const end = Date.now() + 60_000;
  while (Date.now() < end) {
    const state = await target.poll(submission).catch((error: unknown): PollState => {
      if (error instanceof ProviderError && error.status === 500) return { state: "running" };
      throw error;
    });
    if (state.state !== "running") return state;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("the job did not end");
};

const call = (
  inputs: Record<string, unknown>,
  idempotencyKey = `${Math.random()}`,
): { inputs: Record<string, unknown>; idempotencyKey: string } => ({ inputs, idempotencyKey });
const fast = { latencyMs: 20 };

describe.each(["sandbox-image", "sandbox-image-fast", "sandbox-video", "sandbox-music", "sandbox-speech"])("jobs of %s", (model) => {
  it("return files that can be downloaded", async () => {
    const target = jobs(model);
    const state = await finish(target, await target.submit(call({ prompt: "a loom", sandbox: fast })));
    expect(state.state).toBe("succeeded");
    const [url] = urlsOf(state);
    const file = await egress.request({ url: url!, timeoutMs: 60_000, maxBytes: 10_000_000 });
    expect(file.status).toBe(200);
    expect(file.body.length).toBeGreaterThan(500);
  });

  it("report a rejected submission with the provider's status and response", async () => {
    const submission = jobs(model).submit(call({ prompt: "x", sandbox: { fail: "submit", status: 422 } }));
    await expect(submission).rejects.toMatchObject({ kind: "refused", status: 422, body: expect.stringContaining("error") as string });
  });

  it("distinguish a failed job from one without output", async () => {
    const target = jobs(model);
    const failed = await finish(target, await target.submit(call({ prompt: "x", sandbox: { ...fast, fail: "job" } })));
    expect(failed.state).toBe("failed");
    const incomplete = await finish(target, await target.submit(call({ prompt: "x", sandbox: { ...fast, fail: "incomplete" } })));
    expect(incomplete).toMatchObject({ state: "succeeded", output: { files: [], text: null } });
  });

  it("survive occasional polls that return 500", async () => {
    const target = jobs(model);
    const state = await finish(target, await target.submit(call({ prompt: "x", sandbox: { ...fast, fail: "flap" } })));
    expect(state.state).toBe("succeeded");
  });

  it("can be stopped", async () => {
    const target = jobs(model);
    const submission = await target.submit(call({ prompt: "x", sandbox: { latencyMs: 60_000 } }));
    expect(await target.cancel(submission)).toBe(true);
    expect((await target.poll(submission)).state).not.toBe("running");
  });
});

describe("a recording of the sandbox", () => {
  const inputs = { prompt: "a loom", sandbox: { latencyMs: 0 } };
  const asJob: Step[] = [{ do: "submit", inputs }, { do: "poll" }];
  const settingsOf = (model: string): Record<string, unknown> =>
    (
      JSON.parse(readFileSync(join(REGISTRY, `${model}.json`), "utf8").replaceAll("${SANDBOX_URL}", baseUrl)) as {
        provider: Record<string, unknown>;
      }
    ).provider;
  it.each<[string, () => Record<string, unknown>, Step[], unknown]>([
    ["http-polling", () => settingsOf("sandbox-image"), asJob, { state: "succeeded" }],
    ["fal-queue", () => settingsOf("sandbox-image-fast"), asJob, { state: "succeeded" }],
    [
      "direct-http",
      () => voice(baseUrl, "sandbox-speech"),
      [{ do: "run", inputs: { ...inputs, prompt: "Hi" } }],
      { files: [{ bytes: expect.any(Number) as number }] },
    ],
  ])("of %s succeeds", async (dialect, settings, steps, end) => {
    const exchanges: Exchange[] = [];
    const outcomes = await perform(settings(), steps, recorder(egress, exchanges), "sandbox");
    expect(outcomes.at(-1)).toMatchObject(end as object);
    keepRecording(`${dialect}/${dialect === "direct-http" ? "speech-" : ""}sandbox`, baseUrl, {
      source: "the sandbox",
      settings: settings(),
      steps,
      outcomes,
      exchanges,
    });
  });
});

it("creates one job for a submission sent twice with one key", async () => {
  const target = jobs("sandbox-video");
  const [first, second] = await Promise.all([target.submit(call({ prompt: "x" }, "same")), target.submit(call({ prompt: "x" }, "same"))]);
  expect(second.requestId).toBe(first.requestId);
  expect(target.idempotentSubmit).toBe(true);
});

it("supports Replicate's predictions", async () => {
  const target = provider("sandbox-image-fast", (settings) => ({
    ...settings,
    dialect: "replicate",
    baseUrl,
    app: "sandbox-image-fast",
    auth: { ...(settings.auth as object), scheme: "Bearer" },
  })) as JobProvider;
  const state = await finish(target, await target.submit(call({ prompt: "x", sandbox: fast })));
  expect(urlsOf(state)).toEqual([expect.stringContaining("/files/")]);
});

it("answers chats with text and token counts", async () => {
  const target = provider("sandbox-chat") as TextProvider;
  const answer = await target.run(call({ prompt: "Describe a loom.", maxTokens: 20 }));
  expect(answer.text).not.toBe("");
  expect(answer.usage.inputTokens).toBeGreaterThan(0);
  expect(answer.usage.outputTokens).toBeLessThanOrEqual(20);
});

it.each([
  [{ kind: "inference-platform", dialect: "of-tomorrow" }, "inference-platform of-tomorrow"],
  [{ kind: "of-tomorrow" }, "of-tomorrow"],
])("rejects a provider that only a later release has, and names it: %j", (settings, name) => {
  expect(() => provider("sandbox-video", () => ({ ...settings, baseUrl }))).toThrow(`this release has no such provider: ${name}`);
});

it("never shows the secret or anything like one in a provider's response", () => {
  const shownText = showable("key my-own-secret and sk-abcdefgh12345 leaked ".repeat(100), "my-own-secret");
  expect(shownText).not.toMatch(/my-own-secret|sk-abcdefgh/);
  expect(Buffer.byteLength(shownText)).toBeLessThanOrEqual(2_048);
});

it("reports that nothing was sent if the provider can't be reached", async () => {
  const target = provider("sandbox-video", (settings) => ({ ...settings, baseUrl: "http://127.0.0.1:1" }));
  const lonely = createEgressClient({ allow: ["127.0.0.1:1"] });
  const alone = createProvider(
    JSON.stringify({
      ...(JSON.parse(readFileSync(join(REGISTRY, "sandbox-video.json"), "utf8")) as { provider: object }).provider,
      baseUrl: "http://127.0.0.1:1",
    }),
    { egress: lonely, secret: () => undefined },
  ) as JobProvider;
  await expect(alone.submit(call({ prompt: "x" }))).rejects.toMatchObject({ kind: "unreachable" });
  // The guard rejects forbidden addresses before a request is sent.
  await expect((target as JobProvider).submit(call({ prompt: "x" }))).rejects.toMatchObject({
    kind: "unreachable",
    message: expect.stringContaining("not a public address") as string,
  });
  await lonely.close();
});
