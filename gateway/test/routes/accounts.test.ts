import { randomUUID } from "node:crypto";
import type { sendUnaryData, ServerUnaryCall } from "@grpc/grpc-js";
import { executions } from "@nodeloom/proto";
import { startFakeService, type FakeService } from "../../../test-support/fake-service";
import { send, sessionCookie, type Answer } from "../support/http";
import { PASSWORD, startPlatform, type Platform, type User } from "../support/platform";
import { codeOf, wrongCode } from "../../../test-support/authenticator";
import { browse, startProvider, type TestProvider } from "../../../test-support/oidc-provider";
import { eventually } from "../../../test-support/eventually";

const NEXT = "a loom of many colours";

type Call<Q, R> = (call: ServerUnaryCall<Q, R>, callback: sendUnaryData<R>) => void;

/** Number of times that a gateway asked executions to apply changes of accounts. */
let applied = 0;
const applyAccountChanges: Call<executions.ApplyAccountChangesRequest, executions.ApplyAccountChangesResponse> = (_call, callback) => {
  applied += 1;
  callback(null, {});
};

const listExecutions: Call<executions.ListExecutionsRequest, executions.ListExecutionsResponse> = (_call, callback) =>
  callback(null, executions.ListExecutionsResponse.fromPartial({}));

let fake: FakeService;
let provider: TestProvider;
let platform: Platform;
let replica: Awaited<ReturnType<Platform["startGateway"]>>;
beforeAll(async () => {
  fake = await startFakeService(executions.ExecutionsServiceService, { applyAccountChanges, listExecutions });
  provider = await startProvider();
  platform = await startPlatform({
    EXECUTIONS_ADDRESS: fake.address,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    OIDC_NAME: "Example",
    OIDC_APPROVES: "true",
    OIDC_TIERS: "groups=film:pro",
  });
  replica = await platform.startGateway();
});
afterAll(async () => {
  await replica.stop();
  await platform.stop();
  fake.stop();
  await provider.stop();
});

const asAdmin = (path: string, json?: unknown, method = "PATCH"): Promise<Answer> =>
  platform.send(path, { method, json, headers: platform.bySession(platform.admin) });
const patch = (user: User, change: object) => asAdmin(`/api/admin/users/${user.id}`, change);
const logIn = (email: string, password: string) => platform.send("/api/auth/login", { json: { email, password } });

describe("a suspension", () => {
  it("reaches another gateway's sessions and keys, and asks executions at once to cancel the user's runs", async () => {
    const user = await platform.createUser();
    const before = applied;
    const whoami = (headers: Record<string, string>) => send(replica.baseUrl, "/api/whoami", { headers });
    for (const headers of [platform.byKey(user), { cookie: user.cookie }]) expect((await whoami(headers)).status).toBe(200);
    expect((await patch(user, { suspended: true })).body).toMatchObject({ suspended: true });
    for (const headers of [platform.byKey(user), { cookie: user.cookie }]) {
      await eventually(async () => (await whoami(headers)).status === 403);
      expect((await whoami(headers)).body).toMatchObject({ code: "ACCOUNT_SUSPENDED" });
    }
    await eventually(() => applied > before);
    expect((await logIn(user.email, PASSWORD)).body).toMatchObject({ code: "ACCOUNT_SUSPENDED" });
    await patch(user, { suspended: false });
    await eventually(async () => (await whoami(platform.byKey(user))).status === 200);
    expect((await whoami({ cookie: user.cookie })).status).toBe(401);
  });

  it.each([{ suspended: true }, { approved: false }, { role: "user" }])("can't be an administrator's own, nor can %j", async (change) => {
    expect(await patch(platform.admin, change)).toMatchObject({ status: 412, body: { code: "PRECONDITION_FAILED" } });
    expect((await patch(platform.admin, { role: "admin", approved: true })).status).toBe(200);
  });
});

it("a withdrawn approval asks executions at once to cancel the user's runs", async () => {
  const user = await platform.createUser();
  const before = applied;
  await patch(user, { approved: false });
  await eventually(() => applied > before);
});

const at = (baseUrl: string, cookie: string) => send(baseUrl, "/api/whoami", { headers: { cookie } });

describe("sessions", () => {
  it("of a changed password work at every gateway at once, and no others do", async () => {
    const user = await platform.createUser({ tier: "free" });
    expect((await at(replica.baseUrl, user.cookie)).status).toBe(200);
    const change = { current: PASSWORD, new: NEXT };
    const changed = await platform.send("/api/auth/password", { json: change, headers: platform.bySession(user) });
    expect(changed.status).toBe(204);
    expect((await at(replica.baseUrl, sessionCookie(changed))).status).toBe(200);
    await eventually(async () => (await at(replica.baseUrl, user.cookie)).status === 401);
    expect((await at(platform.baseUrl, user.cookie)).status).toBe(401);
  });

  it("continue if the current password is wrong", async () => {
    const user = await platform.createUser({ tier: "free" });
    const headers = platform.bySession(user);
    const wrong = await platform.send("/api/auth/password", { json: { current: "not this", new: NEXT }, headers });
    expect([wrong.status, wrong.body.code]).toEqual([401, "UNAUTHENTICATED"]);
    expect((await platform.send("/api/whoami", { headers })).status).toBe(200);
  });

  it("end here, or everywhere", async () => {
    const user = await platform.createUser({ tier: "free" });
    const [first, second] = [sessionCookie(await logIn(user.email, PASSWORD)), sessionCookie(await logIn(user.email, PASSWORD))];
    const logout = (cookie: string, json?: unknown) =>
      platform.send("/api/auth/logout", { method: "POST", json, headers: { cookie, origin: platform.baseUrl } });
    expect((await logout(first)).status).toBe(204);
    expect((await at(platform.baseUrl, first)).status).toBe(401);
    expect((await at(platform.baseUrl, second)).status).toBe(200);
    expect((await logout(second, { everywhere: true })).status).toBe(204);
    for (const cookie of [second, user.cookie]) await eventually(async () => (await at(replica.baseUrl, cookie)).status === 401);
  });
});

describe("a second factor", () => {
  it("is enabled and disabled over HTTP, and requires a code at sign-in", async () => {
    const user = await platform.createUser({ tier: "free" });
    const asUser = (path: string, cookie: string, json?: unknown) =>
      platform.send(`/api/auth/second-factor${path}`, { json, headers: { cookie, origin: platform.baseUrl } });
    const { secret } = (await asUser("", user.cookie, { password: PASSWORD })).body as unknown as { secret: string };
    const confirmed = await asUser("/confirm", user.cookie, { code: codeOf(secret) });
    const [recoveryCode] = confirmed.body.recoveryCodes as string[];
    const cookie = sessionCookie(confirmed);
    await eventually(async () => (await at(replica.baseUrl, user.cookie)).status === 401);
    expect((await asUser("", cookie)).body).toMatchObject({
      available: true,
      onSince: expect.any(String) as string,
      recoveryCodesLeft: 10,
    });

    const first = await logIn(user.email, PASSWORD);
    expect([first.status, first.headers["set-cookie"], first.body.user]).toEqual([202, undefined, undefined]);
    const step = (code: string | undefined) => platform.send("/api/auth/login/code", { json: { pending: first.body.pending, code } });
    expect(await step(wrongCode(secret))).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } });
    const second = await step(codeOf(secret, 1));
    expect((await at(platform.baseUrl, sessionCookie(second))).status).toBe(200);
    expect((await step(recoveryCode)).status).toBe(401);

    const off = (json: object) => asUser("/disable", sessionCookie(second), json);
    expect((await off({ password: PASSWORD, code: wrongCode(secret) })).status).toBe(401);
    expect((await off({ password: PASSWORD, code: recoveryCode })).status).toBe(204);
    expect((await logIn(user.email, PASSWORD)).status).toBe(200);
  });

  it("is reset only by an administrator, with an audit row", async () => {
    const user = await platform.createUser({ tier: "free" });
    const headers = platform.bySession(user);
    const { secret } = (await platform.send("/api/auth/second-factor", { json: { password: PASSWORD }, headers })).body as unknown as {
      secret: string;
    };
    await platform.send("/api/auth/second-factor/confirm", { json: { code: codeOf(secret) }, headers });
    expect((await asAdmin(`/api/admin/users/${user.id}`, undefined, "GET")).body).toMatchObject({ secondFactor: true });
    const path = `/api/admin/users/${user.id}/second-factor`;
    expect((await platform.send(path, { method: "DELETE", headers: platform.byKey(await platform.createUser()) })).status).toBe(403);
    expect((await asAdmin(path, undefined, "DELETE")).status).toBe(204);
    expect((await logIn(user.email, PASSWORD)).status).toBe(200);
    const audit = await platform.send("/api/admin/audit?limit=1", { headers: platform.bySession(platform.admin) });
    expect((audit.body.rows as unknown[])[0]).toMatchObject({ action: "user.second-factor-reset", target: user.id, outcome: "done" });
  });
});

describe("a sign-in by the provider", () => {
  const CALLBACK = "/api/auth/oidc/callback";
  const OIDC_COOKIE = /^nodeloom_oidc=[^;]+/;
  const person = (claims: object = {}) => {
    const email = `${randomUUID()}@nodeloom.test`;
    return { sub: randomUUID(), email, claims: { email, email_verified: true, ...claims } };
  };
  /** Starts in a browser and returns from the provider. */
  const visit = async (identity: ReturnType<typeof person>) => {
    await provider.become(identity);
    const redirect = await platform.send("/api/auth/oidc/start?returnTo=/workflows%3Fq=film");
    const cookie = OIDC_COOKIE.exec(redirect.headers["set-cookie"]?.[0] ?? "")?.[0] ?? "";
    const back = new URL(await browse(String(redirect.headers.location), platform.baseUrl + CALLBACK));
    return { redirect, cookie, path: back.pathname + back.search };
  };

  it("starts at the provider and ends with a session on the requested page, with the credits of the tier", async () => {
    expect((await platform.send("/api/auth/methods")).body).toEqual({ password: true, oidc: { name: "Example" } });
    const ada = person({ groups: ["film"] });
    const { redirect, cookie, path } = await visit(ada);
    expect(redirect.status).toBe(303);
    expect(redirect.headers["set-cookie"]?.[0]).toMatch(
      /^nodeloom_oidc=[\w-]{43}; Max-Age=600; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
    const came = await platform.send(path, { headers: { cookie } });
    expect([came.status, came.headers.location]).toEqual([303, `${platform.baseUrl}/workflows?q=film`]);
    const session = { cookie: sessionCookie(came) };
    const me = await platform.send("/api/me", { headers: session });
    expect(me.body).toMatchObject({ user: { email: ada.email, approved: true, tier: "pro" }, credits: { plan: 2_000 } });
    expect((await platform.send("/api/auth/oidc", { headers: session })).body).toMatchObject({ linkedAt: expect.any(String) as string });
  });

  it("fails without the cookie of the browser that started it, and the sign-in page shows this", async () => {
    const { path } = await visit(person());
    for (const headers of [{}, { cookie: "nodeloom_oidc=another" }] as Record<string, string>[]) {
      const came = await platform.send(path, { headers });
      expect([came.status, came.headers.location]).toEqual([303, `${platform.baseUrl}/#sign-in-failed=state`]);
      expect(JSON.stringify(came.headers["set-cookie"])).not.toContain("nodeloom_session");
    }
  });

  it.each(["//evil.example", "/\\evil.example", "https://evil.example", "evil", "/a\nb"])("doesn't redirect to %j", async (page) => {
    const answer = await platform.send(`/api/auth/oidc/start?returnTo=${encodeURIComponent(page)}`);
    expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
  });

  it("requires the code of an account with a second factor, and the password to link", async () => {
    const user = await platform.createUser({ tier: "free" });
    const ask = (path: string, cookie: string, json: object) =>
      platform.send(`/api/auth${path}`, { json, headers: { cookie, origin: platform.baseUrl } });
    const { secret } = (await ask("/second-factor", user.cookie, { password: PASSWORD })).body as unknown as { secret: string };
    const session = sessionCookie(await ask("/second-factor/confirm", user.cookie, { code: codeOf(secret) }));
    const grace = person();
    await provider.become(grace);
    const linking = await ask("/oidc/link", session, { password: PASSWORD, returnTo: "/account" });
    const back = new URL(await browse(String(linking.body.url), platform.baseUrl + CALLBACK));
    const cookie = `${OIDC_COOKIE.exec(linking.headers["set-cookie"]![0]!)![0]}; ${session}`;
    const linked = await platform.send(back.pathname + back.search, { headers: { cookie } });
    expect(linked.headers.location).toBe(`${platform.baseUrl}/account`);

    const again = await visit(grace);
    const { location } = (await platform.send(again.path, { headers: { cookie: again.cookie } })).headers;
    const [, pending] = /^\/workflows\?q=film#sign-in-code=([\w-]+)$/.exec(String(location).slice(platform.baseUrl.length)) ?? [];
    const completed = await platform.send("/api/auth/login/code", { json: { pending, code: codeOf(secret, 1) } });
    expect(completed.body).toMatchObject({ user: { id: user.id } });
  });
});

describe("a reset link", () => {
  it("is created for the console's page, redeemed once, and appears in the audit log without its token", async () => {
    const user = await platform.createUser({ tier: "free" });
    const reply = await asAdmin(`/api/admin/users/${user.id}/password-reset`, undefined, "POST");
    expect(reply.status).toBe(201);
    const token = String(reply.body.token);
    expect(reply.body.link).toBe(`${platform.baseUrl}/reset-password#token=${token}`);
    const redeem = (password: string) => platform.send("/api/auth/password-reset", { json: { token, new: password } });
    expect((await redeem("password123")).body).toMatchObject({ code: "INVALID_REQUEST", issues: [{ path: "new" }] });
    expect((await redeem(NEXT)).status).toBe(204);
    expect((await redeem("another fine password")).body).toMatchObject({ code: "UNAUTHENTICATED" });
    expect((await logIn(user.email, NEXT)).status).toBe(200);
    const audit = await platform.send("/api/admin/audit", { headers: platform.bySession(platform.admin) });
    expect(audit.body.rows).toContainEqual(expect.objectContaining({ action: "user.password-reset", target: user.id, outcome: "done" }));
    expect(audit.text).not.toContain(token);
  });
});

it("keeps a user's tier and plan credits consistent, however many changes arrive at once", async () => {
  const user = await platform.createUser({ tier: "pro" });
  const path = `/api/admin/users/${user.id}`;
  const headers = platform.bySession(platform.admin);
  const change = (tier: string) => platform.send(path, { method: "PATCH", json: { tier }, headers });
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(["pro", "business", "enterprise", "business"].map(change));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await platform.send(path, { headers });
    const { tier, credits } = body as unknown as { tier: "pro" | "business" | "enterprise"; credits: { plan: number } };
    expect([tier, credits.plan]).toEqual([tier, { pro: 2_000, business: 10_000, enterprise: 50_000 }[tier]]);
  }
});

it("hides the public schemas and templates of a suspended owner, until the suspension ends", async () => {
  const [owner, other] = [await platform.createUser(), await platform.createUser()];
  const creation = { name: `Open ${owner.id}`, isTemplate: true, publicPlayground: true };
  const { body } = await platform.send("/api/workflows", { json: creation, headers: platform.byKey(owner) });
  const path = `/api/workflows/${String(body.slug)}`;
  const statuses = async () => [
    (await platform.send(`${path}/public-schema`)).status,
    (await platform.send(path, { headers: platform.byKey(other) })).status,
  ];
  await patch(owner, { suspended: true });
  expect(await statuses()).toEqual([404, 404]);
  await patch(owner, { suspended: false });
  expect(await statuses()).toEqual([200, 200]);
});

it("lets administrators feature a template, which its summary shows", async () => {
  const owner = await platform.createUser();
  const { body } = await platform.send("/api/workflows", {
    json: { name: `T ${owner.id}`, isTemplate: true },
    headers: platform.byKey(owner),
  });
  const moderate = (json: object) =>
    platform.send(`/api/admin/templates/${String(body.slug)}`, { method: "PATCH", json, headers: platform.bySession(platform.admin) });
  expect((await moderate({ featured: true })).body).toEqual({ slug: body.slug, listed: true, reason: null, featured: true });
  const { body: rows } = await platform.send("/api/workflows?q=T", { headers: platform.byKey(owner) });
  expect((rows as unknown as { slug: string }[]).find(({ slug }) => slug === body.slug)).toMatchObject({ featured: true });
  const both = await moderate({ listed: false, reason: "spam", featured: false });
  expect(both.body).toEqual({ slug: body.slug, listed: false, reason: "spam", featured: false });
  for (const json of [{}, { reason: "x" }, { featured: "yes" }]) expect((await moderate(json)).status).toBe(400);
});
