import { clientOf, eventually, type Account, type Answer, type CallOptions } from "../../../test-support/client";
import { clip, edge, greeting, node } from "../../../test-support/graphs";
import { startPlatform, type Platform } from "../../../test-support/platform";

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let pro: Account;
let slug: string;

beforeAll(async () => {
  platform = await startPlatform();
  client = clientOf(platform);
  pro = await client.account({ tier: "pro" });
  slug = await save(greeting());
});
afterAll(() => platform.stop());

const call = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
  client.call(method, path, { key: pro.key, ...options });
const save = async (graph: unknown, key = pro.key): Promise<string> =>
  ((await call("POST", "/api/workflows", { body: graph, key })).body as unknown as { slug: string }).slug;
const run = (body: unknown, options: CallOptions = {}): Promise<Answer> => call("POST", `/api/workflows/${slug}/run`, { body, ...options });

describe("a request that can't be read", () => {
  it.each<[string, () => Promise<Answer>, number, string]>([
    ["malformed JSON", () => run(undefined, { raw: '{"inputs":' }), 400, "INVALID_REQUEST"],
    [
      "another content type",
      () => run(undefined, { raw: "inputs=1", headers: { "content-type": "text/plain" } }),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "too large a body",
      () => run(undefined, { raw: JSON.stringify({ inputs: { prompt: "x".repeat(11 * 1024 * 1024) } }) }),
      413,
      "PAYLOAD_TOO_LARGE",
    ],
    ["an unknown route", () => call("GET", "/api/nothing"), 404, "ROUTE_NOT_FOUND"],
    ["a method that isn't there", () => call("DELETE", "/api/whoami"), 405, "METHOD_NOT_ALLOWED"],
    ["no inputs", () => run({}), 400, "INVALID_INPUTS"],
    ["null inputs", () => run({ inputs: null }), 400, "INVALID_INPUTS"],
    ["a list as inputs", () => run({ inputs: [] }), 400, "INVALID_INPUTS"],
    ["text as inputs", () => run({ inputs: "x" }), 400, "INVALID_INPUTS"],
    ["an input of the wrong type", () => run({ inputs: { prompt: 7 } }), 400, "INVALID_INPUTS"],
    ["an input that isn't declared", () => run({ inputs: { promt: "x" } }), 400, "INVALID_INPUTS"],
  ])("%s gets its error code", async (_, ask, status, code) => {
    const answer = await ask();
    expect(answer).toMatchObject({ status, body: { error: expect.any(String) as string, code } });
    expect(answer.headers.get("x-request-id")).toBeTruthy();
  });
});

describe("a bad key", () => {
  it.each<[string, () => string | undefined]>([
    ["missing", () => undefined],
    ["garbage", () => "hello"],
    ["with a bad checksum", () => pro.key!.slice(0, -1) + (pro.key!.endsWith("0") ? "1" : "0")],
    ["unknown", () => "nl_test_" + "0".repeat(36)],
  ])("that is %s gets the same 401", async (_, key) => {
    expect(await client.call("GET", "/api/whoami", { key: key() })).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } });
  });

  it("that was revoked is rejected soon", async () => {
    const account = await client.account({ tier: "pro" });
    const { keys } = {
      keys: (await client.call("GET", "/api/keys", { cookie: account.cookie })).body as unknown as
        { id: string }[] | { keys: { id: string }[] },
    };
    const [first] = Array.isArray(keys) ? keys : keys.keys;
    expect((await client.call("GET", "/api/whoami", { key: account.key })).status).toBe(200);
    expect((await client.call("DELETE", `/api/keys/${first!.id}`, { cookie: account.cookie })).status).toBe(204);
    const reply = await eventually(
      () => client.call("GET", "/api/whoami", { key: account.key }),
      ({ status }) => status !== 200,
    );
    expect(reply.status).toBe(401);
  });

  it("of an account that is now Free is rejected", async () => {
    const account = await client.account({ tier: "pro" });
    await client.asAdmin("PATCH", `/api/admin/users/${account.userId}`, { tier: "free" });
    const reply = await eventually(
      () => client.call("GET", "/api/whoami", { key: account.key }),
      ({ status }) => status !== 200,
    );
    expect(reply).toMatchObject({
      status: 403,
      body: { code: "API_KEY_ACCESS_DENIED" },
    });
  });
});

describe("a run that isn't possible", () => {
  const broken = async (nodes: unknown[], edges: unknown[]): Promise<Answer> =>
    call("POST", `/api/workflows/${await save({ name: "Broken", nodes, edges })}/run`, { body: { inputs: {} } });

  it("gets every problem of its graph at once", async () => {
    const answer = await broken(
      [
        node("a", "text-box", { text: "{{x}}" }),
        node("b", "text-box", { text: "{{x}}" }),
        node("c", "teleport"),
        node("d", "generate-image", { model: "nope" }),
      ],
      [edge("a.text", "b.x"), edge("b.text", "a.x")],
    );
    expect(answer).toMatchObject({ status: 422, body: { code: "WORKFLOW_INVALID" } });
    const { issues } = answer.body as unknown as { issues: { nodeId: string }[] };
    expect(issues.map((issue) => issue.nodeId).sort()).toEqual(["a", "b", "c", "d"]);
  });

  it("needs an approved account, a workflow that exists, a high enough tier and credits", async () => {
    const unapproved = await client.account({ tier: "pro", approved: false });
    const { cookie } = unapproved;
    const saved = await client.call("POST", "/api/workflows", { cookie, body: greeting() });
    expect(saved.status).toBe(201);
    const own = String((saved.body as unknown as { slug: string }).slug);
    expect(await client.call("POST", `/api/workflows/${own}/run`, { cookie, body: { inputs: {} } })).toMatchObject({
      status: 403,
      body: { code: "ACCOUNT_NOT_APPROVED" },
    });

    const foreign = await call("POST", `/api/workflows/${own}/run`, { body: { inputs: {} } });
    expect(foreign.status).toBe(404);
    expect(Object.keys(foreign.body)).toEqual(["error"]);

    const expensive = await save({
      name: "Pro video",
      nodes: [node("v", "generate-video", { model: "sandbox-video-pro", inputs: { prompt: "x" } })],
      edges: [],
    });
    expect(await call("POST", `/api/workflows/${expensive}/run`, { body: { inputs: {} } })).toMatchObject({
      status: 403,
      body: { code: "MODEL_TIER_REQUIRED" },
    });

    const poor = await client.account({ tier: "pro" });
    await client.asAdmin("POST", `/api/admin/users/${poor.userId}/credits`, { kind: "adjust", amount: -1_999, note: "test" });
    const long = clip({ latencyMs: 1 });
    const costly = await save(long, poor.key);
    expect(await call("POST", `/api/workflows/${costly}/run`, { key: poor.key, body: { inputs: {} } })).toMatchObject({
      status: 402,
      body: { code: "INSUFFICIENT_CREDITS" },
    });
  });

  it("of a model gets an error about the name, the model or the inputs", async () => {
    const business = await client.account({ tier: "business" });
    const model = (name: string, inputs: unknown): Promise<Answer> =>
      call("POST", `/api/models/${name}/run`, { key: business.key, body: { inputs } });
    expect(await model("Not_A_Slug", {})).toMatchObject({ status: 400, body: { code: "INVALID_SLUG" } });
    expect(await model("no-such-model", {})).toMatchObject({ status: 404, body: { code: "MODEL_NOT_FOUND" } });
    expect(await model("sandbox-image", {})).toMatchObject({ status: 400, body: { code: "INVALID_INPUTS" } });
    expect(await model("sandbox-image", { prompt: "x", count: 5 })).toMatchObject({ status: 400, body: { code: "INVALID_INPUTS" } });
    expect(await call("POST", "/api/models/sandbox-image/run", { body: { inputs: {} } })).toMatchObject({
      status: 403,
      body: { code: "CAPABILITY_DENIED", required: "model:sandbox-image:run" },
    });
  });

  it("leaves no execution, no usage row and no charge", async () => {
    const usage = await call("GET", "/api/usage");
    expect(usage.body).toMatchObject({ rows: [], total: 0 });
    expect((await call("GET", "/api/executions")).body).toMatchObject({ rows: [] });
    expect((await client.call("GET", "/api/me", { cookie: pro.cookie })).body.credits).toMatchObject({ plan: 2_000, held: 0 });
  });
});

it("without a mail server, every route that sends mail reports this, and the sign-in page offers none", async () => {
  const { cookie, email } = await client.account({ tier: "pro" });
  const answers = await Promise.all([
    client.call("POST", "/api/auth/password/reset", { body: { email } }),
    client.call("POST", "/api/auth/verify/send", { cookie }),
    client.call("POST", "/api/auth/verify", { cookie, body: { token: "x" } }),
    client.call("GET", "/api/me/mail", { cookie }),
    client.call("PATCH", "/api/me/mail", { cookie, body: { notices: {} } }),
    client.call("POST", "/api/mail/unsubscribe?token=x"),
  ]);
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(answers.map(() => [501, "NOT_CONFIGURED"]));
  expect((await client.call("GET", "/api/auth/methods")).body).toEqual({ password: true, oidc: null });
});
