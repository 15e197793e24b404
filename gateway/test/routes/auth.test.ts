import { randomUUID } from "node:crypto";
import { connectMongo } from "@nodeloom/platform";
import { ADMIN, PASSWORD, startPlatform, type Platform, type User } from "../support/platform";
import { send, sessionCookie } from "../support/http";

let platform: Platform;
let pro: User;
beforeAll(async () => {
  platform = await startPlatform();
  pro = await platform.createUser();
});
afterAll(() => platform.stop());

describe("API keys", () => {
  const NO_KEY = "send an API key in the header x-api-key, or sign in";
  const NO_WHOLE_KEY = "this isn't a whole API key: copy its value again, from nl_ to the end";
  it.each([
    ["no key", {}, NO_KEY],
    ["another header", { authorization: "Bearer nl_test_x" }, "send an API key in the header x-api-key, not in Authorization, or sign in"],
    ["garbage", { "x-api-key": "garbage" }, NO_WHOLE_KEY],
    ["a key with a bad checksum", { "x-api-key": `nl_test_${"a".repeat(30)}_000000` }, NO_WHOLE_KEY],
    ["an empty key", { "x-api-key": "" }, "the API key is empty: set the variable from which your program reads it"],
    ["a very long key", { "x-api-key": "n".repeat(5_000) }, expect.any(String) as string],
  ])("are rejected with a message about the form of the request: %s", async (_what, headers, error) => {
    const answer = await platform.send("/api/whoami", { headers });
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({ error, code: "UNAUTHENTICATED", doc: "/docs/reference/errors/UNAUTHENTICATED" });
    expect(answer.headers["x-request-id"]).toMatch(/^[\w-]{36}$/);
  });

  it("identify the caller", async () => {
    const answer = await platform.send("/api/whoami", { headers: platform.byKey(pro) });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ user: { id: pro.id, email: pro.email, role: "user", tier: "pro", approved: true } });
  });

  it("take precedence over a session in the request", async () => {
    const headers = { ...platform.byKey(pro), ...platform.bySession(platform.admin) };
    expect((await platform.send("/api/whoami", { headers })).body.user).toMatchObject({ id: pro.id });
    const bad = { "x-api-key": "garbage", ...platform.bySession(platform.admin) };
    expect((await platform.send("/api/whoami", { headers: bad })).status).toBe(401);
  });

  it("are rejected for operations of sessions or administrators", async () => {
    expect((await platform.send("/api/me", { headers: platform.byKey(pro) })).body).toMatchObject({ code: "SESSION_REQUIRED" });
    expect((await platform.send("/api/keys", { headers: platform.byKey(pro) })).body).toMatchObject({ code: "SESSION_REQUIRED" });
    expect((await platform.send("/api/admin/users", { headers: platform.byKey(pro) })).body).toMatchObject({
      code: "CAPABILITY_DENIED",
      required: "*",
    });
    expect((await platform.send("/api/admin/users", { headers: platform.bySession(pro) })).body).toMatchObject({
      code: "CAPABILITY_DENIED",
      required: "*",
    });
  });

  it("of an administrator with all capabilities open the administration", async () => {
    expect((await platform.send("/api/admin/users", { headers: platform.byKey(platform.admin) })).status).toBe(200);
  });

  it("of an administrator with fewer don't", async () => {
    const json = { name: "narrow", preset: "read-only" };
    const created = await platform.send("/api/keys", { json, headers: platform.bySession(platform.admin) });
    const answer = await platform.send("/api/admin/users", { headers: { "x-api-key": String(created.body.key) } });
    expect(answer.body).toMatchObject({ code: "CAPABILITY_DENIED", required: "*" });
  });

  it("are shown in full once, and never again", async () => {
    const json = { name: "deploy", preset: "workflow-deploy", webhook: { url: "https://example.com/hook" } };
    const reply = await platform.send("/api/keys", { json, headers: platform.bySession(pro) });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    const created = await platform.send("/api/keys", {
      json: { name: "hooks", preset: "webhook-receiver", webhook: { url: "https://example.com/hook" } },
      headers: platform.bySession(pro),
    });
    expect(created.status).toBe(201);
    expect(created.body.webhookSecret).toMatch(/^whsec_/);
    const list = await platform.send("/api/keys", { headers: platform.bySession(pro) });
    expect(list.text).not.toContain(String(created.body.key));
    expect(list.text).not.toContain("whsec_");
  });

  it("stop working soon after they are revoked", async () => {
    const created = await platform.send("/api/keys", { json: { name: "short", preset: "read-only" }, headers: platform.bySession(pro) });
    const headers = { "x-api-key": String(created.body.key) };
    expect((await platform.send("/api/whoami", { headers })).status).toBe(200);
    const deleted = await platform.send(`/api/keys/${String(created.body.id)}`, { method: "DELETE", headers: platform.bySession(pro) });
    expect(deleted.status).toBe(204);
    const deadline = Date.now() + 20_000;
    let { status } = await platform.send("/api/whoami", { headers });
    while (status === 200 && Date.now() < deadline) ({ status } = await platform.send("/api/whoami", { headers }));
    expect(status).toBe(401);
  });

  it("cannot be made by a Free user", async () => {
    const free = await platform.createUser({ tier: "free" });
    const answer = await platform.send("/api/keys", { json: { name: "x", preset: "read-only" }, headers: platform.bySession(free) });
    expect(answer.status).toBe(403);
    expect(answer.body.code).toBe("API_KEY_ACCESS_DENIED");
  });

  it("cannot hold more than the tier allows", async () => {
    const json = { name: "x", capabilities: ["model:run"] };
    const answer = await platform.send("/api/keys", { json, headers: platform.bySession(pro) });
    expect(answer.body.code).toBe("CAPABILITY_ABOVE_CEILING");
  });

  it.each([
    ["both a preset and capabilities", { name: "x", preset: "read-only", capabilities: ["workflow:read"] }],
    ["neither", { name: "x" }],
    ["an unknown field", { name: "x", preset: "read-only", scope: "all" }],
    ["an empty name", { name: " ", preset: "read-only" }],
    ["a webhook that is no URL", { name: "x", preset: "read-only", webhook: { url: "ftp://example.com" } }],
  ])("are rejected with %s", async (_what, json) => {
    const answer = await platform.send("/api/keys", { json, headers: platform.bySession(pro) });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe("INVALID_REQUEST");
    expect(answer.body.issues).not.toHaveLength(0);
  });

  it("can be renamed, rotated and given a webhook", async () => {
    const headers = platform.bySession(pro);
    const created = await platform.send("/api/keys", { json: { name: "one", preset: "full-deploy" }, headers });
    const path = `/api/keys/${String(created.body.id)}`;
    expect((await platform.send(path, { method: "PATCH", json: { name: "two" }, headers })).body.name).toBe("two");
    const hook = await platform.send(`${path}/webhook`, { method: "PUT", json: { url: "https://example.com/hook" }, headers });
    expect(hook.body.webhookSecret).toMatch(/^whsec_/);
    const rotated = await platform.send(`${path}/rotate`, { json: { graceSeconds: 60 }, headers });
    expect(rotated.status).toBe(200);
    expect(rotated.body.key).not.toBe(created.body.key);
    for (const value of [created.body.key, rotated.body.key]) {
      expect((await platform.send("/api/whoami", { headers: { "x-api-key": String(value) } })).status).toBe(200);
    }
    expect((await platform.send(`${path}/webhook`, { method: "DELETE", headers })).body.webhook).toBeNull();
    expect((await platform.send("/api/keys/nobody", { method: "PATCH", json: { name: "x" }, headers })).body.code).toBe("NOT_FOUND");
  });
});

describe("sessions", () => {
  it("start at registration and sign-in, with a new id each time", async () => {
    const email = `${randomUUID()}@nodeloom.test`;
    const registered = await platform.send("/api/auth/register", { json: { email, password: PASSWORD } });
    expect(registered.status).toBe(201);
    expect(registered.body.user).toMatchObject({ email, role: "user", tier: "free", approved: false });
    const before = sessionCookie(registered);
    const login = await platform.send("/api/auth/login", { json: { email, password: PASSWORD }, headers: { cookie: before } });
    expect(sessionCookie(login)).not.toBe(before);
    expect(login.headers["set-cookie"]?.[0]).toMatch(/HttpOnly; SameSite=Lax$/);
    expect((await platform.send("/api/whoami", { headers: { cookie: before } })).status).toBe(401);
    expect((await platform.send("/api/whoami", { headers: { cookie: sessionCookie(login) } })).status).toBe(200);
  });

  it("end at sign-out", async () => {
    const login = await platform.send("/api/auth/login", { json: { email: pro.email, password: PASSWORD } });
    const headers = { cookie: sessionCookie(login), origin: platform.baseUrl };
    expect((await platform.send("/api/auth/logout", { method: "POST", headers })).status).toBe(204);
    expect((await platform.send("/api/whoami", { headers })).status).toBe(401);
  });

  it("treat a wrong password like an unknown address", async () => {
    const wrong = await platform.send("/api/auth/login", { json: { email: ADMIN.email, password: "wrong" } });
    const unknown = await platform.send("/api/auth/login", { json: { email: "nobody@nodeloom.test", password: "wrong" } });
    expect(wrong.status).toBe(401);
    expect(unknown.body).toEqual(wrong.body);
  });

  it.each([
    ["another site's page", { origin: "https://evil.example" }],
    ["a sandboxed page", { origin: "null" }],
    ["a request of another site", { "sec-fetch-site": "cross-site" }],
    ["a request that does not say", {}],
  ])("do not let %s write", async (_what, from) => {
    const answer = await platform.send("/api/keys", { json: { name: "x", preset: "read-only" }, headers: { cookie: pro.cookie, ...from } });
    expect(answer.status).toBe(403);
    expect(answer.body.code).toBe("CROSS_ORIGIN_DENIED");
  });

  it.each([
    ["Origin", {}],
    ["Sec-Fetch-Site", { "sec-fetch-site": "same-origin" }],
  ])("can write from this origin, by %s", async (what, from) => {
    const headers = { cookie: pro.cookie, ...(what === "Origin" ? { origin: platform.baseUrl } : from) };
    expect((await platform.send("/api/keys", { json: { name: "x", preset: "read-only" }, headers })).status).toBe(201);
  });

  it("can be read with from any origin that sends the cookie", async () => {
    const headers = { cookie: pro.cookie, origin: "https://evil.example" };
    const answer = await platform.send("/api/whoami", { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("ignore a forged cookie", async () => {
    expect((await platform.send("/api/whoami", { headers: { cookie: "nodeloom_session=s%3Aforged.signature" } })).status).toBe(401);
  });

  it("are Secure and bound to the host in production, and end when they are idle", async () => {
    const edge = await platform.startGateway({ NODE_ENV: "production", TRUST_PROXY: "1" });
    const login = await send(edge.baseUrl, "/api/auth/login", { json: ADMIN, headers: { "x-forwarded-proto": "https" } });
    const [line = ""] = login.headers["set-cookie"] ?? [];
    expect(line).toMatch(/^__Host-nodeloom_session=.+; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/);
    const endsMs = Date.parse(/Expires=([^;]+)/.exec(line)![1]!) - Date.now();
    expect(endsMs).toBeGreaterThan(11.9 * 3_600_000);
    expect(endsMs).toBeLessThan(12.1 * 3_600_000);
    const cookie = sessionCookie(login);
    const whoami = (cookieHeader: string) =>
      send(edge.baseUrl, "/api/whoami", { headers: { cookie: cookieHeader, "x-forwarded-proto": "https" } });
    const used = await whoami(cookie);
    expect(used.status).toBe(200);
    // Each use renews the session.
    expect(sessionCookie(used)).toBe(cookie);
    expect((await whoami(cookie.replace("__Host-", ""))).status).toBe(401);
    await edge.stop();
  });

  it.each(["evil.example", "127.0.0.1:1"])("can write only from the configured origin, whatever Host is: %s", async (host) => {
    const headers = { cookie: pro.cookie, host, origin: `http://${host}` };
    const answer = await platform.send("/api/keys", { json: { name: "x", preset: "read-only" }, headers });
    expect(answer.body).toMatchObject({ code: "CROSS_ORIGIN_DENIED" });
    expect(String(answer.body.error)).toContain(platform.baseUrl);
  });
});

describe("a provider to sign in by", () => {
  it("is absent if it isn't configured, and the error names the missing setting", async () => {
    expect((await platform.send("/api/auth/methods")).body).toEqual({ password: true, oidc: null });
    for (const path of ["start", "callback?code=x&state=y"]) {
      const answer = await platform.send(`/api/auth/oidc/${path}`);
      expect(answer).toMatchObject({ status: 501, body: { code: "NOT_CONFIGURED" } });
      expect(answer.body.error).toContain("OIDC_ISSUER");
    }
    const link = await platform.send("/api/auth/oidc/link", { json: { password: PASSWORD }, headers: platform.bySession(pro) });
    expect(link).toMatchObject({ status: 501, body: { code: "NOT_CONFIGURED" } });
    expect((await platform.send("/api/auth/oidc", { headers: platform.bySession(pro) })).body).toEqual({ name: null, linkedAt: null });
  });
});

describe("administration", () => {
  it("gives an approved user the tier's credits, once", async () => {
    const user = await platform.createUser({ tier: "pro" });
    const headers = platform.bySession(platform.admin);
    await platform.send(`/api/admin/users/${user.id}`, { method: "PATCH", json: { approved: true, tier: "pro" }, headers });
    const ledger = await platform.send(`/api/admin/users/${user.id}/ledger`, { headers });
    const credits = (ledger.body.rows as { kind: string; credits: number }[]).reduce((sum, row) => sum + row.credits, 0);
    expect(credits).toBe(2_000);
  });

  it("gives the administrator created at deployment the tier's credits and trial runs, once", async () => {
    await platform.send("/api/auth/login", { json: ADMIN });
    const ledger = await platform.send(`/api/admin/users/${platform.admin.id}/ledger`, { headers: platform.bySession(platform.admin) });
    const rows = ledger.body.rows as { kind: string; credits: number }[];
    expect(rows.map(({ kind, credits }) => [kind, credits]).sort()).toEqual([
      ["grant", 0],
      ["plan_renewal", 50_000],
    ]);
  });

  it("follows a user through tiers and back", async () => {
    const user = await platform.createUser({ tier: "pro" });
    const headers = platform.bySession(platform.admin);
    for (const tier of ["business", "pro", "business"]) {
      const answer = await platform.send(`/api/admin/users/${user.id}`, { method: "PATCH", json: { tier }, headers });
      expect(answer.body).toMatchObject({ tier, approved: true });
    }
    const topup = await platform.send(`/api/admin/users/${user.id}/credits`, {
      json: { kind: "topup", amount: 12.5, note: "gift" },
      headers,
    });
    expect(topup.body.credits).toMatchObject({ plan: 10_000, topUp: 12.5, held: 0 });
    expect((await platform.send("/api/admin/ledger/check", { headers })).body).toMatchObject({ ok: true, mismatches: [] });
  });

  it("gives an unapproved account nothing", async () => {
    const user = await platform.createUser({ tier: "pro", approved: false });
    const ledger = await platform.send(`/api/admin/users/${user.id}/ledger`, { headers: platform.bySession(platform.admin) });
    expect((ledger.body.rows as { credits: number }[]).every((row) => row.credits === 0)).toBe(true);
  });

  it("reads the ledger of an erased account by its id, but of no organization and of no unknown id", async () => {
    const user = await platform.createUser({ tier: "pro" });
    const organization = await platform.send("/api/organizations", { json: { name: "Looms" }, headers: platform.bySession(user) });
    const { MONGODB_URI: uri, MONGODB_DATABASE_PREFIX: prefix } = platform.env;
    const identity = await connectMongo({ uri: uri!, database: `${prefix}identity` });
    await identity.collection<{ _id: string }>("users").deleteOne({ _id: user.id });
    await identity.close();
    const read = (id: unknown) => platform.send(`/api/admin/users/${String(id)}/ledger`, { headers: platform.bySession(platform.admin) });
    expect((await read(user.id)).body).toMatchObject({
      rows: expect.arrayContaining([expect.objectContaining({ credits: 2_000 })]) as unknown,
    });
    for (const id of [organization.body.id, randomUUID()]) expect((await read(id)).status).toBe(404);
  });

  it("credits once under an Idempotency-Key", async () => {
    const user = await platform.createUser();
    const headers = { ...platform.bySession(platform.admin), "idempotency-key": randomUUID() };
    const path = `/api/admin/users/${user.id}/credits`;
    await platform.send(path, { json: { kind: "topup", amount: 10 }, headers });
    expect((await platform.send(path, { json: { kind: "topup", amount: 10 }, headers })).body.credits).toMatchObject({ topUp: 10 });
    expect((await platform.send(path, { json: { kind: "topup", amount: 11 }, headers })).body.code).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  it("never lets a balance fall below zero", async () => {
    const user = await platform.createUser();
    const answer = await platform.send(`/api/admin/users/${user.id}/credits`, {
      json: { kind: "adjust", amount: -1_000_000 },
      headers: platform.bySession(platform.admin),
    });
    expect(answer.status).toBe(400);
  });

  it("stores custom tiers", async () => {
    const headers = platform.bySession(platform.admin);
    const settings = { base: "business", rateLimitPerMinute: 3, markup: 1.25, monthlyCredits: 20.5, concurrency: 80 };
    const id = `studio-${randomUUID().slice(0, 8)}`;
    const reply = await platform.send(`/api/admin/tiers/${id}`, { method: "PUT", json: settings, headers });
    expect(reply.body).toEqual({ id, ...settings });
    expect((await platform.send(`/api/admin/tiers/${id}`, { headers })).body).toEqual(reply.body);
    const user = await platform.createUser({ tier: id });
    const first = await platform.send("/api/whoami", { headers: platform.byKey(user) });
    expect(first.headers["x-ratelimit-limit"]).toBe("3");
    expect((await platform.send(`/api/admin/tiers/none`, { headers })).body.code).toBe("NOT_FOUND");
  });

  it("finds users by page, approval and address", async () => {
    const user = await platform.createUser({ tier: "pro", approved: false });
    const headers = platform.bySession(platform.admin);
    const reply = await platform.send(`/api/admin/users?approved=false&q=${user.email}&limit=1`, { headers });
    expect(reply.body.rows).toMatchObject([{ id: user.id, approved: false }]);
    const page = await platform.send("/api/admin/users?limit=1", { headers });
    const next = await platform.send(`/api/admin/users?limit=1&cursor=${encodeURIComponent(String(page.body.nextCursor))}`, { headers });
    expect((next.body.rows as { id: string }[])[0]?.id).not.toBe((page.body.rows as { id: string }[])[0]?.id);
  });
});
