import { startHttpServer } from "@nodeloom/platform";
import { createSandbox } from "../src/app";
import { API_KEY, callAt, createFolder, removeFolder, startSandbox, type Answer, type TestSandbox } from "./support/sandbox";

let sandbox: TestSandbox;
beforeEach(async () => {
  sandbox = await startSandbox();
});
afterEach(() => sandbox.stop());

interface Dialect {
  name: string;
  submit(fault: object): Promise<Answer>;
  poll(submitted: Answer): Promise<Answer>;
}
const pathOf = (url: unknown): string => new URL(String(url)).pathname;
const DIALECTS: readonly Dialect[] = [
  {
    name: "jobs",
    submit: (fault) => sandbox.call("POST", "/v1/jobs", { kind: "image", prompt: "x", sandbox: fault }),
    poll: ({ at }) => sandbox.call("GET", `/v1/jobs/${String(at("id"))}`),
  },
  {
    name: "queue",
    submit: (fault) => sandbox.call("POST", "/queue/sandbox-image-fast", { prompt: "x", sandbox: fault }),
    poll: ({ at }) => sandbox.call("GET", pathOf(at("status_url"))),
  },
  {
    name: "predictions",
    submit: (fault) => sandbox.call("POST", "/v1/predictions", { model: "sandbox-image", input: { prompt: "x", sandbox: fault } }),
    poll: ({ at }) => sandbox.call("GET", pathOf(at("urls.get"))),
  },
];
const ENDED = { jobs: "succeeded", queue: "COMPLETED", predictions: "succeeded" } as Record<string, string>;
const RUNNING = { jobs: "running", queue: "IN_PROGRESS", predictions: "processing" } as Record<string, string>;

describe.each(DIALECTS)("in the $name dialect", ({ name, submit, poll }) => {
  it("latencyMs determines when a job ends", async () => {
    const submitted = await submit({ latencyMs: 5_000 });
    sandbox.advance(4_999);
    expect((await poll(submitted)).at("status")).toBe(RUNNING[name]);
    sandbox.advance(1);
    expect((await poll(submitted)).at("status")).toBe(ENDED[name]);
  });

  it("fail: submit rejects with the given status, 500 by default, and creates no job", async () => {
    expect((await submit({ fail: "submit" })).status).toBe(500);
    const response = await submit({ fail: "submit", status: 429 });
    expect(response.status).toBe(429);
    expect(response.body).toEqual({ error: { message: expect.any(String), code: "submission_refused" } });
    expect((await sandbox.call("GET", "/v1/jobs")).body).toMatchObject({ jobs: [], counters: { submissions: 0, refusals: 2 } });
  });

  it("models: only those fail", async () => {
    const own = name === "queue" ? "sandbox-image-fast" : "sandbox-image";
    expect((await submit({ fail: "submit", status: 400, models: ["sandbox-music", own] })).status).toBe(400);
    const submitted = await submit({ fail: "job", latencyMs: 10, models: ["sandbox-music"] });
    sandbox.advance(10);
    expect((await poll(submitted)).at("status")).toBe(ENDED[name]);
  });

  it("fail: hang never ends, but can be cancelled", async () => {
    const submitted = await submit({ fail: "hang" });
    sandbox.advance(3_600_000);
    expect((await poll(submitted)).at("status")).toBe(RUNNING[name]);
  });

  it("fail: flap returns 500 for two of three polls, and succeeds in the end", async () => {
    const submitted = await submit({ fail: "flap", latencyMs: 0 });
    const statuses: number[] = [];
    let last = submitted;
    for (let index = 0; index < 6; index++) {
      last = await poll(submitted);
      statuses.push(last.status);
    }
    expect(statuses).toEqual([500, 500, 200, 500, 500, 200]);
    expect(last.at("status")).toBe(ENDED[name]);
  });
});

describe("a flapping request of the queue dialect", () => {
  it("returns its result at once when its status is known", async () => {
    const queue = DIALECTS[1]!;
    const submitted = await queue.submit({ fail: "flap", latencyMs: 0 });
    while ((await queue.poll(submitted)).status !== 200);
    expect((await sandbox.call("GET", pathOf(submitted.at("response_url")))).status).toBe(200);
  });
});

describe("fail: job", () => {
  it("ends in an error with a reason", async () => {
    const [jobs, queue, predictions] = await Promise.all(DIALECTS.map(({ submit }) => submit({ fail: "job", latencyMs: 0 })));
    expect((await DIALECTS[0]!.poll(jobs!)).body).toMatchObject({ status: "failed", error: { code: "generation_failed" } });
    expect((await DIALECTS[1]!.poll(queue!)).body).toMatchObject({
      status: "COMPLETED",
      error: expect.any(String),
      error_type: "generation_failed",
    });
    expect((await sandbox.call("GET", pathOf(queue!.at("response_url")))).status).toBe(422);
    expect((await DIALECTS[2]!.poll(predictions!)).body).toMatchObject({ status: "failed", error: expect.any(String), output: null });
  });
});

describe("fail: incomplete", () => {
  it("ends successfully, without output", async () => {
    const [jobs, queue, predictions] = await Promise.all(DIALECTS.map(({ submit }) => submit({ fail: "incomplete", latencyMs: 0 })));
    const polled = await DIALECTS[0]!.poll(jobs!);
    expect(polled.at("status")).toBe("succeeded");
    expect(polled.at("output")).toBeUndefined();
    expect(await sandbox.call("GET", pathOf(queue!.at("response_url")))).toMatchObject({ status: 200, body: {} });
    expect((await DIALECTS[2]!.poll(predictions!)).body).toMatchObject({ status: "succeeded", output: null });
  });
});

describe("in the chat dialect", () => {
  const ask = (fault: object): Promise<Answer> =>
    sandbox.call("POST", "/v1/chat/completions", { model: "sandbox-chat", messages: [{ role: "user", content: "hi" }], sandbox: fault });

  it("submit, job and incomplete work as elsewhere, and flap has no polls to fail", async () => {
    expect((await ask({ fail: "submit", status: 503 })).status).toBe(503);
    expect((await ask({ fail: "job" })).at("error.code")).toBe("generation_failed");
    expect((await ask({ fail: "incomplete" })).body).toMatchObject({ choices: [], usage: {} });
    expect((await ask({ fail: "flap", latencyMs: 0 })).status).toBe(200);
  });

  it("latencyMs is the duration of the response", async () => {
    const before = performance.now();
    await ask({ latencyMs: 150 });
    expect(performance.now() - before).toBeGreaterThanOrEqual(145);
  });

  it("hang returns no response while the caller waits", async () => {
    const response = fetch(`${sandbox.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer a-key-for-tests", "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "hi" }], sandbox: { fail: "hang" } }),
      signal: AbortSignal.timeout(300),
    });
    await expect(response).rejects.toThrow(/abort|timeout/i);
  });
});

describe("faults for all requests", () => {
  const poll = (): Promise<Answer> => sandbox.call("GET", "/v1/models");

  it("fail the given share of requests, including files, until they are reset", async () => {
    expect((await sandbox.call("POST", "/sandbox/faults", { errorRate: 0.5 })).body).toEqual({
      pauseMs: 0,
      errorRate: 0.5,
      malformed: false,
      busyMs: 0,
    });
    const statuses = [];
    for (let index = 0; index < 6; index++) statuses.push((await poll()).status);
    expect(statuses).toEqual([200, 500, 200, 500, 200, 500]);
    await sandbox.call("POST", "/sandbox/faults", { errorRate: 1 });
    expect((await sandbox.call("GET", `/files/image-256-${"0".repeat(32)}.png`)).status).toBe(500);
    expect((await sandbox.call("GET", "/healthz")).status).toBe(200);
    await sandbox.call("DELETE", "/sandbox/faults");
    expect((await poll()).status).toBe(200);
  });

  it("delay every request", async () => {
    await sandbox.call("POST", "/sandbox/faults", { pauseMs: 120 });
    const before = performance.now();
    expect((await poll()).status).toBe(200);
    expect(performance.now() - before).toBeGreaterThanOrEqual(115);
  });

  it("return 429 for a while, with Retry-After", async () => {
    await sandbox.call("POST", "/sandbox/faults", { busyMs: 60_000 });
    const answer = await poll();
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "60"]);
    sandbox.advance(59_999);
    expect((await poll()).status).toBe(429);
    sandbox.advance(1);
    expect((await poll()).status).toBe(200);
  });

  it("truncate responses, while the requested work is done", async () => {
    await sandbox.call("POST", "/sandbox/faults", { malformed: true });
    const cut = await sandbox.call("POST", "/v1/jobs", { kind: "image", prompt: "x" }, { "idempotency-key": "cut" });
    expect(cut.status).toBe(202);
    expect(cut.body).toBeUndefined();
    await sandbox.call("DELETE", "/sandbox/faults");
    const again = await sandbox.call("POST", "/v1/jobs", { kind: "image", prompt: "x" }, { "idempotency-key": "cut" });
    expect((await sandbox.call("GET", "/v1/jobs")).body).toMatchObject({
      jobs: [{ id: again.at("id") }],
      counters: { submissions: 1, replays: 1 },
    });
  });

  it("reject invalid settings", async () => {
    expect((await sandbox.call("POST", "/sandbox/faults", { errorRate: 2 })).at("error.param")).toBe("errorRate");
    expect((await sandbox.call("POST", "/sandbox/faults", { rate: 1 })).at("error.param")).toBe("rate");
  });
});

describe("the control routes", () => {
  it.each([
    ["GET", "/sandbox/stats"],
    ["POST", "/sandbox/faults"],
    ["DELETE", "/sandbox/faults"],
  ])("%s %s requires its own key, which differs from the models' key", async (method, path) => {
    for (const key of ["", API_KEY]) {
      const response = await sandbox.call(method, path, method === "POST" ? { errorRate: 1 } : undefined, { "x-sandbox-control-key": key });
      expect([response.status, response.at("error.code")]).toEqual([401, "unauthorized"]);
    }
    expect((await sandbox.call("GET", "/sandbox/stats")).at("faults.errorRate")).toBe(0);
  });

  it("reject every request if no key is set", async () => {
    const folder = createFolder();
    const app = createSandbox({ apiKey: API_KEY, dataDirectory: folder });
    const server = await startHttpServer({ listen: "127.0.0.1:0", app, graceMs: 0 });
    for (const key of ["", "undefined", API_KEY])
      expect(
        (await callAt(`http://127.0.0.1:${server.port}`, "GET", "/sandbox/stats", undefined, { "x-sandbox-control-key": key })).status,
      ).toBe(401);
    await server.stop();
    removeFolder(folder);
  });
});
