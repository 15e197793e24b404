import assert from "node:assert/strict";
import { codeOf, wrongCode } from "../../../../test-support/authenticator";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import type { Actor, Context } from "../context";

const signIn = inSection("D24");

const FACTOR = "/api/auth/second-factor";
const RECOVERY_CODES = 10;

const withSecondFactor = async (ctx: Context): Promise<{ user: Actor; session: Actor["session"]; secret: string; codes: string[] }> => {
  const user = await ctx.actor({ tier: "free" });
  const factor = answers(await user.session.post(FACTOR, { password: user.password }), 201, {
    secret: is.text,
    url: is.like(/^otpauth:\/\/totp\//),
  });
  const secret = pick<string>(factor, "secret");
  const confirmed = answers(await user.session.post(`${FACTOR}/confirm`, { code: codeOf(secret) }), 200);
  const cookie = confirmed.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const session = { ...user.session, post: (path: string, body?: unknown) => user.session.call("POST", path, { cookie, body }) };
  return { user, session, secret, codes: pick<string[]>(confirmed, "recoveryCodes") };
};

const begin = async (ctx: Context, { email, password }: Actor): Promise<string> =>
  pick(
    answers(await ctx.anonymous.post("/api/auth/login", { email, password }), 202, {
      pending: is.text,
      expiresAt: is.time,
      user: is.absent,
    }),
    "pending",
  );
const complete = (ctx: Context, pending: string, code: string) => ctx.anonymous.post("/api/auth/login/code", { pending, code });

export const signInCases: Case[] = [
  signIn("a second factor is enabled with the password and a code, and the response has ten recovery codes", async (ctx) => {
    const user = await ctx.actor({ tier: "free" });
    answers(await user.session.get(FACTOR), 200, { available: true, onSince: null, recoveryCodesLeft: 0 });
    refuses(await user.session.post(FACTOR, { password: "not the password" }), 401, "UNAUTHENTICATED");
    refuses(await user.session.post(`${FACTOR}/confirm`, { code: "123456" }), 412, "PRECONDITION_FAILED");
    const { codes } = await withSecondFactor(ctx);
    assert.equal(new Set(codes).size, RECOVERY_CODES);
  }),
  signIn("with a second factor, signing in needs a code, and a code works once", async (ctx) => {
    const { user, secret } = await withSecondFactor(ctx);
    const pending = await begin(ctx, user);
    refuses(await complete(ctx, pending, wrongCode(secret)), 401, "UNAUTHENTICATED");
    const code = codeOf(secret, 1);
    answers(await complete(ctx, pending, code), 200, { user: { id: user.userId } });
    refuses(await complete(ctx, pending, codeOf(secret, 1)), 401, "UNAUTHENTICATED");
    refuses(await complete(ctx, await begin(ctx, user), code), 401, "UNAUTHENTICATED");
  }),
  signIn("a recovery code replaces a code once", async (ctx) => {
    const { user, codes } = await withSecondFactor(ctx);
    answers(await complete(ctx, await begin(ctx, user), codes[0]!), 200);
    refuses(await complete(ctx, await begin(ctx, user), codes[0]!), 401, "UNAUTHENTICATED");
  }),
  signIn("a second factor is disabled with the password and a code", async (ctx) => {
    const { user, session, secret, codes } = await withSecondFactor(ctx);
    const off = (body: object) => session.post(`${FACTOR}/disable`, body);
    refuses(await off({ password: user.password, code: wrongCode(secret) }), 401, "UNAUTHENTICATED");
    refuses(await off({ password: "not the password", code: codes[0]! }), 401, "UNAUTHENTICATED");
    answers(await off({ password: user.password, code: codes[0]! }), 204);
    answers(await ctx.anonymous.post("/api/auth/login", { email: user.email, password: user.password }), 200);
  }),
  signIn("sign-in methods are public; without a provider its routes name the missing setting", async (ctx) => {
    const { oidc } = answers(await ctx.anonymous.get("/api/auth/methods"), 200, { password: true }).body;
    const { status } = await fetch(`${ctx.baseUrl}/api/auth/oidc/start`, { redirect: "manual" });
    assert.equal(status, oidc === null ? 501 : 303);
  }),
  signIn("a reset link keeps a second factor, and an administrator can disable it", async (ctx) => {
    const { user } = await withSecondFactor(ctx);
    const token = pick(answers(await ctx.admin.post(`/api/admin/users/${user.userId}/password-reset`), 201), "token");
    const password = "a loom of many colours";
    answers(await ctx.anonymous.post("/api/auth/password-reset", { token, new: password }), 204);
    await begin(ctx, { ...user, password });
    answers(await ctx.admin.get(`/api/admin/users/${user.userId}`), 200, { secondFactor: true });
    answers(await ctx.admin.delete(`/api/admin/users/${user.userId}/second-factor`), 204);
    answers(await ctx.anonymous.post("/api/auth/login", { email: user.email, password }), 200);
  }),
];
