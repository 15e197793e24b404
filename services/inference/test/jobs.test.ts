import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder, waitForEnd, removeFolder, startInference, type Answer, type Running } from "./support/inference";

let folder: string;
let running: Running;

beforeEach(async () => {
  folder = createFolder();
  running = await startInference(folder);
});
afterEach(async () => {
  await running.stop();
  removeFolder(folder);
});

const submit = (prompt: string, headers: Record<string, string> = {}, model = "local-speech"): Promise<Answer> =>
  running.call("POST", "/v1/jobs", { model, input: { prompt } }, headers);
const requests = (): string[] => readFileSync(join(running.engines, "requests"), "utf8").trim().split("\n");
const loaded = async (): Promise<Record<string, number>> => (await running.call("GET", "/v1/stats")).json.loaded as Record<string, number>;

describe("a job", () => {
  it("is accepted and polled, and its file is downloaded", async () => {
    const { status, json } = await submit("good morning");
    expect(status).toBe(202);
    const job = await waitForEnd(running.base, json.id);
    expect(job).toMatchObject({ status: "succeeded", progress: 1, model: "local-speech" });
    const [{ url }] = (job.output as { audios: [{ url: string }] }).audios;
    const file = await fetch(url);
    expect(file.headers.get("content-type")).toContain("audio");
    expect(await file.text()).toBe("sound of good morning");
  });

  it("runs once however often it is submitted under one key", async () => {
    const key = { "idempotency-key": "once" };
    const [first, second] = [await submit("again", key), await submit("again", key)];
    expect(second.json.id).toBe(first.json.id);
    await waitForEnd(running.base, first.json.id);
    expect((await submit("again", key)).json.id).toBe(first.json.id);
    expect(requests()).toEqual(["again"]);
  });

  it("reports its progress, and ends at once when it is cancelled", async () => {
    const { json } = await submit("hang");
    let polled = json;
    while (polled.progress !== 0.25) polled = (await running.call("GET", `/v1/jobs/${String(json.id)}`)).json;
    expect(polled.status).toBe("running");
    expect((await running.call("POST", `/v1/jobs/${String(json.id)}/cancel`)).json.status).toBe("cancelled");
    // The model is free for the next job.
    expect(await waitForEnd(running.base, (await submit("next")).json.id)).toMatchObject({ status: "succeeded" });
    expect((await running.call("GET", `/v1/jobs/${String(json.id)}`)).json.status).toBe("cancelled");
  });

  it("is rejected by name if an input is invalid, and without a key", async () => {
    const wrong = await running.call("POST", "/v1/jobs", { model: "local-speech", input: { prompt: "x", speed: 9 } });
    expect([wrong.status, wrong.json.error]).toMatchObject([400, { param: "input.speed" }]);
    const unknown = await running.call("POST", "/v1/jobs", { model: "local-nothing", input: {} });
    expect(unknown.status).toBe(404);
    expect((await running.call("POST", "/v1/jobs", {}, { authorization: "Bearer wrong" })).status).toBe(401);
  });
});

describe("a job of a model that reads a file", () => {
  const read = async (audio: string): Promise<Record<string, unknown>> => {
    const { json } = await running.call("POST", "/v1/jobs", { model: "local-transcribe", input: { audio } });
    return waitForEnd(running.base, json.id);
  };
  const SOUND = `data:audio/wav;base64,${Buffer.from("RIFF").toString("base64")}`;
  const words = [{ text: "hello", start: 0.5, end: 1 }];

  it("returns its text and the words with their times, also after a restart, and no file", async () => {
    const job = await read(SOUND);
    expect(job).toMatchObject({ status: "succeeded", output: { text: "hello", json: { words } } });
    await running.stop();
    running = await startInference(folder);
    const { json } = await running.call("GET", `/v1/jobs/${String(job.id)}`);
    expect(json).toMatchObject({ status: "succeeded", output: { text: "hello", json: { words } } });
    expect((await fetch(`${running.base}/files/${String(job.id)}-0.json`)).status).toBe(404);
  });

  it("accepts the language that its model supports, and rejects another by name", async () => {
    const submitIn = (language: string) =>
      running.call("POST", "/v1/jobs", { model: "local-transcribe", input: { audio: SOUND, language } });
    const { json } = await submitIn("en");
    expect(await waitForEnd(running.base, json.id)).toMatchObject({ status: "succeeded", output: { text: "hello" } });
    const other = await submitIn("fr");
    expect([other.status, other.json.error]).toMatchObject([400, { param: "input.language" }]);
  });

  it("is rejected without one, and fails by name with one on a private address", async () => {
    const without = await running.call("POST", "/v1/jobs", { model: "local-transcribe", input: {} });
    expect([without.status, without.json.error]).toMatchObject([400, { param: "input.audio" }]);
    const message = expect.stringMatching(/^audio: /) as string;
    expect(await read("http://127.0.0.1:1/sound.wav")).toMatchObject({ status: "failed", error: { code: "invalid_input", message } });
  });
});

describe("a model's process", () => {
  it("that crashes is restarted for the job", async () => {
    const job = await waitForEnd(running.base, (await submit("crash-once")).json.id);
    expect(job.status).toBe("succeeded");
    expect(requests()).toEqual(["crash-once", "crash-once"]);
  });

  it("that closes its channel during a job is replaced for the job", async () => {
    const job = await waitForEnd(running.base, (await submit("deaf-once")).json.id);
    expect(job.status).toBe("succeeded");
    expect(requests()).toEqual(["deaf-once", "deaf-once"]);
  });

  it("that no longer responds is replaced before the next job, which starts once", async () => {
    expect(await waitForEnd(running.base, (await submit("leave")).json.id)).toMatchObject({ status: "succeeded" });
    expect(await waitForEnd(running.base, (await submit("after")).json.id)).toMatchObject({ status: "succeeded" });
    expect(requests()).toEqual(["leave", "after"]);
  });

  it("that crashes each time fails the job after five attempts, and no other model", async () => {
    const bad = await submit("crash");
    const good = await submit("fine", {}, "local-music");
    expect(await waitForEnd(running.base, good.json.id)).toMatchObject({ status: "succeeded" });
    expect(await waitForEnd(running.base, bad.json.id)).toMatchObject({ status: "failed", error: { code: "model_ended" } });
    expect(requests().filter((prompt) => prompt === "crash")).toHaveLength(5);
    expect(await waitForEnd(running.base, (await submit("after")).json.id)).toMatchObject({ status: "succeeded" });
  });

  it("that reports an invalid input fails the job with this message, once", async () => {
    const job = await waitForEnd(running.base, (await submit("refuse")).json.id);
    expect(job).toMatchObject({ status: "failed", error: { code: "invalid_input", message: "prompt: it can't be done" } });
    expect(requests()).toEqual(["refuse"]);
  });

  it("stays for the next request, and is unloaded if another model needs its memory", async () => {
    await waitForEnd(running.base, (await submit("one")).json.id);
    const { "local-speech": pid } = await loaded();
    await waitForEnd(running.base, (await submit("two")).json.id);
    expect((await loaded())["local-speech"]).toBe(pid);
    await waitForEnd(running.base, (await submit("three", {}, "local-music")).json.id);
    const chat = { model: "local-chat", messages: [{ role: "user", content: "hello" }] };
    await running.call("POST", "/v1/chat/completions", chat);
    expect(Object.keys(await loaded()).sort()).toEqual(["local-chat", "local-music"]);
  });

  it("is unloaded after a time without requests", async () => {
    await running.stop();
    running = await startInference(folder, { idleMs: 50 });
    await waitForEnd(running.base, (await submit("one")).json.id);
    while (Object.keys(await loaded()).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await waitForEnd(running.base, (await submit("two")).json.id)).toMatchObject({ status: "succeeded" });
  });
});

describe("too many jobs", () => {
  it("are rejected with the time to retry", async () => {
    const waiting = await Promise.all(Array.from({ length: 100 }, () => submit("hang")));
    expect(new Set(waiting.map(({ status }) => status))).toEqual(new Set([202]));
    const response = await submit("one more");
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    // Each model has its own queue.
    expect((await submit("music", {}, "local-music")).status).toBe(202);
  });
});

describe("a model that can't run yet", () => {
  it("returns 503 with the time to retry, and keeps nothing of the request", async () => {
    await running.stop();
    const availability = { status: "downloading", fetchedBytes: 1, totalBytes: 2, leftBytes: 1, retryAfterSeconds: 17 } as const;
    running = await startInference(folder, { availability: () => Promise.resolve(availability) });
    for (const answer of [
      await submit("hello"),
      await running.call("POST", "/v1/chat/completions", { model: "local-chat", messages: [{ role: "user", content: "hi" }] }),
    ]) {
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("17");
    }
    expect((await running.call("GET", "/v1/stats")).json.jobs).toMatchObject({ held: 0 });
  });
});
