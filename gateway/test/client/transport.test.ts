import { createClient, NodeloomError, type Client } from "@nodeloom/client";
import { startScripted, type Script, type ScriptedService } from "./server";

const USER = { id: "u", email: "a@example.com", role: "user", tier: "pro", approved: true };
const OK: Script = { status: 200, json: { user: USER } };
const CREATED: Script = { status: 201, json: { slug: "x" } };
const LIMITED: Script = {
  status: 429,
  headers: { "retry-after": "1" },
  json: { error: "slow down", code: "RATE_LIMIT_EXCEEDED", retryAfter: 1 },
};
const AWAY: Script = { status: 503, headers: { "retry-after": "0" }, json: { error: "away", code: "SERVICE_UNAVAILABLE" } };

let service: ScriptedService;
afterEach(() => service.stop());
const clientOf = async (...script: Script[]): Promise<Client> => {
  service = await startScripted(...script);
  return createClient({ baseUrl: `${service.baseUrl}/`, apiKey: "nl_test", maxRetries: 2 });
};
const refusal = async (call: Promise<unknown>): Promise<NodeloomError> => {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof NodeloomError)) throw new Error(`expected a NodeloomError, got ${String(error)}`);
  return error;
};

describe("a run without a place", () => {
  const FULL: Script = {
    status: 429,
    headers: { "retry-after": "0" },
    json: { error: "full", code: "CONCURRENCY_LIMIT_EXCEEDED", limit: 1, retryAfter: 0 },
  };
  const DONE: Script = { status: 200, json: { success: true, result: {}, cost: 0, ms: 1 } };

  it("waits for one longer than for other retries, under one Idempotency-Key", async () => {
    const client = await clientOf(FULL, FULL, FULL, FULL, FULL, DONE);
    await expect(client.run({ workflow: "x" }, {}, { maxCredits: null })).resolves.toMatchObject({ success: true });
    expect(service.received).toHaveLength(6);
    expect(new Set(service.received.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(service.received[0]!.body).toBe('{"inputs":{}}');
  });

  it("gets the error at once if it doesn't want to wait, or if it is aborted", async () => {
    const client = await clientOf(FULL, { ...FULL, headers: { "retry-after": "5" } });
    const error = await refusal(client.run({ workflow: "x" }, {}, { headers: { prefer: "no-queue" } }));
    expect([error.code, service.received.length]).toEqual(["CONCURRENCY_LIMIT_EXCEEDED", 1]);
    const controller = new AbortController();
    const waiting = client.run({ workflow: "x" }, {}, { signal: controller.signal });
    setImmediate(() => controller.abort(new Error("enough")));
    await expect(waiting).rejects.toThrow("enough");
  });
});

it.each([301, 302, 307, 308])("sends the key to no other address in a %i response", async (status) => {
  const elsewhere = await startScripted(OK);
  try {
    const client = await clientOf({ status, headers: { location: elsewhere.baseUrl } });
    expect((await refusal(client.whoami())).message).toContain("redirect");
    expect([service.received.length, elsewhere.received.length]).toEqual([1, 0]);
  } finally {
    await elsewhere.stop();
  }
});

describe("a token of an app's visitor", () => {
  const OVER: Script = { status: 401, json: { error: "over", code: "UNAUTHENTICATED" } };
  const withTokens = async (tokens: readonly string[], ...script: Script[]): Promise<Client> => {
    service = await startScripted(...script);
    let next = 0;
    return createClient({ baseUrl: service.baseUrl, token: () => tokens[next++]!, maxRetries: 0 });
  };
  const sentTokens = (): unknown[] => service.received.map(({ headers }) => headers.authorization);

  it("is requested once by parallel requests, and again if the service rejects it", async () => {
    const client = await withTokens(["first", "second"], OK, OK, OVER, OK);
    await Promise.all([client.whoami(), client.whoami()]);
    await client.whoami();
    expect(sentTokens()).toEqual(["Bearer first", "Bearer first", "Bearer first", "Bearer second"]);
    expect(service.received[0]!.headers["x-api-key"]).toBeUndefined();
  });

  it("isn't requested repeatedly if the new token is also rejected", async () => {
    const client = await withTokens(["first", "second", "third"], OVER);
    expect((await refusal(client.whoami())).code).toBe("UNAUTHENTICATED");
    expect(sentTokens()).toEqual(["Bearer first", "Bearer second"]);
  });
});

describe("a request", () => {
  it("sends the key, fills the path and omits undefined members", async () => {
    const client = await clientOf({ status: 200, json: { rows: [] } });
    await client.usage.list({ limit: 5, modelId: "a&b", status: undefined });
    await client.workflows.get("ä/b");
    expect(service.received.map(({ path }) => path)).toEqual(["/api/usage?limit=5&modelId=a%26b", "/api/workflows/%C3%A4%2Fb"]);
    expect(service.received[0]!.headers).toMatchObject({ "x-api-key": "nl_test", accept: "application/json" });
    expect(service.received[0]!.headers["content-type"]).toBeUndefined();
  });

  it("has a unique Idempotency-Key if it is a POST, or the given one", async () => {
    const client = await clientOf(CREATED);
    await client.workflows.create({ name: "x" });
    await client.workflows.create({ name: "x" });
    await client.workflows.create({ name: "x" }, { idempotencyKey: "mine" });
    await client.workflows.list();
    const keys = service.received.map(({ headers }) => headers["idempotency-key"]);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(keys).size).toBe(4);
    expect(keys.slice(2)).toEqual(["mine", undefined]);
    expect(service.received[0]).toMatchObject({ body: '{"name":"x"}', headers: { "content-type": "application/json" } });
  });

  it("sends bytes unchanged", async () => {
    const client = await clientOf({ status: 201, json: { id: "m" } });
    await client.request("uploadMedia", { body: new Uint8Array([104, 105]) });
    expect(service.received[0]).toMatchObject({ body: "hi", headers: { "content-type": "application/octet-stream" } });
  });
});

describe("a refusal", () => {
  it("is an error with its status, code, other members and request id", async () => {
    const json = { error: "the capability workflow:write is required", code: "CAPABILITY_DENIED", required: "workflow:write" };
    const client = await clientOf({ status: 403, headers: { "x-request-id": "r-1" }, json });
    expect(await refusal(client.workflows.create({ name: "x" }))).toMatchObject({
      name: "NodeloomError",
      status: 403,
      code: "CAPABILITY_DENIED",
      message: json.error,
      details: { required: "workflow:write" },
      requestId: "r-1",
    });
    expect(service.received).toHaveLength(1);
  });

  it("has no code if the service gives none, and is handled even if it isn't JSON", async () => {
    const client = await clientOf({ status: 404, json: { error: "workflow not found" } });
    expect(await refusal(client.workflows.get("x"))).toMatchObject({ status: 404, code: undefined, details: {} });
    await service.stop();
    const behindProxy = await clientOf({ status: 502, headers: { "content-type": "text/html" }, text: "<h1>Bad gateway</h1>" });
    expect(await refusal(behindProxy.whoami())).toMatchObject({ status: 502, message: "the service answered 502" });
  });
});

describe("a retry", () => {
  it("is retried after a 429's wait, whatever the method", async () => {
    const client = await clientOf(LIMITED, { status: 204 });
    await client.workflows.delete("x");
    expect(service.received).toHaveLength(2);
    expect(service.received[1]!.at - service.received[0]!.at).toBeGreaterThanOrEqual(990);
  });

  it.each<[string, Script]>([
    ["503", AWAY],
    ["no answer", "drop"],
  ])("is retried after %s under the same Idempotency-Key", async (_what, fault) => {
    const client = await clientOf(fault, CREATED);
    expect(await client.workflows.create({ name: "x" })).toMatchObject({ slug: "x" });
    const [first, second] = service.received.map(({ headers }) => headers["idempotency-key"]);
    expect(first).toBe(second);
  });

  it.each<[string, (client: Client) => Promise<unknown>]>([
    ["a deletion", (client) => client.workflows.delete("x")],
    ["a conditional update", (client) => client.workflows.update("x", {}, { ifMatch: '"1"' })],
  ])("is never retried after an unknown outcome if it isn't repeatable: %s", async (_what, send) => {
    const client = await clientOf("drop", { status: 200, json: {} });
    expect(await refusal(send(client))).toMatchObject({ status: 0, code: "NETWORK_ERROR", cause: expect.anything() as unknown });
    expect(service.received).toHaveLength(1);
  });

  it("is retried at most the given number of times, and returns the last response", async () => {
    const client = await clientOf(AWAY);
    expect(await refusal(client.whoami())).toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
    expect(service.received).toHaveLength(3);
  });

  it("is not retried if the service requires a wait of hours", async () => {
    const client = await clientOf({ status: 429, headers: { "retry-after": "86400" }, json: { error: "no", code: "RATE_LIMIT_EXCEEDED" } });
    expect((await refusal(client.whoami())).status).toBe(429);
    expect(service.received).toHaveLength(1);
  });

  it("is returned to the caller if the wait exceeds `maxPauseMs`", async () => {
    const inAMinute = String(Math.ceil(Date.now() / 1_000) + 60);
    const nearlyEmpty: Script = {
      status: 200,
      headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inAMinute },
      json: { user: USER },
    };
    service = await startScripted(nearlyEmpty, LIMITED);
    const client = createClient({ baseUrl: service.baseUrl, maxPauseMs: 500 });
    await client.whoami();
    expect((await refusal(client.whoami())).code).toBe("RATE_LIMIT_EXCEEDED");
    expect(service.received).toHaveLength(2);
  });

  it("waits for its own first attempt, which is still running, and returns its response", async () => {
    const busy: Script = { status: 409, headers: { "retry-after": "0" }, json: { error: "running", code: "IDEMPOTENCY_IN_PROGRESS" } };
    const completed: Script = { status: 200, headers: { "x-execution-id": "e" }, json: { success: true, result: {}, cost: 1, ms: 2 } };
    const client = await clientOf("drop", busy, busy, busy, busy, completed);
    expect(await client.run({ workflow: "x" })).toEqual({ success: true, result: {}, cost: 1, ms: 2, executionId: "e" });
    expect(service.received).toHaveLength(6);
  });
});

describe("an abort", () => {
  it("ends a wait for Retry-After at once, with its reason", async () => {
    const client = await clientOf({
      status: 429,
      headers: { "retry-after": "60" },
      json: { error: "slow down", code: "RATE_LIMIT_EXCEEDED" },
    });
    const reason = new Error("enough");
    const controller = new AbortController();
    const call = client.whoami({ signal: controller.signal });
    setTimeout(() => controller.abort(reason), 100);
    await expect(call).rejects.toBe(reason);
  });

  it("before the request sends nothing", async () => {
    const client = await clientOf(OK);
    await expect(client.whoami({ signal: AbortSignal.abort(new Error("never")) })).rejects.toThrow("never");
    expect(service.received).toHaveLength(0);
  });
});

describe("a nearly empty bucket", () => {
  const limitedTo = (remaining: number, resetAtSeconds: number): Script => ({
    status: 200,
    headers: {
      "x-ratelimit-limit": "100",
      "x-ratelimit-remaining": String(remaining),
      "x-ratelimit-reset": String(resetAtSeconds),
    },
    json: { user: USER },
  });

  it("isn't used until its window ends", async () => {
    const reset = Math.ceil(Date.now() / 1_000) + 1;
    const client = await clientOf(limitedTo(4, reset), OK);
    await client.whoami();
    await Promise.all([client.whoami(), client.whoami()]);
    const [, second, third] = service.received.map(({ at }) => at);
    // A timer can fire a fraction of a millisecond early.
    for (const at of [second!, third!]) expect(at).toBeGreaterThanOrEqual(reset * 1_000 - 10);
  });

  it("delays no other routes or executions, and no request while enough is left", async () => {
    const inAMinute = Math.ceil(Date.now() / 1_000) + 60;
    const client = await clientOf(limitedTo(0, inAMinute), limitedTo(0, inAMinute), limitedTo(5, inAMinute), OK);
    const startedAt = Date.now();
    await client.executions.get("a");
    await client.executions.get("b");
    await client.whoami();
    await client.whoami();
    expect(Date.now() - startedAt).toBeLessThan(30_000);
  });
});
