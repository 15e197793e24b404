import { PNG } from "pngjs";
import { startSandbox, type Answer, type TestSandbox } from "./support/sandbox";
import { decodeWav } from "./support/wav";

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const get = (url: unknown): Promise<Answer> => sandbox.call("GET", new URL(String(url)).pathname);

describe("the queue dialect", () => {
  it("queues, reports and returns a picture at the addresses that it named", async () => {
    const queued = await sandbox.call("POST", "/queue/sandbox-image-fast", { prompt: "a fast cat" });
    expect(queued.body).toMatchObject({ status: "IN_QUEUE", request_id: expect.any(String) });
    expect((await get(queued.at("status_url"))).at("status")).toBe("IN_QUEUE");
    sandbox.advance(30);
    expect((await get(queued.at("status_url"))).at("status")).toBe("IN_PROGRESS");
    expect((await get(queued.at("response_url"))).status).toBe(400);
    sandbox.advance(30);
    expect((await get(queued.at("status_url"))).at("status")).toBe("COMPLETED");
    const result = await get(queued.at("response_url"));
    expect(result.at("images.0.content_type")).toBe("image/png");
    expect(PNG.sync.read(await sandbox.bytes(String(result.at("images.0.url")))).width).toBe(256);
  });

  it("speaks a text, given as prompt or as text", async () => {
    for (const name of ["prompt", "text"]) {
      const queued = await sandbox.call("POST", "/queue/sandbox-speech", { [name]: "Hello there", sandbox: { latencyMs: 0 } });
      const result = await get(queued.at("response_url"));
      expect(decodeWav(await sandbox.bytes(String(result.at("audio.url")))).seconds).toBeGreaterThan(0.5);
    }
  });

  it("cancels a running job and rejects the cancellation of a finished one", async () => {
    const slow = await sandbox.call("POST", "/queue/sandbox-image-fast", { prompt: "slow" });
    const cancelled = await sandbox.call("PUT", new URL(String(slow.at("cancel_url"))).pathname);
    expect(cancelled).toMatchObject({ status: 202, body: { status: "CANCELLATION_REQUESTED" } });
    expect((await get(slow.at("status_url"))).body).toMatchObject({ status: "COMPLETED", error_type: "cancelled" });
    expect((await get(slow.at("response_url"))).status).toBe(422);
    const quick = await sandbox.call("POST", "/queue/sandbox-image-fast", { prompt: "quick", sandbox: { latencyMs: 0 } });
    const late = await sandbox.call("PUT", new URL(String(quick.at("cancel_url"))).pathname);
    expect(late).toMatchObject({ status: 400, body: { status: "ALREADY_COMPLETED" } });
    expect((await get(quick.at("response_url"))).at("images")).toHaveLength(1);
  });

  it("knows only its apps, and keeps their requests apart", async () => {
    expect((await sandbox.call("POST", "/queue/constructor", { prompt: "x" })).status).toBe(404);
    expect((await sandbox.call("POST", "/queue/sandbox-image-fast", {})).at("error.param")).toBe("prompt");
    const queued = await sandbox.call("POST", "/queue/sandbox-image-fast", { prompt: "x" });
    const id = String(queued.at("request_id"));
    expect((await sandbox.call("GET", `/queue/sandbox-speech/requests/${id}`)).status).toBe(404);
    expect((await sandbox.call("GET", `/v1/jobs/${id}`)).status).toBe(404);
    expect((await sandbox.call("POST", "/queue/sandbox-speech", { prompt: "x" }, { authorization: "Bearer a-key-for-tests" })).status).toBe(
      401,
    );
  });
});

describe("the predictions dialect", () => {
  it("takes a prediction from starting to its output", async () => {
    const started = await sandbox.call("POST", "/v1/predictions", { version: "sandbox-video", input: { prompt: "a river", seconds: 1 } });
    expect(started.status).toBe(201);
    expect(started.body).toMatchObject({ status: "starting", output: null, error: null });
    sandbox.advance(250);
    expect((await get(started.at("urls.get"))).at("status")).toBe("processing");
    sandbox.advance(250);
    const job = await get(started.at("urls.get"));
    expect(job.body).toMatchObject({ status: "succeeded", output: expect.stringMatching(/\/files\/video-1-8-[0-9a-f]{32}\.mp4$/) });
  });

  it("also accepts the model in the address", async () => {
    const started = await sandbox.call("POST", "/v1/models/nodeloom/sandbox-music/predictions", { input: { prompt: "a drum" } });
    expect(started.body).toMatchObject({ status: "starting", model: "sandbox-music" });
  });

  it("returns pictures as a list", async () => {
    const input = { prompt: "two hills", count: 2, sandbox: { latencyMs: 0 } };
    const started = await sandbox.call("POST", "/v1/predictions", { model: "sandbox-image", input });
    expect((await get(started.at("urls.get"))).at("output")).toHaveLength(2);
  });

  it("cancels", async () => {
    const started = await sandbox.call("POST", "/v1/predictions", { model: "sandbox-image", input: { prompt: "x" } });
    const cancelled = await sandbox.call("POST", new URL(String(started.at("urls.cancel"))).pathname);
    expect(cancelled).toMatchObject({ status: 200 });
    expect((await get(started.at("urls.get"))).at("status")).toBe("canceled");
  });

  it("rejects unknown models", async () => {
    expect((await sandbox.call("POST", "/v1/predictions", { input: { prompt: "x" } })).at("error.param")).toBe("version");
    expect((await sandbox.call("POST", "/v1/predictions", { version: "gpt", input: { prompt: "x" } })).status).toBe(422);
    expect((await sandbox.call("POST", "/v1/predictions", { model: "sandbox-image", input: {} })).at("error.param")).toBe("input.prompt");
    expect((await sandbox.call("GET", "/v1/predictions/none")).status).toBe(404);
  });
});
