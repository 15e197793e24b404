import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, exactly, is, pick, refuses } from "../check";
import { eventually, finished } from "../context";
import { clip, greeting, runGraph, save, submitGraph } from "../graphs";

const about = inSection("1");
const identity = inSection("2.7");
const whoami = inSection("4.14");
const me = inSection("D3");

const MONTHLY: Readonly<Record<string, number>> = { free: 100, pro: 2_000, business: 10_000, enterprise: 50_000 };
const plans = inSection("D1");

export const identityCases: Case[] = [
  ...["free", "pro", "business", "enterprise"].map((tier) =>
    identity(`a user of ${tier} sees the tier, with id, e-mail, role and approval`, async (ctx) => {
      const user = await ctx.shared(tier, "identity");
      const expected = exactly({ id: user.userId, email: user.email, role: "user", tier, approved: true });
      answers(await user.session.get("/api/whoami"), 200, exactly({ user: expected }));
    }),
  ),
  identity("a user's tier can be a custom one", async (ctx) => {
    const tier = await ctx.tier("like-pro");
    answers(await (await ctx.actor({ tier })).get("/api/whoami"), 200, { user: { tier } });
  }),
  identity("an administrator has the role admin", async (ctx) => {
    answers(await ctx.admin.get("/api/whoami"), 200, { user: { role: "admin", approved: true } });
  }),
  identity("a new user is not approved", async (ctx) => {
    const user = await ctx.actor({ tier: "free", approved: false });
    answers(await user.session.get("/api/whoami"), 200, { user: { approved: false, tier: "free" } });
  }),
  whoami("returns the same by key and by session", async (ctx) => {
    const user = await ctx.shared("pro", "identity");
    assert.equal((await user.get("/api/whoami")).text, (await user.session.get("/api/whoami")).text);
  }),
  whoami("the deployment's permanent accounts have their roles", async (ctx) => {
    for (const [name, account] of Object.entries(ctx.accounts)) {
      const { session } = await ctx.signIn(account);
      answers(await session.get("/api/whoami"), 200, { user: { email: account.email, approved: name !== "unapproved" } });
    }
  }),
  whoami("/api/me rejects keys", async (ctx) => {
    refuses(await (await ctx.shared("business", "identity")).get("/api/me"), 403, "SESSION_REQUIRED");
  }),
  whoami("/api/me needs a caller", async (ctx) => {
    refuses(await ctx.anonymous.get("/api/me"), 401, "UNAUTHENTICATED");
  }),
  me("/api/me has user, balances, business and onboarding", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const credits = exactly({ plan: 2_000, topUp: 0, held: 0, renewsAt: is.time, grants: is.list });
    const onboarding = exactly({ step: is.text, completed: is.list });
    answers(await user.session.get("/api/me"), 200, exactly({ user: { id: user.userId }, credits, business: null, onboarding }));
  }),
  me("an administrator registers the business of an account, and removes it", async (ctx) => {
    const user = await ctx.actor({ tier: "business", noKey: true });
    const business = { name: "Loom Works Ltd", verified: true };
    for (const value of [business, null]) {
      answers(await ctx.admin.patch(`/api/admin/users/${user.userId}`, { business: value }), 200, { id: user.userId, business: value });
      await eventually(
        async () => pick<unknown>(answers(await user.session.get("/api/me"), 200), "business"),
        (current) => JSON.stringify(current) === JSON.stringify(value),
      );
    }
  }),
  me("onboarding advances with the user's steps", async (ctx) => {
    const user = await ctx.actor({ tier: "free", approved: false });
    const stands = async (step: string, completed: string[]): Promise<void> =>
      void (await eventually(
        async () => JSON.stringify(pick(answers(await user.session.get("/api/me"), 200), "onboarding")),
        (onboarding) => onboarding === JSON.stringify({ step, completed }),
      ));
    await stands("approval", []);
    answers(await ctx.admin.patch(`/api/admin/users/${user.userId}`, { approved: true }), 200);
    await stands("first-workflow", ["approval"]);
    const slug = await save(user.session, greeting());
    await stands("first-run", ["approval", "first-workflow"]);
    answers(await user.session.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    await stands("done", ["approval", "first-workflow", "first-run"]);
  }),
  ...Object.entries(MONTHLY).map(([tier, plan]) =>
    plans(`approval gives a ${tier} account ${plan} plan credits`, async (ctx) => {
      answers(await (await ctx.actor({ tier, noKey: true })).session.get("/api/me"), 200, { credits: { plan, topUp: 0, held: 0 } });
    }),
  ),
  about("a saved workflow takes what its Request Input declares and returns what its Response Output names", async (ctx) => {
    const pro = await ctx.shared("pro", "about");
    answers(await runGraph(pro, greeting(), { prompt: "Ada" }), 200, { result: exactly({ text: "Hello Ada" }) });
  }),
  about("a model runs without a workflow", async (ctx) => {
    const business = await ctx.shared("business", "about");
    answers(await business.post("/api/models/sandbox-chat/run", { inputs: { prompt: "hi" } }), 200, { result: { text: is.text } });
  }),
  about("a run waits unless it is requested as asynchronous", async (ctx) => {
    const pro = await ctx.shared("pro", "about");
    answers(await runGraph(pro, clip({ latencyMs: 20 })), 200, { success: true });
    answers(await finished(pro, await submitGraph(pro, clip({ latencyMs: 20 }))), 200, { status: "completed" });
  }),
];
