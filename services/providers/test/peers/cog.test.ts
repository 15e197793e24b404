import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createEgressClient, type EgressClient } from "@nodeloom/platform";
import { createProvider, type JobProvider, type PollState, type Submission } from "../../src";
import { keepRecording, pollOutcome, recorder, SECRET, type Exchange, type Step } from "../support/recording";
import { freePort } from "../../../../deploy/local/servers/ports.cjs";
import { peerOf, START_MS, startPeer } from "../../../../test-support/peer";
import { startReplicateFront, type ReplicateFront } from "./replicate-front";

/**
 * Tests the Replicate dialect against cog, the server that runs Replicate's models. replicate-front.ts adds the paths that only Replicate
 * has.
 */

let folder: string;
let stopCog: () => Promise<void>;
let front: ReplicateFront;
let egress: EgressClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nodeloom-cog-"));
  const port = await freePort();
  const cog = `http://127.0.0.1:${port}`;
  stopCog = await startPeer({
    command: peerOf("cog"),
    args: ["-m", "cog.server.http", "--host", "127.0.0.1"],
    env: { PORT: String(port), COG_PREDICT_TYPE_STUB: `${join(__dirname, "predict.py")}:Predictor` },
    cwd: folder,
    isReady: async () => ((await (await fetch(`${cog}/health-check`)).json()) as { status: string }).status === "READY",
  });
  front = await startReplicateFront(cog, SECRET);
  egress = createEgressClient({ allow: [new URL(front.url).host] });
}, START_MS);
afterAll(async () => {
  await egress?.close();
  await front?.stop();
  await stopCog?.();
  rmSync(folder, { recursive: true, force: true });
});

const settings = (part: object = {}): Record<string, unknown> => ({
  kind: "inference-platform",
  dialect: "replicate",
  baseUrl: front.url,
  app: "5c7d5dc6dd8bf75c1acaa8565735e7986bc5b66206b55cca93cb72c9bf15ccaa",
  auth: { scheme: "Bearer", secretEnv: "REPLICATE_API_TOKEN" },
  outputs: { images: "/output/*" },
  ...part,
});

/** Submits a job, polls it to the end (or cancels it first), and records the exchanges. */
const run = async (name: string, inputs: Record<string, unknown>, cancel = false): Promise<{ submission: Submission; end: unknown }> => {
  const exchanges: Exchange[] = [];
  const steps: Step[] = [{ do: "submit", inputs }];
  const outcomes: unknown[] = [];
  const provider = createProvider(JSON.stringify(settings()), {
    egress: recorder(egress, exchanges),
    secret: () => SECRET,
  }) as JobProvider;
  const submission = await provider.submit({ inputs, idempotencyKey: "key" });
  outcomes.push(submission);
  if (cancel) {
    await delay(300);
    steps.push({ do: "cancel" });
    outcomes.push({ told: await provider.cancel(submission) });
  }
  let end: PollState = { state: "running" };
  for (const until = Date.now() + 30_000; end.state === "running" && Date.now() < until; await delay(provider.intervalMs)) {
    const before = exchanges.length;
    end = await provider.poll(submission);
    // One poll of a running job is enough for the recording.
    if (end.state === "running" && steps.at(-1)!.do === "poll") exchanges.length = before;
    else {
      steps.push({ do: "poll" });
      outcomes.push(await pollOutcome(end));
    }
  }
  const source = "cog 0.23.1 behind the front of test/peers/replicate-front.ts";
  keepRecording(`replicate/${name}`, front.url, { source, settings: settings(), steps, outcomes, exchanges });
  return { submission, end: outcomes.at(-1) };
};

it("gets every file of a prediction", async () => {
  const { submission, end } = await run("cog-succeeded", { prompt: "a loom", count: 2, seconds: 0.4 });
  expect(submission.requestId).toMatch(/^[0-9a-f]{32}$/);
  expect(end).toEqual({ state: "succeeded", files: Array(2).fill({ bytes: expect.any(Number), sha256: expect.any(String) }) });
});

it("reports a failure with the model's message", async () => {
  const { end } = await run("cog-failed", { prompt: "fail" });
  expect(end).toEqual({ state: "failed", message: expect.stringContaining("the loom broke") as string });
});

it("names an input that the model doesn't support", async () => {
  const { end } = await run("cog-wrong-input", { prompt: "a loom", colour: "red" }).catch((error: Error) => ({
    end: { state: "failed", message: error.message },
  }));
  expect(end).toEqual({ state: "failed", message: expect.stringContaining("colour") as string });
});

it("stops a prediction", async () => {
  expect((await run("cog-cancelled", { prompt: "a loom", seconds: 20 }, true)).end).toEqual({ state: "cancelled" });
});

it("rejects with cog's own status while it has no slot", async () => {
  const provider = createProvider(JSON.stringify(settings()), { egress, secret: () => SECRET }) as JobProvider;
  const long = await provider.submit({ inputs: { prompt: "a loom", seconds: 20 }, idempotencyKey: "key" });
  await expect(provider.submit({ inputs: { prompt: "a loom" }, idempotencyKey: "other" })).rejects.toMatchObject({
    kind: "refused",
    status: 409,
    message: expect.stringContaining("At capacity") as string,
  });
  expect(await provider.cancel(long)).toBe(true);
});

it("reports that the key is invalid, without the key", async () => {
  const provider = createProvider(JSON.stringify(settings()), { egress, secret: () => "another-secret" }) as JobProvider;
  const submission = provider.submit({ inputs: { prompt: "a loom" }, idempotencyKey: "key" });
  await expect(submission).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining("does not accept the platform's key") as string,
  });
  await submission.catch((error: Error) => expect(JSON.stringify(error)).not.toContain("another-secret"));
});

it("recognises a missing prediction", async () => {
  const provider = createProvider(JSON.stringify(settings()), { egress, secret: () => SECRET }) as JobProvider;
  await expect(provider.poll({ requestId: "never" })).rejects.toMatchObject({ status: 404 });
});
