import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { LIMITS } from "@nodeloom/kernel";
import { routes } from "../../src/endpoints";
import { send } from "../support/http";
import { startPlatform, type Platform, type User } from "../support/platform";

let platform: Platform;
let pro: User;
beforeAll(async () => {
  platform = await startPlatform();
  pro = await platform.createUser();
});
afterAll(() => platform.stop());

const raw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(platform.baseUrl);
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("data", (chunk) => (answer += chunk.toString()));
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
    socket.write(text);
  });

describe("every answer", () => {
  it("has a unique request id", async () => {
    const [one, two] = await Promise.all([platform.send("/healthz"), platform.send("/healthz")]);
    expect(one.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(one.headers["x-request-id"]).not.toBe(two.headers["x-request-id"]);
  });

  it("has the client's request id if that is a harmless token", async () => {
    const answer = await platform.send("/nowhere", { headers: { "x-request-id": "client-1.a:b_C" } });
    expect(answer.headers["x-request-id"]).toBe("client-1.a:b_C");
  });

  it.each(["", "a b", "x".repeat(129), "a\tb", "<script>"])("does not repeat the request id %j", async (id) => {
    const answer = await platform.send("/healthz", { headers: { "x-request-id": id } });
    expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("doesn't reveal its server, and cannot be framed or sniffed", async () => {
    const { headers } = await platform.send("/api/whoami");
    expect(headers["x-powered-by"]).toBeUndefined();
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
  });
});

describe("a read", () => {
  it.each(["/api/whoami", "/api/workflows", "/api/models", "/api/usage?limit=7", "/healthz"])(
    "of %s returns 304 without a body while its ETag is current",
    async (path) => {
      const first = await platform.send(path, { headers: platform.byKey(pro) });
      const etag = String(first.headers.etag);
      const again = await platform.send(path, { headers: { ...platform.byKey(pro), "if-none-match": etag } });
      expect([again.status, again.text, again.headers.etag, again.headers["content-type"]]).toEqual([304, "", etag, undefined]);
      expect((await platform.send(path, { headers: { ...platform.byKey(pro), "if-none-match": '"x"' } })).status).toBe(200);
      const asFetchAsks = { ...platform.byKey(pro), "if-none-match": etag, "cache-control": "no-cache" };
      expect((await platform.send(path, { headers: asFetchAsks })).status).toBe(304);
    },
  );

  it("returns 200 after a change, and errors have no ETag", async () => {
    const ask = (headers = {}) => platform.send("/api/folders", { headers: { ...platform.byKey(pro), ...headers } });
    const { etag } = (await ask()).headers;
    await platform.send("/api/folders", { json: { name: "Another" }, headers: platform.byKey(pro) });
    expect((await ask({ "if-none-match": etag! })).status).toBe(200);
    const reply = await platform.send("/api/whoami", { headers: { "if-none-match": "*" } });
    expect([reply.status, reply.headers.etag]).toEqual([401, undefined]);
  });
});

describe("an unknown request", () => {
  it.each(["/", "/api", "/api/nothing", "/api/workflows/", "/API/workflows", "/api/workflows/a/b/c"])(
    "returns ROUTE_NOT_FOUND on %s",
    async (path) => {
      const answer = await platform.send(path);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: "ROUTE_NOT_FOUND" });
    },
  );

  it("returns METHOD_NOT_ALLOWED with the allowed methods", async () => {
    const answer = await send(platform.baseUrl, "/api/workflows/a", { method: "PATCH" });
    expect(answer.status).toBe(405);
    expect(answer.body.code).toBe("METHOD_NOT_ALLOWED");
    expect(answer.headers.allow).toBe("GET, HEAD, PUT, DELETE");
    expect(answer.body.allow).toBeUndefined();
    expect((await send(platform.baseUrl, "/media/x", { method: "DELETE" })).headers.allow).toBe("GET, HEAD");
  });

  it("returns an error for an invalid path", async () => {
    expect((await send(platform.baseUrl, "/api/workflows/%E0%A4%A", { headers: platform.byKey(pro) })).body.code).toBe("INVALID_REQUEST");
  });

  it("rejects a request with two hosts", async () => {
    const answer = await raw("GET /healthz HTTP/1.1\r\nHost: a.example\r\nhost: b.example\r\nConnection: close\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.split("\r\n\r\n")[1]!)).toMatchObject({
      code: "INVALID_REQUEST",
      issues: [{ path: "Host", message: "must be given once" }],
    });
  });

  it("returns JSON even for a request that isn't HTTP", async () => {
    const answer = await raw("NONSENSE\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/X-Request-Id: [0-9a-f-]{36}/);
    expect(JSON.parse(answer.split("\r\n\r\n")[1]!)).toMatchObject({ code: "INVALID_REQUEST" });
  });
});

describe("bodies", () => {
  const post = (body: string | Buffer, headers: Record<string, string>): Promise<Awaited<ReturnType<typeof send>>> =>
    platform.send("/api/folders", { body, headers: { ...platform.byKey(pro), ...headers } });

  it.each(["{", "{'a':1}", "nul", '{"a":1}}', "\u0000"])("that are not JSON are rejected: %j", async (body) => {
    const answer = await post(body, { "content-type": "application/json" });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: "INVALID_REQUEST",
      issues: [{ path: "", message: expect.stringContaining("the body is not valid JSON (line 1, column") as string }],
    });
  });

  it("that are not UTF-8 are rejected", async () => {
    const answer = await post(Buffer.from([0x22, 0xff, 0x22]), { "content-type": "application/json" });
    expect(answer.body.code).toBe("INVALID_REQUEST");
  });

  it.each([
    ["no type", {}],
    ["text", { "content-type": "text/plain" }],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }],
    ["another charset", { "content-type": "application/json; charset=latin1" }],
    ["an unknown encoding", { "content-type": "application/json", "content-encoding": "snappy" }],
  ])("of %s are rejected", async (_what, headers) => {
    const answer = await post('{"name":"x"}', headers as Record<string, string>);
    expect(answer.status).toBe(415);
    expect(answer.body.code).toBe("UNSUPPORTED_MEDIA_TYPE");
  });

  it.each(["null", "[]", '"text"', "1", '{"name":1}', '{"name":""}', "{}"])("with an invalid structure are rejected: %s", async (body) => {
    const answer = await post(body, { "content-type": "application/json; charset=UTF-8" });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe("INVALID_REQUEST");
    expect(answer.body.issues).not.toHaveLength(0);
  });

  it.each([
    ['{"name":"a\\ud800b"}', "name"],
    ['{"name":"\\uDC00"}', "name"],
    ['{"name":"x","tags":["ok","\\udead\\ud83e"]}', "tags.1"],
  ])("with half of a surrogate pair are rejected: %s", async (body, path) => {
    const headers = { ...platform.byKey(pro), "content-type": "application/json" };
    const answer = await platform.send("/api/workflows", { body, headers });
    expect([answer.status, answer.body.code]).toEqual([400, "INVALID_REQUEST"]);
    expect(answer.body.issues).toEqual([{ path, message: expect.stringContaining("surrogate") as string }]);
  });

  it("with whole pairs, however they are written, are accepted", async () => {
    const headers = { ...platform.byKey(pro), "content-type": "application/json" };
    const answer = await platform.send("/api/folders", { body: '{"name":"\\ud83e\\uddf5 \\\\ud800 🧵"}', headers });
    expect([answer.status, answer.body.name]).toEqual([201, "🧵 \\ud800 🧵"]);
  });

  it("that are too large are rejected before and while they are read", async () => {
    const body = `{"name":"${"x".repeat(LIMITS.jsonBodyBytes)}"}`;
    const announced = await post(body, { "content-type": "application/json" });
    expect(announced.status).toBe(413);
    expect(announced.body.code).toBe("PAYLOAD_TOO_LARGE");
    const headers = { ...platform.byKey(pro), "content-type": "application/json" };
    const chunked = await platform.send("/api/folders", { body, headers, chunked: true });
    expect(chunked.status).toBe(413);
    const bomb = await post(gzipSync(body), { "content-type": "application/json", "content-encoding": "gzip" });
    expect(bomb.status).toBe(415);
  });

  it("are read only after the caller is known, and validated after that", async () => {
    const malformed = (headers = {}) =>
      platform.send("/api/folders", { body: "{", headers: { "content-type": "application/json", ...headers } });
    expect((await malformed()).body.code).toBe("UNAUTHENTICATED");
    expect((await malformed(platform.byKey(pro))).body.code).toBe("INVALID_REQUEST");
    expect((await platform.send("/api/folders", { json: {} })).body.code).toBe("UNAUTHENTICATED");
  });
});

describe("the order of checks", () => {
  it("checks the capability before counting and before validation", async () => {
    const created = await platform.send("/api/keys", { json: { name: "r", preset: "read-only" }, headers: platform.bySession(pro) });
    const answer = await platform.send("/api/folders", { json: {}, headers: { "x-api-key": String(created.body.key) } });
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ code: "CAPABILITY_DENIED", required: "workflow:write" });
    expect(answer.headers["x-ratelimit-limit"]).toBeUndefined();
  });

  it.each([
    ["/api/workflows/my-slug/run", "workflow:my-slug:run", undefined],
    ["/api/models/sandbox-image/run", "model:sandbox-image:run", "business"],
    ["/api/models/sandbox-image/quote", "model:sandbox-image:run", "business"],
  ])("names the specific capability of %s, and the tier if the caller's lacks it", async (path, required, requiredTier) => {
    const created = await platform.send("/api/keys", { json: { name: "r", preset: "read-only" }, headers: platform.bySession(pro) });
    const answer = await platform.send(path, { json: { inputs: {} }, headers: { "x-api-key": String(created.body.key) } });
    expect(answer.body).toMatchObject({ code: "CAPABILITY_DENIED", required });
    expect(answer.body.requiredTier).toBe(requiredTier);
  });

  it("returns CAPABILITY_DENIED, or SESSION_REQUIRED on a route for sessions, if a key lacks the capability", async () => {
    const created = await platform.send("/api/keys", {
      json: { name: "w", capabilities: ["webhook:receive"] },
      headers: platform.bySession(pro),
    });
    const headers = { "x-api-key": String(created.body.key) };
    for (const { method, path, capability, keyCapability, body } of routes.filter(
      (route) => route.capability !== undefined && route.capability !== "webhook:receive",
    )) {
      const options = { method, headers, ...(body ? { json: {} } : {}) };
      const answer = await platform.send(path.replaceAll(/:\w+/g, "some-name"), options);
      const code = keyCapability === undefined ? "CAPABILITY_DENIED" : "SESSION_REQUIRED";
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, code]);
      const [first] = [capability!].flat();
      const required = typeof first === "object" ? first.anyOf[0] : first;
      const params = { slug: "some-name", internalName: "some-name" };
      expect(answer.body.required).toBe(keyCapability ?? (typeof required === "function" ? required(params) : required));
    }
  });

  it("rejects a request without a caller on every route that needs one", async () => {
    type ErrorBody = { code?: string; error: ErrorBody; data: ErrorBody };
    const plain = (body: ErrorBody): ErrorBody => body;
    const errorOf = {
      plain,
      openai: ({ error }: ErrorBody) => error,
      mcp: ({ error }: ErrorBody) => error.data,
      fal: plain,
      replicate: plain,
    };
    for (const { method, path, auth, body, protocol = "plain" } of routes.filter((route) => route.auth !== "none")) {
      const answer = await platform.send(path.replaceAll(/:\w+/g, "some-name"), { method, ...(body ? { json: {} } : {}) });
      const { code } = errorOf[protocol](answer.body as unknown as ErrorBody);
      // An unknown hook address gets 404.
      const refusal = auth === "hook" ? [404, "NOT_FOUND"] : [401, "UNAUTHENTICATED"];
      expect([method, path, auth, answer.status, code]).toEqual([method, path, auth, ...refusal]);
    }
  });
});

describe("unavailable services", () => {
  it("give SERVICE_UNAVAILABLE with Retry-After, and the rest continues", async () => {
    const edge = await platform.startGateway({ WORKFLOWS_ADDRESS: platform.env.EXECUTIONS_ADDRESS! });
    const answer = await send(edge.baseUrl, "/api/workflows", { headers: platform.byKey(pro) });
    expect([answer.status, answer.body.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    expect((await send(edge.baseUrl, "/api/whoami", { headers: platform.byKey(pro) })).status).toBe(200);
    await edge.stop();
  });

  it("keep the gateway ready", async () => {
    expect(await platform.send("/readyz")).toMatchObject({ status: 200, body: { status: "ready" } });
    expect((await platform.send("/healthz")).status).toBe(200);
  });
});

describe("usage queries", () => {
  it.each([
    "limit=0",
    "limit=-1",
    "limit=501",
    "limit=ten",
    "limit=1.5",
    "limit=",
    "offset=-1",
    "offset=x",
    "status=canceled",
    "status=done",
    "limit=1&limit=2",
  ])("reject %s", async (query) => {
    const answer = await platform.send(`/api/usage?${query}`, { headers: platform.byKey(pro) });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe("INVALID_REQUEST");
  });

  it.each([
    ["", 1, 50],
    ["?limit=500", 1, 500],
    ["?limit=10&offset=9", 1, 10],
    ["?limit=10&offset=10", 2, 10],
    ["?limit=10&offset=25", 3, 10],
  ])("number pages: %s", async (query, page, pageSize) => {
    const answer = await platform.send(`/api/usage${query}`, { headers: platform.byKey(pro) });
    expect(answer.body).toEqual({ rows: [], page, pageSize, total: 0 });
  });

  it("list no models without usage", async () => {
    expect((await platform.send("/api/usage/models", { headers: platform.byKey(pro) })).body).toEqual([]);
  });
});

describe("models", () => {
  it("are listed and read without their provider's settings", async () => {
    const list = await platform.send("/api/models", { headers: platform.byKey(pro) });
    const names = (list.body as unknown as { internalName: string }[]).map(({ internalName }) => internalName);
    expect(names).toContain("sandbox-image");
    const one = await platform.send("/api/models/sandbox-image", { headers: platform.byKey(pro) });
    expect(one.body).toMatchObject({
      internalName: "sandbox-image",
      price: { perImageUsd: 0.02 },
      minTier: "free",
      trialRuns: 3,
      asyncSupported: true,
    });
    expect(list.text + one.text).not.toMatch(/baseUrl|secretEnv|idempotencyHeader/);
  });

  it("are rejected by form, then by name", async () => {
    expect((await platform.send("/api/models/No_Slug", { headers: platform.byKey(pro) })).body.code).toBe("INVALID_SLUG");
    expect((await platform.send("/api/models/nobody", { headers: platform.byKey(pro) })).body.code).toBe("MODEL_NOT_FOUND");
  });

  it("can be disabled and repriced by an administrator", async () => {
    const path = "/api/admin/models/sandbox-speech";
    const headers = platform.bySession(platform.admin);
    const changed = await platform.send(path, {
      method: "PATCH",
      json: { price: { perRunUsd: 0.5 }, minTier: "pro", enabled: false },
      headers,
    });
    expect(changed.body).toMatchObject({ price: { perRunUsd: 0.5 }, minTier: "pro", enabled: false });
    expect((await platform.send("/api/models/sandbox-speech", { headers: platform.byKey(pro) })).body.code).toBe("MODEL_NOT_FOUND");
    expect((await platform.send(path, { method: "PATCH", json: { price: { perRunUsd: -1 } }, headers })).status).toBe(400);
  });
});

describe("the reference", () => {
  it("serves the document and a page that needs no other host", async () => {
    const document = await send(platform.baseUrl, "/api/openapi.json");
    expect(document.body).toMatchObject({ openapi: "3.1.0", servers: [{ url: platform.baseUrl }] });
    const page = await send(platform.baseUrl, "/docs/explorer");
    expect(page.status).toBe(200);
    const assets = [...page.text.matchAll(/<(?:script|link)[^>]+(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
    expect(assets.length).toBeGreaterThan(2);
    for (const path of assets) {
      expect(path).toMatch(/^\/docs\//);
      expect((await send(platform.baseUrl, path)).status).toBe(200);
    }
    expect(page.headers["content-security-policy"]).toContain("connect-src 'self'");
  });
});

describe("media", () => {
  const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

  const FORM = { "content-type": "multipart/form-data; boundary=x" };

  it("is returned as it was uploaded, with ranges, under its real type", async () => {
    const uploaded = await platform.send("/api/media", { body: PNG, headers: { ...platform.byKey(pro), "content-type": "text/html" } });
    expect(uploaded.status).toBe(201);
    expect(uploaded.body).toMatchObject({ contentType: "image/png", bytes: PNG.length });
    const { pathname, search } = new URL(String(uploaded.body.url));
    const path = pathname + search;
    const whole = await send(platform.baseUrl, path);
    expect(whole.headers).toMatchObject({ "content-type": "image/png", "x-content-type-options": "nosniff" });
    const part = await send(platform.baseUrl, path, { headers: { range: "bytes=0-3" } });
    expect(part.status).toBe(206);
    expect(part.headers["content-range"]).toBe(`bytes 0-3/${PNG.length}`);
    expect((await send(platform.baseUrl, path, { method: "HEAD" })).headers["content-length"]).toBe(String(PNG.length));
  });

  it("can also be uploaded in a form, however its bytes are split", async () => {
    const bytes = Buffer.concat([PNG, Buffer.from("\r\n--x\r-- \r\n--y"), Buffer.alloc(200_000, 9)]);
    const part = (head: string, content: Buffer | string): Buffer[] => [
      Buffer.from(`--xy\r\n${head}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from("\r\n"),
    ];
    const body = Buffer.concat([
      ...part('Content-Disposition: form-data; name="note"', ""),
      ...part('content-disposition: form-data; name="picture"; filename="a.png"\r\ncontent-type: text/html', bytes),
      ...part('content-disposition: form-data; name="caption"', "no file"),
      Buffer.from("--xy--\r\n"),
    ]);
    const headers = { ...platform.byKey(pro), "content-type": 'multipart/form-data; boundary="xy"' };
    const uploaded = await platform.send("/api/media", { body, headers });
    expect(uploaded.body).toMatchObject({ contentType: "image/png", bytes: bytes.length });
    expect(uploaded.status).toBe(201);
  });

  it("leaves its connection usable for the next request, whatever follows the file in a form", async () => {
    const { hostname, port } = new URL(platform.baseUrl);
    const file = Buffer.concat([Buffer.from('--x\r\ncontent-disposition: form-data; name="file"\r\n\r\n'), PNG]);
    const rest = Buffer.concat([Buffer.from("\r\n--x\r\n\r\n"), Buffer.alloc(2 * 1024 * 1024, 7), Buffer.from("\r\n--x--\r\n")]);
    const head = [
      "POST /api/media HTTP/1.1",
      "host: x",
      `x-api-key: ${pro.key}`,
      "content-type: multipart/form-data; boundary=x",
      `content-length: ${file.length + rest.length}`,
    ];
    const next = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    const answers = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let text = "";
      socket.on("error", reject);
      socket.on("data", (chunk) => (text += chunk.toString()));
      socket.on("close", () => resolve(text));
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      socket.write(Buffer.concat([file, rest, Buffer.from(next)]));
    });
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 201", "HTTP/1.1 200"]);
  });

  it("is streamed whole, whatever its size", async () => {
    const big = Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024, 7)]);
    const uploaded = await platform.send("/api/media", { body: big, headers: platform.byKey(pro) });
    expect(uploaded.body).toMatchObject({ bytes: big.length });
  });

  it.each([
    ["nothing", Buffer.alloc(0), {}, 400],
    ["a form that is none", PNG, { "content-type": "multipart/form-data; boundary=x" }, 400],
    ["a form without a file", "--x\r\ncontent-disposition: form-data; name=a\r\n\r\n1\r\n--x--\r\n", FORM, 400],
    ["a form that breaks off", '--x\r\ncontent-disposition: form-data; name="file"\r\n\r\nabc', FORM, 400],
    ["a form of another kind", PNG, { "content-type": "application/x-www-form-urlencoded" }, 415],
    ["too much", PNG, { "content-length": String(LIMITS.mediaBytes + 1) }, 413],
  ])("rejects %s", async (_what, content, headers, status) => {
    const body = Buffer.from(content);
    const { hostname, port } = new URL(platform.baseUrl);
    const lines = Object.entries({ "content-length": String(body.length), ...platform.byKey(pro), ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      socket.on("error", reject);
      socket.once("data", (chunk) => {
        resolve(chunk.toString());
        socket.destroy();
      });
      socket.write(`POST /api/media HTTP/1.1\r\nhost: x\r\n${lines.join("\r\n")}\r\n\r\n`);
      socket.write(body);
    });
    expect(answer).toContain(`HTTP/1.1 ${status} `);
  });

  it("responds to any origin, also with a 404", async () => {
    const uploaded = await platform.send("/api/media", { body: PNG, headers: platform.byKey(pro) });
    const { pathname, search } = new URL(String(uploaded.body.url));
    for (const [address, status] of [
      [pathname + search, 200],
      ["/media/none.png", 404],
    ] as const) {
      const answer = await send(platform.baseUrl, address, { headers: { origin: "https://elsewhere.example" } });
      expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([status, "*"]);
      expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  it("that doesn't exist is not found, in JSON", async () => {
    const answer = await send(platform.baseUrl, "/media/none.png");
    expect(answer.status).toBe(404);
    expect(answer.body.code).toBe("NOT_FOUND");
  });
});
