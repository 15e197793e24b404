import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses, rowsOf } from "../check";
import { eventually, finished, unique, type Actor, type Context } from "../context";
import type { Answer } from "../../../../test-support/client";
import { clip, greeting, picture, save, submitGraph } from "../graphs";

const accounts = inSection("D3");
const admin = inSection("D14");
const usage = inSection("4.13");
const me = inSection("4.14");
const models = inSection("D11");
const executions = inSection("D7");

const NEXT = "a loom of many colours";
const SLOW_MS = 600_000;

const patch = (ctx: Context, user: Actor, change: object): Promise<Answer> => ctx.admin.patch(`/api/admin/users/${user.userId}`, change);
const logIn = (ctx: Context, { email }: Actor, password: string): Promise<Answer> =>
  ctx.anonymous.post("/api/auth/login", { email, password });
const becomes = (ask: () => Promise<Answer>, status: number, code?: string): Promise<Answer> =>
  eventually(ask, (answer) => answer.status === status && (code === undefined || answer.body.code === code));

const approval: Case[] = [
  accounts("an unapproved account can read and edit its draft", async (ctx) => {
    const { session } = await ctx.actor({ tier: "free", approved: false });
    const slug = await save(session, greeting());
    answers(await session.put(`/api/workflows/${slug}`, { description: "mine" }), 200);
    for (const path of ["/api/workflows", `/api/workflows/${slug}/schema`, "/api/models", "/api/usage", "/api/me", "/api/executions"]) {
      answers(await session.get(path), 200);
    }
  }),
  accounts("an unapproved account can't quote or run a model", async (ctx) => {
    const { session } = await ctx.actor({ tier: "business", approved: false });
    const slug = await save(session, greeting());
    for (const path of [`/api/workflows/${slug}/quote`, `/api/models/sandbox-chat/quote`, `/api/models/sandbox-chat/run`]) {
      refuses(await session.post(path, { inputs: {} }), 403, "ACCOUNT_NOT_APPROVED");
    }
  }),
  accounts("an unapproved account can't create keys; a Free one never can", async (ctx) => {
    const make = (user: Actor) => user.session.post("/api/keys", { name: "x", preset: "read-only" });
    refuses(await make(await ctx.actor({ tier: "pro", approved: false })), 403, "ACCOUNT_NOT_APPROVED");
    refuses(await make(await ctx.actor({ tier: "free", approved: false })), 403, "API_KEY_ACCESS_DENIED");
    refuses(await make(await ctx.actor({ tier: "free" })), 403, "API_KEY_ACCESS_DENIED");
  }),
  accounts("withdrawing approval ends sessions, keys and runs; signing in stays possible", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const id = await submitGraph(user, clip({ latencyMs: SLOW_MS }));
    answers(await patch(ctx, user, { approved: false }), 200, { approved: false, suspended: false });
    await becomes(() => user.get("/api/whoami"), 401, "UNAUTHENTICATED");
    await becomes(() => user.session.get("/api/whoami"), 401, "UNAUTHENTICATED");
    const again = await ctx.signIn(user);
    answers(await finished(again.session, id), 200, { status: "cancelled" });
    assert.deepEqual(answers(await again.session.get("/api/keys"), 200).body, []);
    answers(await patch(ctx, user, { approved: true }), 200);
    answers(await again.session.get("/api/whoami"), 200);
    await becomes(() => user.get("/api/whoami"), 401, "UNAUTHENTICATED");
  }),
];

const suspension: Case[] = [
  accounts("a suspension ends sessions, rejects keys and sign-ins, and cancels running executions", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const id = await submitGraph(user, clip({ latencyMs: SLOW_MS }));
    answers(await patch(ctx, user, { suspended: true }), 200, { suspended: true, approved: true });
    await becomes(() => user.get("/api/whoami"), 403, "ACCOUNT_SUSPENDED");
    await becomes(() => user.session.get("/api/whoami"), 403, "ACCOUNT_SUSPENDED");
    refuses(await logIn(ctx, user, user.password), 403, "ACCOUNT_SUSPENDED");
    refuses(await logIn(ctx, user, "not the password"), 401, "UNAUTHENTICATED");
    await eventually(
      () => ctx.admin.get(`/api/admin/executions?userId=${user.userId}`),
      (page) => rowsOf(page).some(({ executionId, status }) => executionId === id && status === "cancelled"),
    );
    answers(await patch(ctx, user, { suspended: false }), 200, { suspended: false });
    await becomes(() => user.get("/api/whoami"), 200);
    await becomes(() => user.session.get("/api/whoami"), 401, "UNAUTHENTICATED");
    answers(await logIn(ctx, user, user.password), 200);
  }),
  admin("a user is shown with balances", async (ctx) => {
    const user = await ctx.actor({ tier: "pro", noKey: true });
    answers(await ctx.admin.get(`/api/admin/users/${user.userId}`), 200, {
      id: user.userId,
      tier: "pro",
      suspended: false,
      credits: { plan: 2_000, topUp: 0, held: 0, grants: is.list },
    });
    refuses(await ctx.admin.get("/api/admin/users/nobody"), 404, "NOT_FOUND");
    refuses(await user.session.get(`/api/admin/users/${user.userId}`), 403, "CAPABILITY_DENIED");
  }),
];

const passwords: Case[] = [
  accounts("a password has 10 to 200 characters, isn't common, and isn't the address", async (ctx) => {
    const email = `${unique()}-long-enough@conformance.test`;
    for (const password of ["k7#vQ2m!x", "y7".repeat(101), "password123", "1234567890", email]) {
      const refusal = refuses(await ctx.anonymous.post("/api/auth/register", { email, password }), 400, "INVALID_REQUEST");
      assert.deepEqual(
        pick<{ path: string }[]>(refusal, "issues").map(({ path }) => path),
        ["password"],
      );
    }
    answers(await ctx.anonymous.post("/api/auth/register", { email, password: "k7#vQ2m!xp" }), 201);
  }),
  accounts("a changed password ends all other sessions", async (ctx) => {
    const user = await ctx.actor({ tier: "free" });
    const { session } = await ctx.signIn(user);
    refuses(await session.post("/api/auth/password", { current: "not this", new: NEXT }), 401, "UNAUTHENTICATED");
    refuses(await session.post("/api/auth/password", { current: user.password, new: "short" }), 400, "INVALID_REQUEST");
    const changed = answers(await session.post("/api/auth/password", { current: user.password, new: NEXT }), 204);
    const cookie = changed.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    answers(await ctx.anonymous.call("GET", "/api/whoami", { headers: { cookie } }), 200);
    await becomes(() => user.session.get("/api/whoami"), 401, "UNAUTHENTICATED");
    refuses(await logIn(ctx, user, user.password), 401, "UNAUTHENTICATED");
    answers(await logIn(ctx, user, NEXT), 200);
  }),
  accounts("a password can be changed only with a session", async (ctx) => {
    const user = await ctx.shared("pro", "sessions");
    refuses(await user.post("/api/auth/password", { current: user.password, new: NEXT }), 403, "SESSION_REQUIRED");
  }),
  accounts("signing out everywhere ends all sessions", async (ctx) => {
    const user = await ctx.actor({ tier: "free" });
    const { session } = await ctx.signIn(user);
    answers(await session.post("/api/auth/logout", { everywhere: true }), 204);
    for (const endedSession of [session, user.session]) await becomes(() => endedSession.get("/api/whoami"), 401, "UNAUTHENTICATED");
    answers(await logIn(ctx, user, user.password), 200);
  }),
  accounts("an administrator's link sets a password once, and ends all sessions", async (ctx) => {
    const user = await ctx.actor({ tier: "free" });
    const reset = answers(await ctx.admin.post(`/api/admin/users/${user.userId}/password-reset`), 201, {
      link: is.like(/#token=/),
      token: is.text,
      expiresAt: is.time,
    });
    const token = pick(reset, "token");
    const redeem = (password: string) => ctx.anonymous.post("/api/auth/password-reset", { token, new: password });
    refuses(await redeem("short"), 400, "INVALID_REQUEST");
    answers(await redeem(NEXT), 204);
    refuses(await redeem("another fine password"), 401, "UNAUTHENTICATED");
    await becomes(() => user.session.get("/api/whoami"), 401, "UNAUTHENTICATED");
    answers(await logIn(ctx, user, NEXT), 200);
    refuses(await user.session.post(`/api/admin/users/${user.userId}/password-reset`), 401, "UNAUTHENTICATED");
    refuses(await ctx.admin.post("/api/admin/users/nobody/password-reset"), 404, "NOT_FOUND");
  }),
  accounts("failed sign-ins never lock an address that has signed in before", async (ctx) => {
    const user = await ctx.actor({ tier: "free" });
    for (let failures = 0; failures < 12; failures += 1) await logIn(ctx, user, "not the password");
    const reply = await logIn(ctx, user, user.password);
    if (reply.status !== 200) {
      refuses(reply, 429, "RATE_LIMIT_EXCEEDED");
      assert.ok(pick<number>(reply, "retryAfter") <= 30);
      await eventually(
        () => logIn(ctx, user, user.password),
        ({ status }) => status === 200,
      );
    }
  }),
];

const grants: Case[] = [
  accounts("a key that can start runs but not poll them is created with a warning", async (ctx) => {
    const { session } = await ctx.shared("pro", "grants of keys");
    const make = (body: object) => session.post("/api/keys", { name: "warned", ...body });
    const { warnings } = answers(await make({ preset: "workflow-deploy" }), 201).body;
    assert.match(JSON.stringify(warnings), /execution:read/);
    answers(await make({ capabilities: ["workflow:run", "execution:read"] }), 201, { warnings: is.absent });
    answers(await make({ preset: "read-only" }), 201, { warnings: is.absent });
  }),
  accounts("a key's capabilities can be edited, within the ceiling", async (ctx) => {
    const user = await (await ctx.shared("pro", "grants of keys")).withKey(["execution:read"]);
    const path = `/api/keys/${user.keyId}`;
    refuses(await user.get("/api/workflows"), 403, "CAPABILITY_DENIED");
    answers(await user.session.patch(path, { capabilities: ["workflow:read"] }), 200, {
      id: user.keyId,
      preset: "custom",
      capabilities: ["workflow:read"],
      key: is.absent,
    });
    await becomes(() => user.get("/api/workflows"), 200);
    refuses(await user.session.patch(path, { capabilities: ["model:run"] }), 403, "CAPABILITY_ABOVE_CEILING");
    refuses(await user.session.patch(path, { capabilities: [] }), 400, "INVALID_REQUEST");
    refuses(await user.session.patch(path, { capabilities: ["fly"] }), 400, "INVALID_REQUEST");
    refuses(await user.session.patch(path, {}), 400, "INVALID_REQUEST");
    answers(await user.session.patch(path, { name: "renamed" }), 200, { name: "renamed", capabilities: ["workflow:read"] });
  }),
];

const numbers: Case[] = [
  usage("credits are summed up by day and model, runs from the editor included", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const slug = await save(user, picture({ sandbox: { latencyMs: 10 } }));
    answers(await user.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    answers(await user.session.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    const summary = await eventually(
      () => user.get("/api/usage/summary"),
      ({ body }) => Number(body.runs) === 2,
    );
    answers(summary, 200, {
      from: is.text,
      to: is.text,
      creditsCost: is.near(1.04),
      days: [{ runs: 2, creditsCost: is.near(1.04), models: [{ model: "sandbox-image-fast", runs: 2, creditsCost: is.near(1.04) }] }],
    });
    answers(await user.get("/api/usage/summary?source=canvas"), 200, { runs: 1, creditsCost: is.near(0.52) });
  }),
  me("/api/me/ledger lists the caller's own movements", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const rows = rowsOf(await user.session.get("/api/me/ledger"));
    assert.ok(rows.some(({ kind, credits }) => kind === "plan_renewal" && Number(credits) === 2_000));
    refuses(await user.get("/api/me/ledger"), 403, "SESSION_REQUIRED");
  }),
  models("a model shows the price for the caller's tier", async (ctx) => {
    const price = (tier: string) => async () => (await ctx.shared(tier, "prices")).session.get("/api/models/sandbox-image");
    answers(await price("free")(), 200, { tierPrice: { perImageCredits: 4 } });
    answers(await price("pro")(), 200, { tierPrice: { perImageCredits: 3 } });
  }),
  executions("runs from the editor are listed for the session's user", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const slug = await save(user.session, greeting());
    answers(await user.session.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    assert.equal(rowsOf(await user.session.get(`/api/executions?workflowSlug=${slug}`)).length, 1);
    assert.deepEqual(rowsOf(await user.get("/api/usage")), []);
  }),
];

export const accountCases: Case[] = [...approval, ...suspension, ...passwords, ...grants, ...numbers];
