import { clientOf, eventually, type Account, type Answer } from "./support/client";
import { clip, edge, greeting, node, studio } from "./support/graphs";
import { startPlatform, type Platform } from "./support/platform";
import { signatureOf, startReceiver, type Receiver } from "./support/receiver";

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account & { webhookSecret?: string };
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  platform = await startPlatform({ allow: [receiver.address] });
  client = clientOf(platform);
  user = await client.account({ tier: "business", webhook: { url: receiver.url } });
}, 60_000);
afterAll(async () => {
  await platform.stop();
  receiver.close();
});

const post = (path: string, body: unknown, key = user.key): Promise<Answer> => client.call("POST", path, { key, body });
const get = (path: string): Promise<Answer> => client.call("GET", path, { key: user.key });
const save = async (graph: unknown): Promise<string> => {
  const saved = await post("/api/workflows", graph);
  expect(saved.status).toBe(201);
  return (saved.body as unknown as { slug: string }).slug;
};
const run = async (graph: unknown, inputs: Record<string, unknown> = {}): Promise<Answer> =>
  post(`/api/workflows/${await save(graph)}/run`, { inputs });
const poll = (id: string): Promise<Answer> => get(`/api/executions/${id}`);
const finished = (id: string): Promise<Answer> =>
  eventually(
    () => poll(id),
    ({ body }) => ["completed", "failed", "cancelled"].includes(body.status as string),
  );
const credits = async (): Promise<{ plan: number; grants: unknown }> =>
  (await client.call("GET", "/api/me", { cookie: user.cookie })).body.credits as { plan: number; grants: unknown };

describe("a synchronous run", () => {
  it("answers text without calling any provider, for nothing", async () => {
    const { status, body, headers } = await run(greeting(), { prompt: "Ada" });
    expect({ status, body }).toEqual({
      status: 200,
      body: { success: true, result: { text: "Hello Ada" }, cost: 0, ms: expect.any(Number) as number },
    });
    expect(headers.get("x-execution-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect((await poll(headers.get("x-execution-id")!)).body).toMatchObject({ status: "completed", result: { text: "Hello Ada" } });
  });

  it("runs a whole pipeline with fan-out, and returns our own media in edge order", async () => {
    const { status, body, headers } = await run(studio(), { prompt: "a heron" });
    expect(status).toBe(200);
    const { result, cost } = body as unknown as { result: Record<string, { url: string }[]> & { text: string }; cost: number };
    expect(Object.keys(result).sort()).toEqual(["audios", "images", "text", "videos"]);
    expect(result.images).toHaveLength(2);
    for (const { url } of [...result.images!, ...result.videos!, ...result.audios!]) {
      expect(url.startsWith(`${platform.baseUrl}/media/`)).toBe(true);
      const file = await fetch(url);
      expect([file.status, file.headers.get("content-type")]).toEqual([200, expect.stringMatching(/^(image|video|audio)\//)]);
    }
    // Two fast pictures, a second of video, a speech and some words, at the business markup.
    expect(cost).toBeGreaterThan((0.008 + 0.05 + 0.01) * 130);
    const { nodes } = (await poll(headers.get("x-execution-id")!)).body as unknown as {
      nodes: { id: string; status: string; creditsCost: number }[];
    };
    expect(nodes.every((one) => one.status === "completed")).toBe(true);
    expect(nodes.reduce((sum, one) => sum + one.creditsCost, 0)).toBeCloseTo(cost, 6);
  });

  it("spends a trial grant before credits and says so with a cost of 0", async () => {
    const before = await credits();
    const first = await post("/api/models/sandbox-image/run", { inputs: { prompt: "x", sandbox: { latencyMs: 1 } } });
    expect(first.body).toMatchObject({ success: true, cost: 0 });
    const after = await credits();
    expect(after.plan).toBe(before.plan);
    expect(after.grants).toEqual([{ model: "sandbox-image", remaining: 2, total: 3 }]);
  });

  it("calls an http-request node through the guard, and extracts from its answer", async () => {
    const http = (url: string): unknown => ({
      name: "Fetch",
      nodes: [node("get", "http-request", { method: "GET", url, extract: "/status" }), node("out", "response-output")],
      edges: [edge("get.body", "out.service"), edge("get.status", "out.code")],
    });
    const allowed = await run(http(`${platform.baseUrl}/healthz`));
    expect(allowed.body).toMatchObject({ success: true, result: { code: 200 } });
    const refused = await run(http("http://127.0.0.1:8123/"));
    expect(refused).toMatchObject({
      status: 500,
      body: { code: "EXECUTION_FAILED", error: expect.stringContaining("not a public address") as string },
    });
  });

  it("goes on as an asynchronous run when it takes longer than the caller waits", async () => {
    const slug = await save(clip({ latencyMs: 1_500 }));
    const answer = await client.call("POST", `/api/workflows/${slug}/run`, {
      key: user.key,
      body: { inputs: {} },
      headers: { prefer: "wait=1" },
    });
    expect(answer).toMatchObject({ status: 202, body: { _async: true, status: "processing" } });
    expect((await finished(answer.body.executionId as string)).body).toMatchObject({ status: "completed" });
  });
});

describe("failures", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["a job that fails", { fail: "job" }, { code: "EXECUTION_FAILED" }],
    ["a job without output", { fail: "incomplete" }, { code: "PROVIDER_RESPONSE_INCOMPLETE" }],
    ["a refused submission", { fail: "submit", status: 422 }, { code: "EXECUTION_FAILED", providerStatus: 422 }],
  ])("%s fails the run with the node's name, and costs nothing", async (_, sandbox, expected) => {
    const before = await credits();
    const answer = await run(clip({ latencyMs: 10, ...sandbox }));
    expect(answer).toMatchObject({ status: 500, body: { ...expected, nodeId: "clip" } });
    expect(await credits()).toEqual(before);
    const { rows } = (await get("/api/usage?limit=1")).body as unknown as {
      rows: { status: string; creditsCost: number; errorCode: string }[];
    };
    expect(rows[0]).toMatchObject({ status: "failed", creditsCost: 0, errorCode: expected.code });
  });

  it("charges only the nodes that completed before another failed", async () => {
    const graph = clip({ latencyMs: 600, fail: "job" });
    graph.nodes.push(node("speech", "generate-audio", { model: "sandbox-speech", inputs: { prompt: "hi", sandbox: { latencyMs: 1 } } }));
    const before = await credits();
    const answer = await run(graph);
    expect(answer.status).toBe(500);
    expect(before.plan - (await credits()).plan).toBeCloseTo(1.3, 6);
    const { nodes } = (await poll(answer.headers.get("x-execution-id")!)).body as unknown as { nodes: { id: string; status: string }[] };
    expect(Object.fromEntries(nodes.map((one) => [one.id, one.status]))).toMatchObject({
      speech: "completed",
      clip: "failed",
      out: "skipped",
    });
  });

  it("survives polls that answer 500 now and then", async () => {
    expect((await run(clip({ latencyMs: 10, fail: "flap" }))).status).toBe(200);
  });
});

describe("an asynchronous run", () => {
  it("answers 202 with the provider's request id, and completes on poll", async () => {
    const slug = await save(clip());
    const answer = await post(`/api/workflows/${slug}/run?async=true`, { inputs: {} });
    expect(answer.status).toBe(202);
    const id = answer.body.executionId as string;
    expect(answer.body).toMatchObject({
      _async: true,
      status: "processing",
      requestId: expect.any(String) as string,
      pollUrl: `/api/executions/${id}`,
    });
    expect(answer.body.webhookDelivery).toMatchObject({ configured: true });
    const done = await finished(id);
    expect(done.body).toMatchObject({
      status: "completed",
      requestId: answer.body.requestId,
      result: { videos: [{ url: expect.any(String) as string }] },
    });
  });

  it("answers a refused submission at once, with what the provider said", async () => {
    const slug = await save(clip({ fail: "submit", status: 418 }));
    const answer = await post(`/api/workflows/${slug}/run?async=true`, { inputs: {} });
    expect(answer).toMatchObject({
      status: 500,
      body: { code: "PROVIDER_SUBMIT_FAILED", providerStatus: 418, providerBody: expect.any(String) as string },
    });
  });

  it("is refused when a model can't poll", async () => {
    const slug = await save(studio());
    expect(await post(`/api/workflows/${slug}/run?async=true`, { inputs: {} })).toMatchObject({
      status: 400,
      body: { code: "ASYNC_NOT_SUPPORTED" },
    });
  });

  it("delivers a signed webhook, and again after a refusal, under the same id", async () => {
    receiver.refuseFirst();
    const slug = await save(clip());
    const id = (await post(`/api/workflows/${slug}/run?async=true`, { inputs: {} })).body.executionId as string;
    await eventually(
      () => poll(id),
      ({ body }) => (body.webhookDelivery as unknown as { deliveredAt: string | null }).deliveredAt !== null,
    );
    const mine = receiver.deliveries.filter((one) => one.id === `msg_${id}`);
    expect(mine).toHaveLength(2);
    for (const delivery of mine) {
      expect(delivery.signature).toBe(signatureOf(delivery, user.webhookSecret!));
      expect(JSON.parse(delivery.body)).toMatchObject({ type: "execution.completed", data: { executionId: id, status: "completed" } });
    }
    expect((await poll(id)).body.webhookDelivery).toMatchObject({ attempts: 2, lastError: null });
  });
});

describe("cancellation", () => {
  it("stops a running job at its provider, keeps the whole price, and answers what it did", async () => {
    const slug = await save(clip({ latencyMs: 60_000 }));
    const before = await credits();
    const id = (await post(`/api/workflows/${slug}/run?async=true`, { inputs: {} })).body.executionId as string;
    expect((await post(`/api/executions/${id}/cancel`, undefined)).body).toEqual({ status: "cancel_requested" });
    const { body } = await finished(id);
    expect(body).toMatchObject({
      status: "cancelled",
      nodes: expect.arrayContaining([
        expect.objectContaining({ id: "clip", status: "cancelled", cancelReport: "provider_told" }),
      ]) as unknown,
    });
    expect(before.plan - (await credits()).plan).toBeCloseTo(6.5, 6);
    expect((await post(`/api/executions/${id}/cancel`, undefined)).body).toEqual({ status: "already_cancelled" });
    const { rows } = (await get("/api/usage?limit=1")).body as unknown as { rows: object[] };
    expect(rows[0]).toMatchObject({ status: "cancelled", creditsCost: 6.5 });
  });

  it("changes nothing about a run that is over, and knows no one else's", async () => {
    const { headers } = await run(greeting());
    const id = headers.get("x-execution-id")!;
    expect((await post(`/api/executions/${id}/cancel`, undefined)).body).toEqual({ status: "already_completed" });
    const other = await client.account({ tier: "pro" });
    for (const path of [`/api/executions/${id}/cancel`, "/api/executions/00000000-0000-4000-8000-000000000000/cancel"]) {
      expect(await post(path, undefined, other.key)).toMatchObject({ status: 404, body: { code: "EXECUTION_NOT_FOUND" } });
    }
  });
});

it("streams an execution's events, and replays them after a given one", async () => {
  const { headers } = await run(clip());
  const path = `/api/executions/${headers.get("x-execution-id")!}/events`;
  const all = (await client.call("GET", path, { key: user.key })).text;
  const types = [...all.matchAll(/^event: (.+)$/gm)].map((match) => match[1]);
  expect(types[0]).toBe("admitted");
  expect(types).toEqual(expect.arrayContaining(["submitted", "node.completed"]));
  expect(types.at(-1)).toBe("settled");
  const rest = (await client.call("GET", path, { key: user.key, headers: { "last-event-id": "2" } })).text;
  expect([...rest.matchAll(/^id: (\d+)$/gm)][0]![1]).toBe("3");
});

it("keeps the ledger equal to what every account holds", async () => {
  expect((await client.asAdmin("GET", "/api/admin/ledger/check")).body).toMatchObject({ ok: true, mismatches: [] });
});
