import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import { createGrpcClient, serverStream, unary, type ClientOf } from "@nodeloom/platform";
import { billing, executions } from "@nodeloom/proto";
import { routes } from "../../src/endpoints";
import { createAppTokens } from "../../src/apps/tokens";
import type { Route } from "../../src/edge/route";
import { eventually, soon } from "../../../test-support/eventually";
import { startFakeService, type FakeService } from "../../../test-support/fake-service";
import { send, type Answer, type RequestOptions } from "../support/http";
import { startPlatform, type Platform, type User } from "../support/platform";

/** Cost of one run of the app in milli-credits. A fake executions service holds it at the real billing. */
const PRICE = 1_000;
const ORIGIN = "https://shop.example";
const OTHER_ORIGIN = "https://evil.example";
const SECRET = "a session secret for tests";

const runs = new Map<string, executions.Execution>();
let requests: executions.RunRequest[] = [];
let fake: FakeService;
let platform: Platform;
let ledger: ClientOf<billing.BillingServiceServer>;
let owner: User;
let slug: string;
let price = 0;
let ending: Partial<executions.Execution> = {};

const holdFor = (request: executions.RunRequest): Promise<unknown> =>
  ledger.hold(
    billing.HoldRequest.fromPartial({
      userId: request.runner!.userId,
      executionId: request.executionId,
      items: [{ key: "call", model: "a-model", maxMillicredits: price }],
      subject: { keyId: request.runner!.keyId, workflowSlug: slug, metadata: { ...request.metadata, ...request.runner!.keyMetadata } },
    }),
  );

const startedExecution = (request: executions.RunRequest): executions.Execution =>
  executions.Execution.fromPartial({
    executionId: request.executionId,
    userId: request.runner!.userId,
    status: "completed",
    resultJson: '{"text":"made"}',
    workflowSlug: slug,
    source: request.runner!.source,
    keyId: request.runner!.keyId,
    metadata: { ...request.metadata, ...request.runner!.keyMetadata },
    modelIds: ["a-secret-model"],
    version: 3,
    nodes: [{ id: "words", type: "generate-text", status: "completed", outputsJson: '{"text":"a secret prompt"}', label: "Secret" }],
    createdAt: new Date(0),
    ...ending,
  });

beforeAll(async () => {
  fake = await startFakeService(executions.ExecutionsServiceService, {
    run: unary<executions.RunRequest, executions.RunResponse>(async (request) => {
      requests.push(request);
      if (price > 0) await holdFor(request);
      const execution = startedExecution(request);
      runs.set(request.executionId, execution);
      return executions.RunResponse.fromPartial({ execution });
    }),
    getExecution: unary<executions.GetExecutionRequest, executions.GetExecutionResponse>(({ executionId, userId }) => {
      const execution = runs.get(executionId);
      if (execution?.userId !== userId) throw new DomainError("not_found", "EXECUTION_NOT_FOUND", "execution not found");
      return Promise.resolve({ execution });
    }),
    listExecutions: unary<executions.ListExecutionsRequest, executions.ListExecutionsResponse>(({ userId, metadata }) =>
      Promise.resolve({
        executions: [...runs.values()].filter(
          (run) => run.userId === userId && Object.entries(metadata).every(([name, value]) => run.metadata[name] === value),
        ),
        nextCursor: "",
      }),
    ),
    watchExecution: serverStream<executions.WatchExecutionRequest, executions.WatchExecutionResponse>(async function* () {
      const at = new Date(0);
      yield await Promise.resolve({ sequence: 1, type: "admitted", at, dataJson: '{"modelIds":["a-secret-model"]}', publicDataJson: "" });
      yield { sequence: 0, type: "node.delta", at, dataJson: '{"nodeId":"words","text":"a secret prompt"}', publicDataJson: "" };
      const error = (message: string): string => JSON.stringify({ nodeId: "words", error: { code: "EXECUTION_FAILED", message } });
      const texts = { dataJson: error("refused to call a secret host"), publicDataJson: error("its call failed") };
      yield { sequence: 2, type: "node.failed", at, ...texts };
      yield { sequence: 3, type: "settled", at, dataJson: '{"status":"completed"}', publicDataJson: "" };
    }),
  });
  // The table below requests every route twice with an unknown caller.
  platform = await startPlatform({ EXECUTIONS_ADDRESS: fake.address, ANONYMOUS_RATE_LIMIT: "10000" });
  ledger = createGrpcClient<billing.BillingServiceServer>(billing.BillingServiceService, { address: platform.env.BILLING_ADDRESS! });
  owner = await platform.createUser();
  slug = await newApp(owner);
});
afterAll(async () => {
  ledger.close();
  await platform.stop();
  fake.stop();
});
beforeEach(() => {
  requests = [];
  price = 0;
  ending = {};
});

const SETTINGS = { published: true, dailyCredits: 5, perVisitorPerDay: 1_000, origins: [ORIGIN] };
const FIELDS = [
  { name: "topic", type: "text", label: "Topic" },
  { name: "photo", type: "image_upload", label: "Photo" },
  { name: "photos", type: "image_upload", label: "Photos", multiple: true },
];
const NODES = [{ id: "in", type: "request-input", data: { fields: FIELDS } }];

const newApp = async (user: User, settings: object = {}): Promise<string> => {
  const json = { name: `App ${randomUUID().slice(0, 8)}`, nodes: NODES, app: { ...SETTINGS, ...settings } };
  const answer = await platform.send("/api/workflows", { json, headers: platform.bySession(user) });
  expect(answer.status).toBe(201);
  return String(answer.body.slug);
};

const change = (user: User, which: string, json: object): Promise<Answer> =>
  platform.send(`/api/workflows/${which}`, { method: "PUT", json, headers: platform.bySession(user) });

const bearer = (token: string, origin?: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(origin ? { origin } : {}),
});

const visit = async (which = slug, json: object = {}): Promise<string> => {
  const answer = await platform.send(`/api/apps/${which}/token`, { json });
  expect(answer.status).toBe(200);
  return String(answer.body.token);
};

const run = (
  token: string,
  { which = slug, json = { inputs: {} }, headers = {} }: { which?: string; json?: object; headers?: object } = {},
) => platform.send(`/api/workflows/${which}/run`, { json, headers: { ...bearer(token), ...headers } });

const executionOf = (answer: Answer): string => String(answer.headers["x-execution-id"]);
const refusal = ({ status, body }: Answer): unknown[] => [status, body.code];

describe("an app", () => {
  it("can be set only by a session, isn't changed by a key, and isn't part of copies", async () => {
    const byKey = { headers: platform.byKey(owner) };
    const stored = (await platform.send(`/api/workflows/${slug}`, byKey)).body;
    expect(stored.app).toMatchObject({ published: true, payer: "owner", dailyCredits: 5, origins: [ORIGIN], theme: "auto", cover: null });
    expect((await platform.send(`/api/workflows/${slug}`, { ...byKey, method: "PUT", json: stored })).status).toBe(200);
    for (const app of [null, { ...SETTINGS, dailyCredits: 6 }])
      expect(refusal(await platform.send(`/api/workflows/${slug}`, { ...byKey, method: "PUT", json: { app } }))).toEqual([
        403,
        "SESSION_REQUIRED",
      ]);
    const copy = await platform.send(`/api/workflows/${slug}/clone`, { ...byKey, method: "POST" });
    expect([copy.status, copy.body.app]).toEqual([201, undefined]);
  });

  it("reports the error and its path", async () => {
    const issuesOf = async (app: object): Promise<unknown> => (await change(owner, slug, { app: { ...SETTINGS, ...app } })).body.issues;
    for (const origin of ["https://shop.example/page", "https://*"])
      expect(await issuesOf({ origins: [origin] })).toEqual([expect.objectContaining({ path: "app.origins.0" })]);
    expect(await issuesOf({ payer: "runner" })).toEqual([expect.objectContaining({ path: "app.payer" })]);
    expect(await issuesOf({ cover: "https://evil.example/cover.png" })).toEqual([expect.objectContaining({ path: "app.cover" })]);
  });

  it("is shown with its form, in its owner's gallery, and nowhere after it is unpublished", async () => {
    const mine = await platform.createUser();
    const which = await newApp(mine, { title: "Posters" });
    const gallery = async (): Promise<unknown> => (await platform.send(`/api/apps?owner=${mine.id}`)).body;
    expect((await platform.send(`/api/apps/${which}`)).body).toMatchObject({
      title: "Posters",
      ownerId: mine.id,
      fields: [{ name: "topic" }, { name: "photo" }, { name: "photos", multiple: true, maxItems: 50 }],
    });
    expect(await gallery()).toEqual([{ slug: which, title: "Posters", description: "", cover: null, payer: "owner" }]);
    await change(mine, which, { app: { ...SETTINGS, published: false } });
    expect(await gallery()).toEqual([]);
    await untilRefused(() => platform.send(`/api/apps/${which}`), [404, "NOT_FOUND"]);
  });

  it("is hidden and its tokens end after its publisher signs out everywhere, until a session publishes it again", async () => {
    const mine = await platform.createUser();
    const which = await newApp(mine);
    const by = async (): Promise<unknown> =>
      ((await platform.send(`/api/workflows/${which}`, { headers: platform.byKey(mine) })).body.app as { publishedBy: string }).publishedBy;
    expect(await by()).toBe(mine.id);
    const token = await visit(which);
    const [origin, other] = ["https://mine.example", await newApp(owner, { origins: ["https://both.example"] })];
    await change(mine, which, { app: { ...SETTINGS, origins: [origin, "https://both.example"] } });
    // Routes without an app in their path.
    const preflight = async (from: string): Promise<number> => {
      const headers = { origin: from, "access-control-request-method": "GET", "access-control-request-headers": "authorization" };
      return (await platform.send(`/api/executions/${randomUUID()}`, { method: "OPTIONS", headers })).status;
    };
    expect([await preflight(origin), await preflight("https://both.example")]).toEqual([204, 204]);
    const everywhere = { json: { everywhere: true }, headers: platform.bySession(mine) };
    expect((await platform.send("/api/auth/logout", everywhere)).status).toBe(204);
    await untilRefused(() => platform.send(`/api/apps/${which}`), [404, "NOT_FOUND"]);
    expect([await preflight(origin), await preflight("https://both.example")]).toEqual([405, 204]);
    await change(owner, other, { app: { ...SETTINGS, published: false } });
    expect(refusal(await run(token, { which }))).toEqual([404, "NOT_FOUND"]);
    const asItIs = (await platform.send(`/api/workflows/${which}`, { headers: platform.byKey(mine) })).body;
    await platform.send(`/api/workflows/${which}`, { method: "PUT", json: asItIs, headers: platform.byKey(mine) });
    expect((await platform.send(`/api/apps?owner=${mine.id}`)).body).toEqual([]);
    await change(await platform.signIn(mine), which, { app: asItIs.app as object });
    await soon(
      () => platform.send(`/api/apps/${which}`),
      ({ status }) => status === 200,
      GONE_MS,
    );
  });

  it("can't be published by an account that awaits approval", async () => {
    const waiting = await platform.createUser({ approved: false, tier: "free" });
    const json = { name: "Too early", app: SETTINGS };
    expect(refusal(await platform.send("/api/workflows", { json, headers: platform.bySession(waiting) }))).toEqual([
      403,
      "ACCOUNT_NOT_APPROVED",
    ]);
  });
});

/** Time within which every service must know that the app was switched off. */
const GONE_MS = 1_000;
const untilRefused = (ask: () => Promise<Answer>, expected: unknown[]): Promise<Answer> =>
  soon(ask, (answer) => JSON.stringify(refusal(answer)) === JSON.stringify(expected), GONE_MS);

describe("a visitor's token", () => {
  it("runs the app in its owner's name, and reads the visitor's own executions without the owner's graph", async () => {
    const token = await visit();
    const answer = await run(token, { json: { inputs: { topic: "boats" } } });
    expect(answer).toMatchObject({ status: 200, body: { success: true, result: { text: "made" } } });
    const [{ runner, target }] = requests as [executions.RunRequest];
    expect(target).toMatchObject({ version: "approved" });
    expect(runner).toMatchObject({ userId: owner.id, source: "api-workflow", keyId: "", webhookUrl: "" });
    expect(runner!.keyMetadata).toMatchObject({ "nodeloom.app": slug });

    const id = executionOf(answer);
    const reply = await platform.send(`/api/executions/${id}`, { headers: bearer(token) });
    expect(reply.body).toMatchObject({ executionId: id, result: { text: "made" }, nodes: [{ id: "words", status: "completed" }] });
    const events = await platform.send(`/api/executions/${id}/events`, { headers: bearer(token) });
    expect(events.text).toContain("event: settled");
    const list = await platform.send("/api/executions", { headers: bearer(token) });
    expect((list.body.rows as { executionId: string }[]).map(({ executionId }) => executionId)).toEqual([id]);
    expect([reply, events, list].map(({ text }) => text).join()).not.toMatch(/secret/i);
  });

  it("sees which node failed, and no text of its graph: in the response, the execution and events", async () => {
    const error = executions.ExecutionError.fromPartial({
      ...{ code: "EXECUTION_FAILED", message: "refused to call a secret host", publicMessage: "node words: its call failed" },
      ...{ nodeId: "words", providerBody: "a secret body" },
    });
    ending = {
      status: "failed",
      resultJson: "",
      error,
      nodes: [executions.NodeState.fromPartial({ id: "words", status: "failed", error })],
    };
    const token = await visit();
    const answer = await run(token);
    expect(answer.body).toMatchObject({ code: "EXECUTION_FAILED", error: "node words: its call failed" });
    const path = `/api/executions/${executionOf(answer)}`;
    const [reply, events] = await Promise.all(["", "/events"].map((part) => platform.send(path + part, { headers: bearer(token) })));
    expect(reply!.body).toMatchObject({ error: { message: "node words: its call failed" }, nodes: [{ id: "words" }] });
    expect(events!.text).toContain("its call failed");
    expect([answer, reply, events].map((each) => each!.text).join()).not.toMatch(/secret/i);
    const own = await platform.send(`/api/workflows/${slug}/run`, { json: { inputs: {} }, headers: platform.byKey(owner) });
    expect(own.body).toMatchObject({ error: "refused to call a secret host" });
  });

  it("reads no execution of another visitor or of the owner", async () => {
    const [mine, others] = [executionOf(await run(await visit())), await visit()];
    const own = await platform.send(`/api/workflows/${slug}/run`, { json: { inputs: {} }, headers: platform.byKey(owner) });
    for (const id of [mine, executionOf(own)])
      for (const path of [`/api/executions/${id}`, `/api/executions/${id}/events`])
        expect(refusal(await platform.send(path, { headers: bearer(others) }))).toEqual([404, "EXECUTION_NOT_FOUND"]);
    expect((await platform.send("/api/executions", { headers: bearer(others) })).body.rows).toEqual([]);
    const filtered = await platform.send("/api/executions?metadata.customer=a", { headers: bearer(others) });
    expect(refusal(filtered)).toEqual([400, "INVALID_REQUEST"]);
  });

  it("stays the same visitor's when the page or the owner's server renews it", async () => {
    const first = await visit();
    const id = executionOf(await run(first));
    const renewed = await visit(slug, { token: first });
    expect((await platform.send(`/api/executions/${id}`, { headers: bearer(renewed) })).status).toBe(200);
    const requestNamedToken = (): Promise<Answer> =>
      platform.send(`/api/workflows/${slug}/app-token`, { json: { visitor: "customer-17" }, headers: platform.byKey(owner) });
    const of = executionOf(await run(String((await requestNamedToken()).body.token)));
    expect((await platform.send(`/api/executions/${of}`, { headers: bearer(String((await requestNamedToken()).body.token)) })).status).toBe(
      200,
    );
    expect(refusal(await platform.send(`/api/apps/${slug}/token`, { json: { token: `${first}x` } }))).toEqual([400, "INVALID_REQUEST"]);
  });

  it("does nothing else: no other route accepts it, and those that do accept it only for its app", async () => {
    const token = await visit();
    const id = randomUUID();
    const asks = (path: string): string => path.replace(":slug", slug).replaceAll(/:\w+/g, id);
    const table: Record<string, string[]> = { visitors: [], refused: [], open: [] };
    for (const route of routes) {
      const options: RequestOptions = { method: route.method, ...(route.body ? { json: {} } : {}) };
      const [plain, withToken] = [
        await send(platform.baseUrl, asks(route.path), options),
        await send(platform.baseUrl, asks(route.path), { ...options, headers: bearer(token) }),
      ];
      const kind = kindOf(route);
      table[kind]!.push(`${route.method} ${route.path}`);
      if (kind === "visitors") expect([route.path, withToken.status]).not.toEqual([route.path, 401]);
      // The response is the same as without a caller.
      else
        expect([route.method, route.path, withToken.status, codeOf(withToken)]).toEqual([
          route.method,
          route.path,
          plain.status,
          codeOf(plain),
        ]);
      if (kind === "refused") expect([401, 404]).toContain(withToken.status);
    }
    expect(table.visitors).toEqual([
      "POST /api/workflows/:slug/run",
      "GET /api/executions",
      "GET /api/executions/:id",
      "GET /api/executions/:id/events",
    ]);
    // The token isn't valid as a key.
    expect(refusal(await platform.send("/api/whoami", { headers: { "x-api-key": token } }))).toEqual([401, "UNAUTHENTICATED"]);
    const another = await newApp(owner);
    expect(refusal(await run(token, { which: another }))).toEqual([403, "CAPABILITY_DENIED"]);
    expect(requests).toEqual([]);
  });

  it("can't set values reserved for the owner", async () => {
    const token = await visit();
    const issuesOf = async (parts: { json?: object; query?: string }): Promise<unknown> => {
      const json = { inputs: {}, ...parts.json };
      return (await platform.send(`/api/workflows/${slug}/run${parts.query ?? ""}`, { json, headers: bearer(token) })).body.issues;
    };
    for (const json of [{ until: "words" }, { metadata: { customer: "a" } }, { provenance: "full" }])
      expect(await issuesOf({ json })).toEqual([expect.objectContaining({ path: Object.keys(json)[0] })]);
    expect(await issuesOf({ query: "?version=draft" })).toEqual([expect.objectContaining({ path: "version" })]);
    for (const photo of ["https://example.com/a.png", randomUUID(), { id: "x" }])
      expect(await issuesOf({ json: { inputs: { photo } } })).toEqual([expect.objectContaining({ path: "inputs.photo" })]);
    expect(requests).toEqual([]);
    expect(await issuesOf({ json: { inputs: { photos: ["data:image/png;base64,AAAA", randomUUID()] } } })).toEqual([
      expect.objectContaining({ path: "inputs.photos" }),
    ]);
    expect((await run(token, { json: { inputs: { photo: "data:image/png;base64,AAAA" } } })).status).toBe(200);
    expect((await run(token, { json: { inputs: { photo: null, photos: ["data:image/png;base64,AAAA"] } } })).status).toBe(200);
  });

  it("is rejected if it is forged, expired, for another app or without its key", async () => {
    const claims = { slug, ownerId: owner.id, keyId: "", visitor: "v" };
    const [payload, signature] = (await visit()).slice("nla_".length).split(".") as [string, string];
    const forgedPayload = Buffer.from(JSON.stringify([slug, owner.id, "", "other", Date.now() + 1_000_000])).toString("base64url");
    const over = createAppTokens(SECRET, () => Date.now() - 11 * 60_000).issue(claims).token;
    const foreign = createAppTokens("another secret").issue(claims).token;
    for (const token of [
      `nla_${forgedPayload}.${signature}`,
      `nla_${payload}.`,
      `nla_${payload}`,
      over,
      foreign,
      "nla_",
      `nla_${payload}.${signature}.`,
    ])
      expect([token, ...refusal(await run(token))]).toEqual([token, 401, "UNAUTHENTICATED"]);
    // For an account that doesn't own the app.
    const stranger = await platform.createUser();
    const stolen = createAppTokens(SECRET).issue({ ...claims, ownerId: stranger.id }).token;
    expect(refusal(await run(stolen))).toEqual([404, "NOT_FOUND"]);

    const json = { name: "for the shop", capabilities: [`workflow:${slug}:run`] };
    const key = (await platform.send("/api/keys", { json, headers: platform.bySession(owner) })).body;
    const headers = { "x-api-key": String(key.key) };
    const { token } = (await platform.send(`/api/workflows/${slug}/app-token`, { json: {}, headers })).body as unknown as { token: string };
    expect((await run(token)).status).toBe(200);
    expect(requests.at(-1)!.runner!.keyId).toBe(key.id);
    await platform.send(`/api/keys/${String(key.id)}`, { method: "DELETE", headers: platform.bySession(owner) });
    await untilRefused(() => run(token), [401, "UNAUTHENTICATED"]);
  });

  it("ends when the app is switched off, and when its owner is suspended", async () => {
    const user = await platform.createUser();
    const which = await newApp(user);
    const token = await visit(which);
    await change(user, which, { app: { ...SETTINGS, published: false } });
    await untilRefused(() => run(token, { which }), [404, "NOT_FOUND"]);
    await change(user, which, { app: SETTINGS });
    expect((await run(token, { which })).status).toBe(200);
    const json = { suspended: true };
    const preflightHeaders = { origin: ORIGIN, "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
    const preflight = async () =>
      (await platform.send(`/api/workflows/${which}/run`, { method: "OPTIONS", headers: preflightHeaders })).status;
    expect(await preflight()).toBe(204);
    await platform.send(`/api/admin/users/${user.id}`, { method: "PATCH", json, headers: platform.bySession(platform.admin) });
    await untilRefused(() => run(token, { which }), [404, "NOT_FOUND"]);
    // Without a response to the preflight, the browser sends no request.
    expect(await preflight()).toBe(405);
  });

  it("keeps visitors' idempotency keys separate, and counts a repeated request once", async () => {
    const which = await newApp(owner, { perVisitorPerDay: 2 });
    const [mine, others] = [await visit(which), await visit(which)];
    const headers = { "idempotency-key": "one" };
    const first = await run(mine, { which, headers });
    expect(executionOf(await run(mine, { which, headers }))).toBe(executionOf(first));
    expect(executionOf(await run(others, { which, headers }))).not.toBe(executionOf(first));
    expect((await run(mine, { which })).status).toBe(200);
    expect(refusal(await run(mine, { which }))).toEqual([429, "RATE_LIMIT_EXCEEDED"]);
    expect((await platform.send(`/api/apps/${which}/token`, { json: { token: mine } })).body.today).toMatchObject({ runsLeft: 0 });
  });
});

const kindOf = ({ app, auth }: Route): string => (app === "visitors" ? "visitors" : auth === "none" ? "open" : "refused");
const codeOf = ({ body }: Answer): unknown => {
  const { code, error } = (body ?? {}) as { code?: unknown; error?: { code?: unknown; data?: { code?: unknown } } };
  return code ?? error?.code ?? error?.data?.code;
};

describe("pages of other origins", () => {
  const preflight = (path: string, origin: string, method = "POST", headerNames = "authorization,content-type"): Promise<Answer> =>
    send(platform.baseUrl, path, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": method, "access-control-request-headers": headerNames },
    });

  it("can request what visitors can do, only from the app's origins", async () => {
    const path = `/api/workflows/${slug}/run`;
    const allowed = await preflight(path, ORIGIN);
    expect(allowed).toMatchObject({
      status: 204,
      headers: { "access-control-allow-origin": ORIGIN, "access-control-allow-methods": "POST" },
    });
    expect((await preflight(`/api/executions/${randomUUID()}`, ORIGIN, "GET")).status).toBe(204);
    for (const reply of [
      await preflight(path, OTHER_ORIGIN),
      await preflight(path, "null"),
      await preflight(path, `${ORIGIN}.evil.example`),
      await preflight(path, ORIGIN, "DELETE"),
      await preflight(path, ORIGIN, "POST", "x-api-key"),
      await preflight("/api/workflows", ORIGIN, "GET"),
      await preflight(`/api/executions/${randomUUID()}/cancel`, ORIGIN),
      await preflight(`/api/executions/${randomUUID()}`, OTHER_ORIGIN, "GET"),
    ])
      expect([reply.status, reply.headers["access-control-allow-origin"]]).toEqual([405, undefined]);
  });

  it("can read responses to tokens, including errors, and never with cookies; other origins are rejected", async () => {
    const token = await visit();
    const over = createAppTokens(SECRET, () => Date.now() - 11 * 60_000).issue({ slug, ownerId: owner.id, keyId: "", visitor: "v" }).token;
    const answers = [await run(token, { headers: { origin: ORIGIN } }), await run(over, { headers: { origin: ORIGIN } })];
    expect(answers.map(({ status, headers }) => [status, headers["access-control-allow-origin"]])).toEqual([
      [200, ORIGIN],
      [401, ORIGIN],
    ]);
    expect(answers.map(({ headers }) => headers["access-control-allow-credentials"])).toEqual([undefined, undefined]);
    const spoofed = await run(token, { headers: { origin: OTHER_ORIGIN } });
    expect([...refusal(spoofed), spoofed.headers["access-control-allow-origin"]]).toEqual([403, "CROSS_ORIGIN_DENIED", undefined]);
    const byKey = await platform.send(`/api/workflows/${slug}/run`, {
      json: { inputs: {} },
      headers: { ...platform.byKey(owner), origin: ORIGIN },
    });
    expect([byKey.status, byKey.headers["access-control-allow-origin"]]).toEqual([200, undefined]);
  });
});

describe("an app's daily budget", () => {
  it("isn't exceeded by parallel runs of any number of visitors, and is restored after it is removed", async () => {
    const user = await platform.createUser({ tier: "business" });
    const which = await newApp(user, { dailyCredits: 5 });
    const tokens = await Promise.all(Array.from({ length: 4 }, () => visit(which)));
    price = PRICE;
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => run(tokens[index % tokens.length]!, { which })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    const refusals = answers.filter(({ status }) => status !== 200);
    expect(new Set(refusals.map((answer) => JSON.stringify(refusal(answer))))).toEqual(new Set(['[402,"BUDGET_EXCEEDED"]']));
    const { today } = (await platform.send(`/api/apps/${which}/token`, { json: {} })).body as unknown as { today: object };
    expect(today).toMatchObject({ creditsLeft: 0, dailyCredits: 5 });

    const budgets = (await platform.send("/api/budgets", { headers: platform.bySession(user) })).body as unknown as { id: string }[];
    expect(budgets).toMatchObject([{ metadata: { name: "nodeloom.app", value: which }, credits: 5, window: "day", used: 5 }]);
    await change(user, which, { app: { ...SETTINGS, dailyCredits: 6 } });
    await eventually(
      () => run(tokens[0]!, { which }),
      ({ status }) => status === 200,
    );
    expect((await run(tokens[0]!, { which })).status).toBe(402);
  });

  it("reveals nothing of the owner's credits to visitors, and no other run can have an app's name", async () => {
    price = 1_000_000_000;
    const user = await platform.createUser();
    const which = await newApp(user, { dailyCredits: 100_000_000 });
    const poor = await run(await visit(which), { which });
    expect(poor.body).toEqual({
      code: "INSUFFICIENT_CREDITS",
      doc: "/docs/reference/errors/INSUFFICIENT_CREDITS",
      error: "the app's owner doesn't have enough credits",
    });
    const metadata = { "nodeloom.app": which };
    const headers = platform.byKey(owner);
    const forged = [
      await platform.send(`/api/workflows/${slug}/run`, { json: { inputs: {}, metadata }, headers }),
      await platform.send(`/api/workflows/${slug}/batches`, { json: { inputs: [{}], metadata }, headers }),
      await platform.send("/api/keys/some-key", { method: "PATCH", json: { metadata }, headers: platform.bySession(owner) }),
    ];
    expect(forged.map(refusal)).toEqual(Array.from({ length: 3 }, () => [400, "INVALID_REQUEST"]));
  });
});
