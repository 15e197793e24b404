import { randomUUID } from "node:crypto";
import {
  createClient,
  NodeloomError,
  type Client,
  type CompletedRun,
  type Execution,
  type ExecutionEvent,
  type Inputs,
  type NewWorkflow,
  type SubmitResult,
} from "@nodeloom/client";
import { Client as TemporalClient, Connection } from "@temporalio/client";
import { clientOf, eventually, fetchFile, type Account } from "../../../test-support/client";
import { clip, edge, greeting, node, studio } from "../../../test-support/graphs";
import { APART, startPlatform, type Platform } from "../../../test-support/platform";
import { readStores } from "./support/stores";
import { idOf, isSignedBy } from "../../../test-support/receiver";
import { startRecorder, type Recorder, type Respond } from "../../../test-support/recorder";

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account & { webhookSecret?: string };
let api: Client;
let receiver: Recorder;
/** Path that returns its request. */
const ECHO = "/echo";
let refusesFirst = false;

const answerRequest: Respond = (response, request) => {
  const { path: url, headers, body } = request;
  if (url.startsWith(ECHO)) {
    return void response.setHeader("content-type", "application/json").end(JSON.stringify({ url, headers, body }));
  }
  const isFirst = receiver.requests.filter((one) => idOf(one) === idOf(request)).length === 1;
  response.writeHead(refusesFirst && isFirst ? 503 : 204).end();
};

beforeAll(async () => {
  receiver = await startRecorder(answerRequest);
  platform = await startPlatform({ groups: APART, allow: [receiver.address], env: { ACCOUNT_ERASURE_DAYS: "0" } });
  client = clientOf(platform);
  user = await client.account({ tier: "business", webhook: { url: `${receiver.url}/hook` } });
  api = createClient({ baseUrl: platform.baseUrl, apiKey: user.key });
});
afterAll(async () => {
  await platform.stop();
  await receiver.close();
});

const connectTemporal = async (): Promise<{ temporal: TemporalClient; close: () => Promise<void> }> => {
  const connection = await Connection.connect({ address: platform.env.TEMPORAL_ADDRESS! });
  return { temporal: new TemporalClient({ connection }), close: () => connection.close() };
};

type Graph = NewWorkflow & { name: string };
const save = async (graph: unknown): Promise<{ workflow: string }> => ({ workflow: (await api.workflows.create(graph as Graph)).slug });
const run = async (graph: unknown, inputs: Inputs = {}): Promise<CompletedRun> => api.run(await save(graph), inputs);
/** Error of a run, at its start or its end. */
const failed = async (graph: unknown): Promise<NodeloomError> => {
  const error: unknown = await run(graph).catch((reason: unknown) => reason);
  if (!(error instanceof NodeloomError)) throw new Error(`expected a failure, got ${JSON.stringify(error)}`);
  return error;
};
const finished = (executionId: string): Promise<Execution> => api.wait(executionId, { pollIntervalMs: 100 });
/** Usage row of the newest run, which has ended. The row can appear shortly after the response. */
const usageOf = async (executionId: string | undefined): Promise<unknown> => {
  const { rows } = await eventually(
    () => api.usage.list({ limit: 1 }),
    ({ rows: [row] }) => row?.executionId === executionId && row?.status !== "processing",
  );
  return rows[0];
};
const credits = async (): Promise<{ plan: number; grants: unknown }> =>
  (await client.call("GET", "/api/me", { cookie: user.cookie })).body.credits as { plan: number; grants: unknown };

describe("a synchronous run", () => {
  it("returns text for free without calling a provider", async () => {
    const answer = await run(greeting(), { prompt: "Ada" });
    expect(answer).toEqual({
      success: true,
      result: { text: "Hello Ada" },
      cost: 0,
      ms: expect.any(Number) as number,
      executionId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
    expect(await api.executions.get(answer.executionId)).toMatchObject({ status: "completed", result: { text: "Hello Ada" } });
  });

  it("runs a whole pipeline with fan-out, and returns stored media in edge order", async () => {
    const { result: outputs, cost, executionId } = await run(studio(), { prompt: "a heron" });
    const result = outputs as Record<string, { url: string }[]> & { text: string };
    expect(Object.keys(result).sort()).toEqual(["audios", "images", "text", "videos"]);
    expect(result.images).toHaveLength(2);
    for (const { url } of [...result.images!, ...result.videos!, ...result.audios!]) {
      expect(url.startsWith(`${platform.baseUrl}/media/`)).toBe(true);
      const { status, contentType } = await fetchFile(url);
      expect([status, contentType]).toEqual([200, expect.stringMatching(/^(image|video|audio)\//)]);
    }
    // Two quick pictures, a second of video, speech and some text, at the business markup.
    expect(cost).toBeGreaterThan((0.008 + 0.05 + 0.01) * 130);
    const { nodes } = await api.executions.get(executionId);
    expect(nodes.every((one) => one.status === "completed")).toBe(true);
    expect(nodes.reduce((sum, one) => sum + one.creditsCost, 0)).toBeCloseTo(cost, 6);
  });

  it("uses a trial grant before credits, and reports a cost of 0", async () => {
    const before = await credits();
    const first = await api.run({ model: "sandbox-image" }, { prompt: "x", sandbox: { latencyMs: 1 } });
    expect(first).toMatchObject({ success: true, cost: 0 });
    const after = await credits();
    expect(after.plan).toBe(before.plan);
    expect(after.grants).toEqual([{ model: "sandbox-image", remaining: 2, total: 3 }]);
  });

  it("calls an http-request node through the guard, and extracts from its response", async () => {
    const http = (url: string): unknown => ({
      name: "Fetch",
      nodes: [node("get", "http-request", { method: "GET", url, extract: "/status" }), node("out", "response-output")],
      edges: [edge("get.body", "out.service"), edge("get.status", "out.code")],
    });
    expect(await run(http(`${platform.baseUrl}/healthz`))).toMatchObject({ success: true, result: { code: 200 } });
    const error = await failed(http("http://127.0.0.1:8123/"));
    expect([error.status, error.code, error.message]).toEqual([500, "EXECUTION_FAILED", expect.stringContaining("not a public address")]);
  });

  it("continues as an asynchronous run if it takes longer than the caller waits", async () => {
    const { workflow: slug } = await save(clip({ latencyMs: 1_000 }));
    const request = { params: { slug }, body: { inputs: {} }, headers: { prefer: "wait=0" } };
    const { status, body } = await api.request("runWorkflow", request);
    expect([status, body]).toEqual([202, expect.objectContaining({ _async: true, status: "processing" })]);
    expect(await finished((body as SubmitResult).executionId)).toMatchObject({ status: "completed" });
  });
});

describe("failures", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["a job that fails", { fail: "job" }, { code: "EXECUTION_FAILED" }],
    ["a job without output", { fail: "incomplete" }, { code: "PROVIDER_RESPONSE_INCOMPLETE" }],
    ["a refused submission", { fail: "submit", status: 422 }, { code: "EXECUTION_FAILED", providerStatus: 422 }],
  ])("%s fails the run with the node's name, and costs nothing", async (_, sandbox, expected) => {
    const before = await credits();
    const { code, ...details } = expected;
    const error = await failed(clip({ latencyMs: 10, ...sandbox }));
    expect(error).toMatchObject({ status: 500, code, details: { ...details, nodeId: "clip" } });
    expect(await credits()).toEqual(before);
    expect(await usageOf(error.executionId)).toMatchObject({ status: "failed", creditsCost: 0, errorCode: expected.code });
  });

  it("charges only the nodes that completed before another failed", async () => {
    const graph = clip({ latencyMs: 10, fail: "job" });
    graph.nodes.push(node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "hi", sandbox: { latencyMs: 1 } } }));
    graph.edges.push(edge("pic.image", "clip.image"));
    const before = await credits();
    const { status, executionId } = await failed(graph);
    expect(status).toBe(500);
    expect(before.plan - (await credits()).plan).toBeCloseTo(0.52, 6);
    const { nodes } = await api.executions.get(executionId!);
    expect(Object.fromEntries(nodes.map((one) => [one.id, one.status]))).toMatchObject({
      pic: "completed",
      clip: "failed",
      out: "skipped",
    });
  });

  it("survives occasional polls that return 500", async () => {
    expect(await run(clip({ latencyMs: 10, fail: "flap" }))).toMatchObject({ success: true });
  });
});

describe("an asynchronous run", () => {
  it("returns 202 with the provider's request id, and completes on a poll", async () => {
    const { workflow: slug } = await save(clip());
    const { status, body } = await api.request("runWorkflow", { params: { slug }, query: { async: "true" }, body: { inputs: {} } });
    expect(status).toBe(202);
    const { executionId, requestId, webhookDelivery } = body as SubmitResult;
    expect(body).toMatchObject({
      _async: true,
      status: "processing",
      pollUrl: `/api/executions/${executionId}`,
    });
    expect(webhookDelivery).toMatchObject({ configured: true });
    expect(await finished(executionId)).toMatchObject({
      status: "completed",
      // On a busy machine, the provider may not have been called yet.
      requestId: requestId ?? (expect.any(String) as string),
      result: { videos: [{ url: expect.any(String) as string }] },
    });
  });

  it("reports a rejected submission at once, with the provider's message", async () => {
    const target = await save(clip({ fail: "submit", status: 418 }));
    // The run is accepted if the provider answers after the submission's wait; then it is repeated.
    const submitError = await eventually(
      () =>
        api.submit(target).then(
          () => null,
          (error: unknown) => error,
        ),
      (error) => error !== null,
    );
    expect(submitError).toMatchObject({
      status: 500,
      code: "PROVIDER_SUBMIT_FAILED",
      details: { providerStatus: 418, providerBody: expect.any(String) as string },
    });
  });

  it("is rejected if a model can't be polled, and the client's submit starts it anyway", async () => {
    const { workflow } = await save(studio());
    const request = { params: { slug: workflow }, query: { async: "true" }, body: { inputs: {} } } as const;
    await expect(api.request("runWorkflow", request)).rejects.toMatchObject({ status: 400, code: "ASYNC_NOT_SUPPORTED" });
    const { executionId } = await api.submit({ workflow });
    expect(await finished(executionId)).toMatchObject({ status: "completed" });
  });

  it("delivers a signed webhook, and delivers it again after a rejection, under the same id", async () => {
    refusesFirst = true;
    const { executionId } = await api.submit(await save(clip()));
    const { webhookDelivery } = await eventually(
      () => api.executions.get(executionId),
      (execution) => execution.webhookDelivery.configured && execution.webhookDelivery.deliveredAt !== null,
    );
    expect(webhookDelivery).toMatchObject({ attempts: 2, lastError: null });
    const mine = receiver.requests.filter((one) => idOf(one) === `msg_${executionId}`);
    expect(mine).toHaveLength(2);
    for (const delivery of mine) {
      expect(isSignedBy(user.webhookSecret!, delivery)).toBe(true);
      expect(JSON.parse(delivery.body)).toMatchObject({ type: "execution.completed", data: { executionId, status: "completed" } });
    }
  });
});

describe("cancellation", () => {
  it("stops a running job at its provider, keeps the whole price, and reports its effect", async () => {
    const target = await save(clip({ latencyMs: 600_000 }));
    const before = await credits();
    const { executionId } = await api.submit(target);
    await eventually(
      () => api.executions.get(executionId),
      ({ requestId }) => requestId !== null,
    );
    expect(await api.cancel(executionId)).toBe("cancel_requested");
    expect(await finished(executionId)).toMatchObject({
      status: "cancelled",
      nodes: expect.arrayContaining([
        expect.objectContaining({ id: "clip", status: "cancelled", cancelReport: "provider_told" }),
      ]) as unknown,
    });
    expect(before.plan - (await credits()).plan).toBeCloseTo(6.5, 6);
    expect(await api.cancel(executionId)).toBe("already_cancelled");
    expect(await usageOf(executionId)).toMatchObject({ status: "cancelled", creditsCost: 6.5 });
  });

  it("changes nothing about an ended run, and can't find another user's run", async () => {
    const { executionId } = await run(greeting());
    expect(await api.cancel(executionId)).toBe("already_completed");
    const other = createClient({ baseUrl: platform.baseUrl, apiKey: (await client.account({ tier: "pro" })).key });
    for (const id of [executionId, "00000000-0000-4000-8000-000000000000"]) {
      await expect(other.cancel(id)).rejects.toMatchObject({ status: 404, code: "EXECUTION_NOT_FOUND" });
    }
  });
});

it("streams an execution's events, and replays them after a given one", async () => {
  const { executionId } = await run(clip());
  const events = async (after?: number): Promise<ExecutionEvent[]> => {
    const allEvents: ExecutionEvent[] = [];
    for await (const event of api.events(executionId, { after })) allEvents.push(event);
    return allEvents;
  };
  const all = await events();
  const types = all.map(({ type }) => type);
  expect(types[0]).toBe("admitted");
  expect(types).toEqual(expect.arrayContaining(["submitted", "node.completed"]));
  expect(types.at(-1)).toBe("settled");
  expect(await events(2)).toEqual(all.slice(2));
  expect(await events(all.length)).toEqual([]);
});

it("sends a secret to its host, and stores it nowhere: not in MongoDB, Temporal's histories, Redis or any answer", async () => {
  const value = 'sk/secret+"of" an=account';
  const control = "a text that is no secret";
  const reply = await client.call("PUT", "/api/secrets/ECHOED", { cookie: user.cookie, body: { value, hosts: [receiver.address] } });
  expect(reply.status).toBe(200);
  const data = {
    ...{ method: "POST", url: `http://${receiver.address}${ECHO}?key={{secrets.ECHOED}}`, body: { deep: ["<{{secrets.ECHOED}}>"] } },
    headers: { Authorization: "Bearer {{secrets.ECHOED}}", "x-control": control },
  };
  const graph = {
    name: "Echo",
    nodes: [node("send", "http-request", data), node("out", "response-output")],
    edges: [edge("send.body", "out.echo")],
  };
  const [direct, submitted] = [await run(graph), await api.submit(await save(graph))];
  const endedRun = await finished(submitted.executionId);
  expect(direct.result.echo).toMatchObject({
    url: `${ECHO}?key=[secrets.ECHOED]`,
    headers: { authorization: "Bearer [secrets.ECHOED]", "x-control": control },
    body: JSON.stringify({ deep: ["<[secrets.ECHOED]>"] }),
  });
  const answers = [JSON.stringify([direct, endedRun, await usageOf(submitted.executionId)])].map((text) => Buffer.from(text));
  const stored = { ...(await readStores(platform, [direct.executionId!, submitted.executionId])), answers };
  const forms = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), Buffer.from(value).toString("base64").slice(0, -4)];
  for (const [place, all] of Object.entries(stored)) {
    const foundForms = forms.filter((form) => all.some((bytes) => bytes.includes(form)));
    expect({ place, found: foundForms, isEmpty: all.length === 0 }).toEqual({ place, found: [], isEmpty: false });
  }
  // An unprotected control value must be found in every store.
  for (const place of ["MongoDB", "Temporal", "answers"] as const)
    expect({ place, seen: stored[place].some((bytes) => bytes.includes(control)) }).toEqual({ place, seen: true });
});

it("erases an account: MongoDB and Redis keep none of its texts, files and names, and Temporal's histories are deleted", async () => {
  const leaver = await client.account({ tier: "business", webhook: { url: `${receiver.url}/hook` } });
  const [word, other] = [`word-${randomUUID()}`, `slug-${randomUUID()}`];
  const own = createClient({ baseUrl: platform.baseUrl, apiKey: leaver.key! });
  const { slug } = await own.workflows.create({ ...(studio() as Graph), name: other, description: word });
  await client.call("POST", `/api/workflows/${slug}/versions`, {
    key: leaver.key,
    body: { note: word },
    headers: { "idempotency-key": word },
  });
  const long = `${word} ${"and more ".repeat(4_000)}`;
  const { executionId } = await own.run({ workflow: slug }, { prompt: long });
  const { temporal, close } = await connectTemporal();
  const listed = async (): Promise<number> => (await temporal.workflow.count(`NodeloomUser = '${leaver.userId}'`)).count;
  const placesOf = (stored: Awaited<ReturnType<typeof readStores>>, text: string): string[] =>
    Object.entries(stored).flatMap(([place, all]) => (all.some((bytes) => bytes.includes(text)) ? [place] : []));
  expect(placesOf(await readStores(platform, [executionId!]), word)).toEqual(["MongoDB", "Temporal", "Redis"]);
  await eventually(listed, (count) => count > 0);

  const erasureRequest = { cookie: leaver.cookie, body: { password: leaver.password } };
  expect((await client.call("DELETE", "/api/me", erasureRequest)).status).toBe(202);
  const erasing = await temporal.workflow.start("eraseAccount", {
    ...{ workflowId: `erase-${leaver.userId}`, taskQueue: platform.env.TEMPORAL_TASK_QUEUE!, args: [leaver.userId] },
    workflowIdConflictPolicy: "USE_EXISTING",
  });
  type Counts = Record<string, Record<string, number>>;
  const { erased, late } = (await erasing.result()) as Record<"erased" | "late", Counts>;
  expect(erased.executions!.workflows).toBeGreaterThan(0);
  expect(
    Object.values(late)
      .flatMap((counts) => Object.values(counts))
      .every((count) => count === 0),
  ).toBe(true);

  const stored = await readStores(platform, []);
  expect([placesOf(stored, word), placesOf(stored, leaver.email), placesOf(stored, executionId!)]).toEqual([[], [], ["MongoDB"]]);
  expect((await client.call("GET", "/api/me", { cookie: leaver.cookie })).status).toBe(401);
  expect(((await client.call("POST", "/api/workflows", { key: user.key, body: { name: other } })).body as { slug?: string }).slug).toBe(
    `${slug}-2`,
  );
  await close();
});

it("keeps the ledger equal to every account's balance", async () => {
  expect((await client.asAdmin("GET", "/api/admin/ledger/check")).body).toMatchObject({ ok: true, mismatches: [] });
});
