import { randomUUID } from "node:crypto";
import type { sendUnaryData, ServerUnaryCall } from "@grpc/grpc-js";
import { executions } from "@nodeloom/proto";
import { deferred } from "../../../test-support/deferred";
import { eventually } from "../../../test-support/eventually";
import { startFakeService, type FakeService } from "../../../test-support/fake-service";
import { send } from "../support/http";
import { startPlatform, type Platform, type User } from "../support/platform";

type RunCall = ServerUnaryCall<executions.RunRequest, executions.RunResponse>;
type RunCallback = sendUnaryData<executions.RunResponse>;

/** A fake executions service: its requests and its next response. */
const requests: executions.RunRequest[] = [];
let answer: (request: executions.RunRequest, reply: (execution: Partial<executions.Execution>) => void) => void;

/** True to mark the response as a replay. */
let replayed = false;
let runReply: Partial<executions.RunResponse> = {};

let fake: FakeService;
let platform: Platform;
let pro: User;

beforeAll(async () => {
  fake = await startFakeService(executions.ExecutionsServiceService, {
    run: (call: RunCall, callback: RunCallback) => {
      requests.push(call.request);
      answer(call.request, (execution) =>
        callback(
          null,
          executions.RunResponse.fromPartial({ execution: { executionId: call.request.executionId, ...execution }, replayed, ...runReply }),
        ),
      );
    },
  });
  platform = await startPlatform({ EXECUTIONS_ADDRESS: fake.address });
  pro = await platform.createUser({ tier: "business" });
});
afterAll(async () => {
  await platform.stop();
  fake.stop();
});
beforeEach(() => {
  requests.length = 0;
  replayed = false;
  runReply = {};
  answer = (_request, reply) => reply({ status: "completed", resultJson: '{"text":"hi","n":1.0}', millicredits: 3_250 });
});

const run = (json: unknown, { query = "", headers = {}, user = pro, path = "/api/workflows/my-flow/run" } = {}) =>
  platform.send(`${path}${query}`, { json, headers: { ...(user.key ? platform.byKey(user) : platform.bySession(user)), ...headers } });

describe("a synchronous run", () => {
  it("returns the result as it was stored, its cost in credits and its time", async () => {
    const { status, text, headers } = await run({ inputs: {} });
    expect(status).toBe(200);
    expect(text).toMatch(/^\{"success":true,"result":\{"text":"hi","n":1\.0\},"cost":3\.25,"ms":\d+\}$/);
    expect(headers["x-execution-id"]).toBe(requests[0]!.executionId);
  });

  it.each(["", "?async=true"])("returns warnings about its nodes, requested with %j", async (query) => {
    const odd = executions.NodeState.fromPartial({ id: "get", warnings: ["there is no setting metod: did you mean method?"] });
    answer = (_request, reply) =>
      reply({ status: "completed", resultJson: "{}", nodes: [odd, executions.NodeState.fromPartial({ id: "fine" })] });
    const { body } = await run({ inputs: {} }, { query });
    expect(body.warnings).toEqual([{ nodeId: "get", message: odd.warnings[0] }]);
  });

  it("passes the inputs on unchanged", async () => {
    const body = '{"inputs": {"big":12345678901234567890,"__proto__":{"a":1},"x":1.50 } , "maxCredits":0.5}';
    const headers = { ...platform.byKey(pro), "content-type": "application/json" };
    await platform.send("/api/workflows/my-flow/run", { body, headers });
    expect(requests[0]).toMatchObject({
      inputsJson: '{"big":12345678901234567890,"__proto__":{"a":1},"x":1.50 }',
      maxMillicredits: 500,
      mode: executions.RunMode.RUN_MODE_SYNC,
      waitMs: 120_000,
      target: { target: { $case: "workflowSlug", value: "my-flow" } },
      runner: { userId: pro.id, tier: "business", baseTier: "business", markupPermille: 1_300, concurrency: 50, source: "api-workflow" },
    });
    expect(requests[0]!.runner!.keyId).not.toBe("");
  });

  it.each([
    ["wait=5", 5_000],
    ["wait=0", 0],
    ["no-queue, wait=10", 10_000],
    ["wait=100000", 120_000],
    ["handling=lenient", 120_000],
  ])("waits as Prefer says, at most 120 s: %s", async (prefer, waitMs) => {
    await run({ inputs: {} }, { headers: { prefer } });
    expect(requests[0]!.waitMs).toBe(waitMs);
  });

  it("that takes longer returns 202, and can be polled", async () => {
    answer = (_request, reply) => reply({ status: "processing", requestId: "req-1" });
    const { status, body } = await run({ inputs: {} });
    const executionId = requests[0]!.executionId;
    expect(status).toBe(202);
    expect(body).toEqual({
      _async: true,
      executionId,
      requestId: "req-1",
      status: "processing",
      webhookDelivery: { configured: false },
      pollUrl: `/api/executions/${executionId}`,
    });
  });

  it.each(["EXECUTION_FAILED", "PROVIDER_RESPONSE_INCOMPLETE"])("that fails with %s returns the reason", async (code) => {
    answer = (_request, reply) =>
      reply({ status: "failed", error: executions.ExecutionError.fromPartial({ code, message: "it broke", nodeId: "n1" }) });
    const { status, body } = await run({ inputs: {} });
    expect(status).toBe(500);
    expect(body).toEqual({ error: "it broke", code, doc: expect.any(String), executionId: requests[0]!.executionId, nodeId: "n1" });
  });

  it("that is cancelled meanwhile reports this", async () => {
    answer = (_request, reply) => reply({ status: "cancelled" });
    const { status, body } = await run({ inputs: {} });
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: "EXECUTION_CANCELLED", error: "the run was cancelled" });
  });

  it("by session has the source canvas, and of a model by key the source api-slim", async () => {
    await platform.send("/api/workflows/my-flow/run", { json: { inputs: {} }, headers: platform.bySession(pro) });
    await run({ inputs: {} }, { path: "/api/models/sandbox-image/run" });
    expect(requests.map(({ runner }) => runner!.source)).toEqual(["canvas", "api-slim"]);
    expect(requests[0]!.runner!.keyId).toBe("");
  });
});

describe("an asynchronous run", () => {
  it("returns 202 with the provider's request id", async () => {
    answer = (_request, reply) => reply({ status: "processing", requestId: "prov-7" });
    const { status, body } = await run({ inputs: {} }, { query: "?async=true" });
    expect(status).toBe(202);
    expect(body).toMatchObject({ _async: true, requestId: "prov-7", status: "processing" });
    expect(requests[0]).toMatchObject({ mode: executions.RunMode.RUN_MODE_ASYNC, waitMs: 400 });
  });

  it("returns null while the request id is unknown, and also 202 if it has already ended", async () => {
    answer = (_request, reply) => reply({ status: "completed", resultJson: "{}" });
    const { status, body } = await run({ inputs: {} }, { query: "?async=true" });
    expect(status).toBe(202);
    expect(body).toMatchObject({ requestId: null, status: "processing" });
  });

  it("whose submission is rejected returns the provider's response", async () => {
    const error = executions.ExecutionError.fromPartial({
      code: "PROVIDER_SUBMIT_FAILED",
      message: "refused",
      providerStatus: 422,
      providerBody: "no",
    });
    answer = (_request, reply) => reply({ status: "failed", error });
    const { status, body } = await run({ inputs: {} }, { query: "?async=true" });
    expect(status).toBe(500);
    expect(body).toMatchObject({ code: "PROVIDER_SUBMIT_FAILED", providerStatus: 422, providerBody: "no" });
  });

  it("by a key with a webhook passes the webhook to executions", async () => {
    const json = { name: "hook", capabilities: ["workflow:run", "webhook:receive"], webhook: { url: "https://example.com/hook" } };
    const created = await platform.send("/api/keys", { json, headers: platform.bySession(pro) });
    const headers = { "x-api-key": String(created.body.key) };
    await platform.send("/api/workflows/my-flow/run?async=true", { json: { inputs: {} }, headers });
    expect(requests[0]!.runner!.webhookUrl).toBe("https://example.com/hook");
  });

  it("shows only that there is a webhook, whatever the state of its delivery", async () => {
    const delivery = { configured: true, url: "https://example.com/hook", attempts: 3, lastError: "the receiver answered 500" };
    answer = (_request, reply) => reply({ status: "completed", webhookDelivery: executions.WebhookDelivery.fromPartial(delivery) });
    const { body } = await run({ inputs: {} }, { query: "?async=true" });
    expect(body.webhookDelivery).toEqual({ configured: true, url: "https://example.com/hook" });
  });

  it.each(["async=yes", "async=1", "async=", "async=true&async=true"])("is not assumed from %s", async (query) => {
    const { status, body } = await run({ inputs: {} }, { query: `?${query}` });
    expect([status, body.code]).toEqual([400, "INVALID_REQUEST"]);
    expect(requests).toHaveLength(0);
  });
});

describe("a run request", () => {
  it.each([
    ["nothing", undefined],
    ["no inputs", {}],
    ["null", { inputs: null }],
    ["an array", { inputs: [] }],
    ["text", { inputs: "x" }],
    ["a list", []],
  ])("with %s as inputs is INVALID_INPUTS, and calls no service", async (_what, json) => {
    const headers = platform.byKey(pro);
    const answered = await platform.send("/api/workflows/my-flow/run", {
      method: "POST",
      headers,
      ...(json === undefined ? {} : { json }),
    });
    expect([answered.status, answered.body.code]).toEqual([400, "INVALID_INPUTS"]);
    expect(answered.headers["x-execution-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(requests).toHaveLength(0);
  });

  it.each([{ maxCredits: -1 }, { maxCredits: "1" }, { maxcredits: 1 }])("with %j is INVALID_REQUEST", async (extra) => {
    expect((await run({ inputs: {}, ...extra })).body.code).toBe("INVALID_REQUEST");
  });

  it("with an impossible slug is not found, and with an impossible model INVALID_SLUG", async () => {
    const flow = await run({ inputs: {} }, { path: "/api/workflows/No%20Slug/run" });
    expect(flow.status).toBe(404);
    expect(flow.body).toEqual({ error: "workflow not found" });
    expect((await run({ inputs: {} }, { path: "/api/models/No_Slug/run" })).body.code).toBe("INVALID_SLUG");
    expect(requests).toHaveLength(0);
  });

  it("of an unapproved account is rejected after validation", async () => {
    const user = await platform.createUser({ tier: "pro", approved: false });
    expect((await run({}, { user })).body.code).toBe("INVALID_INPUTS");
    expect((await run({ inputs: {} }, { user })).body.code).toBe("ACCOUNT_NOT_APPROVED");
    expect(requests).toHaveLength(0);
  });
});

describe("executions becoming unavailable", () => {
  it("in the middle of a run doesn't fail it: the request joins the same run afterwards", async () => {
    const { promise: first, resolve: reached } = deferred();
    answer = () => reached();
    const running = run({ inputs: {} });
    await first;
    fake.crash();
    answer = (_request, reply) => reply({ status: "completed", resultJson: "{}", millicredits: 0 });
    await fake.restart();
    expect((await running).status).toBe(200);
    expect(requests).toHaveLength(2);
    expect(requests[1]!.executionId).toBe(requests[0]!.executionId);
  });

  it("before the call gives SERVICE_UNAVAILABLE long before the run's wait ends", async () => {
    fake.crash();
    try {
      // If the client doesn't know that a connection is broken, its request can have arrived.
      const read = (): Promise<{ status: number }> =>
        send(platform.baseUrl, `/api/executions/${randomUUID()}`, { headers: platform.byKey(pro) });
      await eventually(read, ({ status }) => status === 503);
      const startedAt = Date.now();
      const { status, body } = await run({ inputs: {} });
      expect([status, body.code, body.outcome]).toEqual([503, "SERVICE_UNAVAILABLE", undefined]);
      expect(Date.now() - startedAt).toBeLessThan(60_000);
    } finally {
      await fake.restart();
    }
  });
});

describe("a run under an Idempotency-Key", () => {
  it("has an ID derived from the key, and marks a repeated response", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const first = await run({ inputs: {} }, { headers });
    replayed = true;
    const second = await run({ inputs: {} }, { headers });
    expect(requests.map(({ executionId, fingerprint }) => [executionId, fingerprint])).toEqual([
      [requests[0]!.executionId, requests[0]!.fingerprint],
      [requests[0]!.executionId, requests[0]!.fingerprint],
    ]);
    expect(requests[0]!.requestToken).not.toBe(requests[1]!.requestToken);
    expect(second.text).toBe(first.text);
    expect(second.headers["idempotency-replayed"]).toBe("true");
    expect(first.headers["idempotency-replayed"]).toBeUndefined();
    expect(second.headers["x-execution-id"]).toBe(requests[0]!.executionId);
    expect(second.headers["x-request-id"]).not.toBe(first.headers["x-request-id"]);
  });

  it("has the same id however its path is written", async () => {
    const headers = { "idempotency-key": randomUUID() };
    await run({ inputs: {} }, { headers });
    await run({ inputs: {} }, { headers, path: "/api/workflows/%6dy-%66low/run" });
    expect(requests[1]!.executionId).toBe(requests[0]!.executionId);
  });

  it("is distinguished by body, query and user", async () => {
    const headers = { "idempotency-key": randomUUID() };
    await run({ inputs: {} }, { headers });
    await run({ inputs: { a: 1 } }, { headers });
    await run({ inputs: {} }, { headers, query: "?async=true" });
    await run({ inputs: {} }, { headers, user: await platform.createUser() });
    const [first, ...others] = requests;
    expect(new Set(requests.map(({ fingerprint }) => fingerprint)).size).toBe(3);
    expect(others.map(({ executionId }) => executionId === first!.executionId)).toEqual([true, true, false]);
  });

  it("that got 202 for a synchronous run gets it again, even after the run has ended", async () => {
    replayed = true;
    runReply = { answeredAccepted: true };
    const { status, body } = await run({ inputs: {} }, { headers: { "idempotency-key": randomUUID() } });
    expect([status, body.status]).toEqual([202, "processing"]);
  });

  it("repeats a rejected submission only if it was reported before", async () => {
    const error = executions.ExecutionError.fromPartial({ code: "PROVIDER_SUBMIT_FAILED", message: "x", providerStatus: 400 });
    answer = (_request, reply) => reply({ status: "failed", error });
    replayed = true;
    const headers = { "idempotency-key": randomUUID() };
    expect((await run({ inputs: {} }, { query: "?async=true", headers })).status).toBe(202);
    runReply = { answeredFailure: true };
    const again = await run({ inputs: {} }, { query: "?async=true", headers });
    expect([again.status, again.body.code, again.body.providerStatus]).toEqual([500, "PROVIDER_SUBMIT_FAILED", 400]);
  });

  it("for a run in progress returns 409 with Retry-After", async () => {
    let finish: () => void = () => undefined;
    const { promise: hasStarted, resolve: started } = deferred();
    answer = (_request, reply) => {
      finish = () => reply({ status: "completed", resultJson: "{}" });
      started();
    };
    const headers = { "idempotency-key": randomUUID() };
    const running = run({ inputs: {} }, { headers });
    await hasStarted;
    const busy = await run({ inputs: {} }, { headers });
    expect([busy.status, busy.body.code, busy.headers["retry-after"]]).toEqual([409, "IDEMPOTENCY_IN_PROGRESS", "1"]);
    finish();
    expect((await running).status).toBe(200);
  });
});

it("rejects an input with half of a surrogate pair as INVALID_INPUTS", async () => {
  const headers = { ...platform.byKey(pro), "content-type": "application/json" };
  const answer = await platform.send("/api/workflows/my-flow/run", { body: '{"inputs":{"t":"\\ud800"}}', headers });
  expect([answer.status, answer.body.code]).toEqual([400, "INVALID_INPUTS"]);
  expect(requests).toEqual([]);
});

describe("query parameters", () => {
  it.each([
    ["/api/workflows/my-flow/run", "asinc", ": did you mean async?"],
    ["/api/models/sandbox-image/run", "version", ""],
    ["/api/workflows/my-flow/quote", "async", ""],
    ["/api/models/sandbox-image/quote", "version", ""],
  ])("that %s does not know are rejected by name: %s", async (path, name, meaning) => {
    const reply = await run({ inputs: {} }, { path, query: `?${name}=true` });
    expect([reply.status, reply.body.code]).toEqual([400, "INVALID_REQUEST"]);
    expect(reply.body.issues).toEqual([{ path: name, message: `is not known${meaning}` }]);
    expect(requests).toEqual([]);
  });
});

describe("Prefer", () => {
  it("runs every model asynchronously with respond-async, and reports it; the query's rule takes precedence", async () => {
    answer = (_request, reply) => reply({ status: "processing" });
    const one = await run({ inputs: {} }, { headers: { prefer: "respond-async, no-queue" } });
    expect([one.status, one.headers["preference-applied"], one.body.requestId]).toEqual([202, "respond-async", null]);
    expect(requests[0]).toMatchObject({ mode: executions.RunMode.RUN_MODE_RESPOND_ASYNC, noQueue: true });
    await run({ inputs: {} }, { headers: { prefer: "respond-async" }, query: "?async=true" });
    expect(requests[1]).toMatchObject({ mode: executions.RunMode.RUN_MODE_ASYNC, noQueue: false });
  });
});

describe("metadata", () => {
  it.each([
    ["more than 20", Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`n${index}`, "x"]))],
    ["a long name", { ["n".repeat(41)]: "x" }],
    ["a long value", { n: "x".repeat(501) }],
    ["a zero character in a name", { "a\0b": "x" }],
    ["no text", { n: 1 }],
    ["a list", ["x"]],
  ])("is rejected with %s", async (_, metadata) => {
    const { status, body } = await run({ inputs: {}, metadata });
    expect([status, body.code]).toEqual([400, "INVALID_REQUEST"]);
    expect(requests).toHaveLength(0);
  });

  it("is passed on with the run", async () => {
    const metadata = { "order.id": "7", $: "", ["🧵".repeat(40)]: "🧵".repeat(500) };
    expect((await run({ inputs: {}, metadata })).status).toBe(200);
    expect(requests[0]!.metadata).toEqual(metadata);
  });
});

describe("a stopping gateway", () => {
  it("lets an awaited run continue, and returns the address to poll", async () => {
    const edge = await platform.startGateway();
    const { promise: hasStarted, resolve: started } = deferred();
    answer = ({ waitMs }, reply) => {
      started();
      if (waitMs === 0) reply({ status: "processing" });
    };
    const running = send(edge.baseUrl, "/api/workflows/my-flow/run", { json: { inputs: {} }, headers: platform.byKey(pro) });
    await hasStarted;
    await edge.stop();
    const { status, body } = await running;
    expect(status).toBe(202);
    expect(body.pollUrl).toBe(`/api/executions/${requests[0]!.executionId}`);
  });
});
