import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { z } from "zod";
import type { Route } from "../../src/edge/route";
import { routes } from "../../src/endpoints";
import { gatewayVariables } from "../../src/variables";
import { startPlatform, type Platform, type User } from "../support/platform";
import { send, type Answer, type RequestOptions } from "../support/http";

/** Checks that no body is read, decompressed or parsed before the caller is known and within limits. */

let platform: Platform;
let user: User;
let unapproved: User;
beforeAll(async () => {
  platform = await startPlatform({ ANONYMOUS_RATE_LIMIT: "1000", BODY_TIMEOUT_MS: "1000" });
  user = await platform.createUser({ tier: "business" });
  unapproved = await platform.createUser({ tier: "pro", approved: false });
});
afterAll(() => platform.stop());

const JSON_TYPE = { "content-type": "application/json" };
const MEBIBYTE = 1024 * 1024;

/**
 * Sends a request's head and part of its body.
 * @returns the response once the connection is closed
 */
const converse = (path: string, headers: Record<string, string>, body: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(platform.baseUrl);
    const socket = connect(Number(port), hostname);
    const lines = Object.entries({ host: "nodeloom", ...headers }).map(([name, value]) => `${name}: ${value}`);
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
    let answer = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => (answer += chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });

describe("before the caller is known", () => {
  const bomb = gzipSync(Buffer.alloc(10 * MEBIBYTE, "["));
  it.each<[string, string, RequestOptions, number, string]>([
    [
      "a packed body",
      "/api/workflows",
      { body: bomb, headers: { ...JSON_TYPE, "content-encoding": "gzip" } },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "a packed body of a sign-in",
      "/api/auth/login",
      { body: bomb, headers: { ...JSON_TYPE, "content-encoding": "br" } },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    ["a packed upload", "/api/media", { body: bomb, headers: { "content-encoding": "deflate" } }, 415, "UNSUPPORTED_MEDIA_TYPE"],
    [
      "a body of the wrong type",
      "/api/workflows",
      { body: "a=1", headers: { "content-type": "text/plain" } },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "a body that is declared too large",
      "/api/workflows",
      { body: Buffer.alloc(11 * MEBIBYTE, " "), headers: JSON_TYPE },
      413,
      "PAYLOAD_TOO_LARGE",
    ],
    [
      "a sign-in that is too large",
      "/api/auth/login",
      { body: Buffer.alloc(65 * 1024, " "), headers: JSON_TYPE },
      413,
      "PAYLOAD_TOO_LARGE",
    ],
    ["a body that isn't JSON", "/api/workflows", { body: "{", headers: JSON_TYPE }, 401, "UNAUTHENTICATED"],
  ])("%s is rejected because of its headers or a missing caller", async (_, path, options, status, code) => {
    const answer = await platform.send(path, options);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it("a sign-in body in chunks ends at 64 kB", async () => {
    const body = `{"email":"${" ".repeat(70 * 1024)}"}`;
    const answer = await platform.send("/api/auth/login", {
      body,
      chunked: true,
      headers: { ...JSON_TYPE, "transfer-encoding": "chunked" },
    });
    expect([answer.status, answer.body.limit]).toEqual([413, 64 * 1024]);
  });

  it.each(["/api/workflows", "/api/media", "/api/workflows/x/run"])(
    "a body that waits for `100 Continue` is not requested: %s",
    async (path) => {
      const answer = await converse(path, { ...JSON_TYPE, "content-length": String(MEBIBYTE), expect: "100-continue" }, "");
      expect(answer).toMatch(/^HTTP\/1.1 401 /);
      expect(answer).toMatch(/connection: close/i);
    },
  );

  it("an upload that waits is not requested if the account awaits approval", async () => {
    const headers = { ...platform.bySession(unapproved), "content-length": String(MEBIBYTE), expect: "100-continue" };
    expect(await converse("/api/media", headers, "")).toMatch(/^HTTP\/1.1 403 [\s\S]*ACCOUNT_NOT_APPROVED/);
  });

  it("a waiting body is requested when its turn comes", async () => {
    const body = JSON.stringify({ name: "Asked for" });
    const headers = {
      ...JSON_TYPE,
      ...platform.byKey(user),
      "content-length": String(body.length),
      expect: "100-continue",
      connection: "close",
    };
    expect(await converse("/api/workflows", headers, body)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /);
  });

  it("an unknown expectation is ignored", async () => {
    const headers = { ...JSON_TYPE, "content-length": "0", expect: "tea", connection: "close" };
    expect(await converse("/api/workflows", headers, "")).toMatch(/^HTTP\/1.1 401 [\s\S]*x-request-id[\s\S]*UNAUTHENTICATED/i);
  });
});

describe("a known caller", () => {
  const create = (body: string | Buffer, more: Partial<RequestOptions> = {}): Promise<Answer> =>
    platform.send("/api/workflows", { body, headers: { ...JSON_TYPE, ...platform.byKey(user) }, ...more });
  const nested = (levels: number): string => `${'{"nodes":'}${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

  it.each([
    ["64 levels", nested(64), /name/],
    ["65 levels", nested(65), /more than 64 levels/],
    ["a million levels", "[".repeat(1_000_000), /more than 64 levels/],
    ["200,001 values", `[${"0,".repeat(199_999)}0]`, /more than 200000 values/],
    ["200,000 values", `[${"0,".repeat(199_998)}0]`, /an object/],
  ])("gets an error that explains %s", async (_, body, message) => {
    const answer = await create(body);
    expect([answer.status, answer.body.code]).toEqual([400, "INVALID_REQUEST"]);
    expect(JSON.stringify(answer.body.issues)).toMatch(message);
  });

  it("can send back a workflow with the maximum number of values, as a GET returned it", async () => {
    const created = await create(`{"name":"Many","viewport":{"a":[${"1,".repeat(199_995)}1]}}`);
    expect(created.status).toBe(201);
    const path = `/api/workflows/${created.body.slug as unknown as string}`;
    const { text } = await platform.send(path, { headers: platform.byKey(user) });
    const put = (body: string): Promise<Answer> =>
      platform.send(path, { method: "PUT", body, headers: { ...JSON_TYPE, ...platform.byKey(user) } });
    expect((await put(text)).status).toBe(200);
    expect(await put(text.replace("{", `{"more":[${"0,".repeat(100)}0],`))).toMatchObject({ status: 400 });
  });

  it("has limited time for a body: after it the response is 408, and the connection is closed", async () => {
    const headers = { ...JSON_TYPE, ...platform.byKey(user), "content-length": String(MEBIBYTE) };
    const answer = await converse("/api/workflows", headers, "{");
    expect(answer).toMatch(/^HTTP\/1.1 408 [\s\S]*REQUEST_TIMEOUT/);
    expect(answer).toMatch(/connection: close/i);
  });

  it("is also counted for invalid JSON", async () => {
    const pro = await platform.createUser();
    const broken = () => platform.send("/api/folders", { body: "{", headers: { ...JSON_TYPE, ...platform.byKey(pro) } });
    const statuses = (await Promise.all(Array.from({ length: 101 }, broken))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  });

  it("is rejected for a missing approval after the shape, and before any look-up", async () => {
    const run = (body: unknown) =>
      platform.send("/api/workflows/nothing-here/run", { json: body, headers: platform.bySession(unapproved) });
    expect(await run({})).toMatchObject({ status: 400, body: { code: "INVALID_INPUTS" } });
    expect(await run({ inputs: {} })).toMatchObject({ status: 403, body: { code: "ACCOUNT_NOT_APPROVED" } });
    const quote = { json: { inputs: {} }, headers: platform.bySession(unapproved) };
    expect(await platform.send("/api/workflows/nothing-here/quote", quote)).toMatchObject({ status: 403 });
  });
});

it("counts rejected requests without a caller against their address, whatever was wrong", async () => {
  const other = await platform.startGateway({ ANONYMOUS_RATE_LIMIT: "8", REDIS_KEY_PREFIX: `${platform.env.REDIS_KEY_PREFIX}door:` });
  const refusals: RequestOptions[] = [
    { method: "GET" },
    { method: "PATCH" },
    { body: "x", headers: { "content-type": "text/plain" } },
    { body: "{}", headers: { ...JSON_TYPE, "content-encoding": "gzip" } },
    { body: "{}", headers: { ...JSON_TYPE, "x-api-key": "nl_wrong" } },
    { body: "{", headers: JSON_TYPE },
    { body: "{}", headers: { ...JSON_TYPE, cookie: user.cookie, origin: "http://elsewhere.example" } },
  ];
  const statuses: number[] = [(await send(other.baseUrl, "/nothing")).status];
  for (const options of refusals) statuses.push((await send(other.baseUrl, "/api/workflows", options)).status);
  expect(statuses).toEqual([404, 401, 405, 415, 415, 401, 401, 401]);
  for (const options of refusals) {
    const answer = await send(other.baseUrl, "/api/workflows", options);
    expect([answer.status, answer.body.code, answer.body.tier]).toEqual([429, "RATE_LIMIT_EXCEEDED", "anonymous"]);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  }
  expect((await send(other.baseUrl, "/api/workflows", { headers: platform.byKey(user) })).status).toBe(200);
  await other.stop();
});

it("limits requests to /readyz per address", async () => {
  const other = await platform.startGateway({ ANONYMOUS_RATE_LIMIT: "3", REDIS_KEY_PREFIX: `${platform.env.REDIS_KEY_PREFIX}ready:` });
  const statuses: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) statuses.push((await send(other.baseUrl, "/readyz")).status);
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  expect((await send(other.baseUrl, "/healthz")).status).toBe(200);
  await other.stop();
});

const isClosed = ({ query }: Route): boolean => query instanceof z.ZodObject && query.def.catchall instanceof z.ZodNever;
const lists = routes.filter((route) => route.method === "GET" && (/list/i.test(route.operationId) || isClosed(route)));

it.each(lists.map(({ path, protocol }) => [path, protocol] as const))(
  "rejects a parameter that %s does not know, by its name",
  async (path, protocol) => {
    const address = path.replace(":id", platform.admin.id).replace(":slug", "x").replace(":owner/:name", "nodeloom/sandbox-image");
    const answer = await platform.send(`${address}?limt=5`, { headers: platform.bySession(platform.admin) });
    const refusal = (protocol === "openai" ? answer.body.error : answer.body) as { issues: unknown };
    // Replicate's libraries treat 422 as an invalid request.
    expect([answer.status, refusal]).toMatchObject([protocol === "replicate" ? 422 : 400, { code: "INVALID_REQUEST" }]);
    expect(refusal.issues).toContainEqual({ path: "limt", message: expect.stringContaining("is not known") as string });
  },
);

it("suggests the only parameter that starts with a misnamed one", async () => {
  const answer = await platform.send("/api/executions?workflow=posters", { headers: platform.bySession(user) });
  expect([answer.status, answer.body.issues]).toEqual([400, [{ path: "workflow", message: "is not known: did you mean workflowSlug?" }]]);
});

it("says that a query parameter sent in the body belongs in the URL", async () => {
  const request = { method: "POST", headers: platform.bySession(user), json: { inputs: {}, version: 3, alis: "staging" } } as const;
  const answer = await platform.send("/api/workflows/some-workflow/run", request);
  expect(answer.status).toBe(400);
  expect(answer.body.issues).toEqual([
    { path: "version", message: "belongs in the URL: add ?version=…" },
    { path: "alis", message: "is not known" },
  ]);
});

describe("proxies that are trusted", () => {
  it.each<[string | undefined, unknown]>([
    [undefined, 0],
    ["false", 0],
    ["0", 0],
    ["2", 2],
    ["loopback", ["loopback"]],
    ["10.0.0.0/8, fd00::1", ["10.0.0.0/8", "fd00::1"]],
  ])("can be set as %j", (text, expected) => {
    expect(gatewayVariables.TRUST_PROXY.parse(text)).toEqual(expected);
  });

  it.each(["true", "33", "everyone", "10.0.0.0/33", "10.0.0.0/8/8", "1.2.3"])("can't be set as %j", (text) => {
    expect(gatewayVariables.TRUST_PROXY.safeParse(text).error?.issues[0]?.message).toMatch(/number of hops .* or addresses/);
  });
});
