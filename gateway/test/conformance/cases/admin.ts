import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, exactly, fits, is, pick, refuses, rowsOf } from "../check";
import { eventually, unique, type Actor, type Context } from "../context";
import { greeting, runGraph, runModel, save } from "../graphs";
import type { Answer } from "../../../../test-support/client";

const admin = inSection("D14");

const USER = { id: is.text, email: is.text, role: is.oneOf("user", "admin"), tier: is.text, approved: is.boolean };
/** A model that cases running alone change and restore. */
const SPARE_MODEL = "sandbox-video-pro";

const SPARE_PATH = `/api/admin/models/${SPARE_MODEL}`;
const SHORT = { seconds: 1, sandbox: { latencyMs: 10 } };

const credits = (ctx: Context, user: Actor, change: object) => ctx.admin.post(`/api/admin/users/${user.userId}/credits`, change);

const ROUTES: readonly [method: string, path: string, body?: unknown][] = [
  ["GET", "/api/admin/users"],
  ["PATCH", "/api/admin/users/someone", { approved: true }],
  ["GET", "/api/admin/users/someone/ledger"],
  ["POST", "/api/admin/users/someone/credits", { kind: "topup", amount: 1, note: "" }],
  ["GET", "/api/admin/ledger/check"],
  ["PATCH", `/api/admin/models/${SPARE_MODEL}`, {}],
  ["GET", "/api/admin/tiers/any"],
  ["PUT", "/api/admin/tiers/any", {}],
  ["DELETE", "/api/admin/tiers/any"],
  ["GET", "/api/admin/executions"],
  ["GET", "/api/admin/audit"],
];

const access: Case[] = [
  ...ROUTES.map(([method, path, body]) =>
    admin(`${method} ${path} is for administrators`, async (ctx) => {
      const user = await ctx.shared("enterprise", "admin");
      const options = body === undefined ? {} : { body };
      for (const caller of [user, user.session]) {
        refuses(await caller.call(method, path, options), 403, "CAPABILITY_DENIED", { required: "*" });
      }
      refuses(await ctx.anonymous.call(method, path, options), 401, "UNAUTHENTICATED");
    }),
  ),
  admin("a key with * is sufficient", async (ctx) => {
    const key = await ctx.actor({ role: "admin", grants: ["*"] });
    answers(await key.get("/api/admin/users?limit=1"), 200, { rows: is.list });
  }),
  admin("an administrator's key without * isn't sufficient", async (ctx) => {
    const key = await ctx.actor({ role: "admin", grants: ["workflow:read"] });
    refuses(await key.get("/api/admin/users?limit=1"), 403, "CAPABILITY_DENIED", { required: "*" });
  }),
];

const users: Case[] = [
  admin("users are found by part of their address", async (ctx) => {
    const user = await ctx.actor({ tier: "pro", noKey: true });
    const rows = rowsOf(await ctx.admin.get(`/api/admin/users?q=${user.email.slice(0, 12)}`));
    fits(rows, [{ ...USER, id: user.userId, email: user.email, tier: "pro", approved: true }]);
  }),
  admin("users are filtered by approval", async (ctx) => {
    const waiting = await ctx.actor({ tier: "free", approved: false });
    const usersWaiting = (approved: boolean) => ctx.admin.get(`/api/admin/users?approved=${approved}&q=${waiting.email.slice(0, 12)}`);
    fits(rowsOf(await usersWaiting(false)), [{ id: waiting.userId, approved: false }]);
    assert.deepEqual(rowsOf(await usersWaiting(true)), []);
  }),
  admin("users are listed page by page, each once", async (ctx) => {
    await ctx.shared("pro", "admin");
    const ids: string[] = [];
    let cursor: string | null = "";
    for (let pages = 0; cursor !== null && pages < 5; pages += 1) {
      const page = await ctx.admin.get(`/api/admin/users?limit=3${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
      const rows = rowsOf<{ id: string }>(page);
      assert.ok(rows.length <= 3);
      ids.push(...rows.map(({ id }) => id));
      cursor = pick<string | null>(page, "nextCursor");
    }
    assert.equal(new Set(ids).size, ids.length);
  }),
  admin("approval, tier and role can be changed separately", async (ctx) => {
    const user = await ctx.actor({ tier: "free", approved: false });
    const path = `/api/admin/users/${user.userId}`;
    answers(await ctx.admin.patch(path, { approved: true }), 200, { ...USER, approved: true, tier: "free", role: "user" });
    answers(await ctx.admin.patch(path, { tier: "business" }), 200, { approved: true, tier: "business", role: "user" });
    answers(await ctx.admin.patch(path, { role: "admin" }), 200, { tier: "business", role: "admin" });
    answers(await ctx.admin.patch(path, { role: "user", approved: false }), 200, { role: "user", approved: false });
  }),
  admin("an unknown tier, role or user is rejected", async (ctx) => {
    const path = `/api/admin/users/${(await ctx.shared("pro", "admin")).userId}`;
    refuses(await ctx.admin.patch(path, { tier: `none-${unique()}` }), 400, "INVALID_REQUEST");
    refuses(await ctx.admin.patch(path, { role: "root" }), 400, "INVALID_REQUEST");
    refuses(await ctx.admin.patch(path, { email: "x@y.test" }), 400, "INVALID_REQUEST");
    answers(await ctx.admin.patch("/api/admin/users/nobody", { approved: true }), 404, { code: is.text });
  }),
];

const accounts: Case[] = [
  admin("topup, plan and adjust change the balances they name", async (ctx) => {
    const user = await ctx.actor({ tier: "pro", noKey: true });
    answers(await credits(ctx, user, { kind: "topup", amount: 5.5, note: "gift" }), 200, { credits: { plan: 2_000, topUp: 5.5 } });
    answers(await credits(ctx, user, { kind: "plan", amount: 100, note: "" }), 200, { credits: { topUp: 5.5, plan: is.number } });
    const before = await user.credits();
    answers(await credits(ctx, user, { kind: "adjust", amount: -7, note: "fix" }), 200);
    const after = await user.credits();
    fits(before.plan + before.topUp - after.plan - after.topUp, is.near(7), "taken");
  }),
  admin("an adjustment never goes below zero", async (ctx) => {
    const user = await ctx.actor({ tier: "pro", noKey: true });
    const answer = await credits(ctx, user, { kind: "adjust", amount: -1_000_000, note: "all" });
    const { plan, topUp } = await user.credits();
    assert.ok(plan >= 0 && topUp >= 0);
    if (answer.status === 200) assert.equal(plan + topUp, 0);
    else answers(answer, answer.status, { error: is.text, code: is.text });
  }),
  admin("a grant gives trial runs of a model", async (ctx) => {
    const user = await ctx.actor({ tier: "business", noKey: true });
    answers(await credits(ctx, user, { kind: "grant", model: "sandbox-music", runs: 2, note: "try" }), 200);
    const grant = (await user.credits()).grants.find(({ model }) => model === "sandbox-music");
    fits(grant, { remaining: 2, total: 2 });
  }),
  admin("a grant for a model that doesn't exist is rejected", async (ctx) => {
    const user = await ctx.shared("pro", "admin");
    refuses(await credits(ctx, user, { kind: "grant", model: "no-such-model", runs: 1, note: "" }), 404, "MODEL_NOT_FOUND");
  }),
  admin("an invalid change of credits is rejected", async (ctx) => {
    const user = await ctx.shared("pro", "admin");
    for (const change of [
      {},
      { kind: "gift", amount: 1 },
      { kind: "topup", amount: -1 },
      { kind: "topup", amount: "1" },
      { kind: "topup" },
      { kind: "grant", model: "sandbox-music", runs: 0 },
      { kind: "grant", runs: 1 },
    ]) {
      refuses(await credits(ctx, user, change), 400, "INVALID_REQUEST");
    }
    answers(await ctx.admin.post("/api/admin/users/nobody/credits", { kind: "topup", amount: 1, note: "" }), 404, { code: is.text });
  }),
  admin("a movement of credits happens once under an Idempotency-Key", async (ctx) => {
    const user = await ctx.actor({ tier: "pro", noKey: true });
    const options = { body: { kind: "topup", amount: 3, note: "once" }, headers: { "idempotency-key": unique() } };
    const path = `/api/admin/users/${user.userId}/credits`;
    answers(await ctx.admin.call("POST", path, options), 200);
    answers(await ctx.admin.call("POST", path, options), 200);
    fits(await user.credits(), { topUp: 3 });
  }),
  admin("the ledger shows each movement with amount, note and time", async (ctx) => {
    const user = await ctx.actor({ tier: "pro", noKey: true });
    await credits(ctx, user, { kind: "topup", amount: 3, note: "invoice 7" });
    const rows = rowsOf<{ kind: string }>(await ctx.admin.get(`/api/admin/users/${user.userId}/ledger`));
    fits(
      rows.find(({ kind }) => kind === "topup"),
      { id: is.text, credits: 3, note: "invoice 7", createdAt: is.time },
    );
  }),
  admin("the ledger is read page by page", async (ctx) => {
    const user = await ctx.actor({ tier: "pro", noKey: true });
    for (const amount of [1, 2, 3]) await credits(ctx, user, { kind: "topup", amount, note: "" });
    const first = await ctx.admin.get(`/api/admin/users/${user.userId}/ledger?limit=2`);
    fits(rowsOf(first), [{ credits: 3 }, { credits: 2 }]);
    const cursor = encodeURIComponent(pick(first, "nextCursor"));
    const [next] = rowsOf(await ctx.admin.get(`/api/admin/users/${user.userId}/ledger?limit=2&cursor=${cursor}`));
    fits(next, { credits: 1 });
  }),
];

const TIER = { base: "business", rateLimitPerMinute: 500, markup: 1.25, monthlyCredits: 4_000, concurrency: 7 };

const tiers: Case[] = [
  admin("a tier is created, read, replaced and deleted", async (ctx) => {
    const id = `conformance-${unique()}`;
    const path = `/api/admin/tiers/${id}`;
    answers(await ctx.admin.get(path), 404, { code: is.text });
    answers(await ctx.admin.put(path, TIER), 200, { id, ...TIER });
    answers(await ctx.admin.get(path), 200, exactly({ id, ...TIER }));
    answers(await ctx.admin.put(path, { ...TIER, rateLimitPerMinute: null }), 200, { rateLimitPerMinute: null });
    answers(await ctx.admin.delete(path), 204);
    answers(await ctx.admin.get(path), 404, { code: is.text });
    answers(await ctx.admin.delete(path), 404, { code: is.text });
  }),
  admin("a tier's caps limit what its accounts can have, and null is the platform's ceiling", async (ctx) => {
    const id = `conformance-${unique()}`;
    const path = `/api/admin/tiers/${id}`;
    const caps = {
      budgets: 1,
      keys: 2,
      schedules: 1,
      hooks: 1,
      batches: 1,
      batchRows: 2,
      organizations: 1,
      serviceAccounts: 1,
      uploadMb: 1,
    };
    answers(await ctx.admin.put(path, { ...TIER, caps }), 200, { id, ...TIER, caps });
    const user = await ctx.actor({ tier: id });
    const { session } = user;
    const slug = await save(user, { nodes: [], edges: [] });
    const greet = await save(user, greeting());
    const once = async (post: (number: number) => Promise<Answer>): Promise<void> => {
      const first = await post(1);
      assert.ok(first.status === 200 || first.status === 201, first.text);
      refuses(await post(2), 412, "PRECONDITION_FAILED");
    };
    await once(() => session.post("/api/keys", { name: "second", preset: "read-only" }));
    await once((number) => session.put("/api/budgets", { metadata: { name: "n", value: `${number}` }, credits: 1, window: "day" }));
    await once(() => session.post(`/api/workflows/${greet}/schedules`, { cron: "0 0 1 1 *", paused: true, inputs: { prompt: "a" } }));
    await once(() => session.post(`/api/workflows/${slug}/hooks`, { expression: "", maxCredits: 1 }));
    await once((number) => session.post("/api/organizations", { name: `Org ${number}` }));
    await once((number) =>
      session.post(`/api/organizations/${user.userId}/service-accounts`, { name: `robot ${number}`, capabilities: ["workflow:read"] }),
    );
    const inputs = [{ prompt: "a" }, { prompt: "b" }];
    answers(await user.post(`/api/workflows/${greet}/batches/quote`, { inputs }), 200);
    refuses(await user.post(`/api/workflows/${greet}/batches/quote`, { inputs: [...inputs, {}] }), 400, "INVALID_INPUTS");
    const upload = (bytes: number) =>
      fetch(`${ctx.baseUrl}/api/media`, {
        method: "POST",
        headers: { "x-api-key": user.key, "content-type": "text/csv" },
        body: `a\n${"b".repeat(bytes - 2)}`,
      });
    assert.equal((await upload(1024 * 1024)).status, 201);
    assert.equal((await upload(1024 * 1024 + 1)).status, 413);
    answers(await ctx.admin.put(path, { ...TIER, caps: { budgets: null } }), 200, { caps: exactly({ budgets: null }) });
    await eventually(
      () => session.put("/api/budgets", { metadata: { name: "n", value: "2" }, credits: 1, window: "day" }),
      ({ status }) => status === 200,
    );
  }),
  admin("an invalid tier is rejected", async (ctx) => {
    const put = (change: object) => ctx.admin.put("/api/admin/tiers/conformance-wrong", { ...TIER, ...change });
    for (const change of [
      { base: "free" },
      { base: "gold" },
      { markup: 0 },
      { concurrency: 0 },
      { rateLimitPerMinute: 0 },
      { monthlyCredits: -1 },
      { caps: { keys: 0 } },
      { caps: { batchRows: 100_001 } },
      { caps: { seats: 1 } },
    ]) {
      refuses(await put(change), 400, "INVALID_REQUEST");
    }
  }),
  admin("a built-in tier can't be replaced", async (ctx) => {
    for (const id of ["free", "pro", "business", "enterprise"]) {
      const answer = await ctx.admin.put(`/api/admin/tiers/${id}`, TIER);
      assert.ok(answer.status >= 400 && answer.status < 500, `${id}: ${answer.status}`);
    }
  }),
  admin("a tier with users can't be deleted", async (ctx) => {
    const tier = await ctx.tier("in-use");
    await ctx.actor({ tier, noKey: true });
    const answer = await ctx.admin.delete(`/api/admin/tiers/${tier}`);
    assert.ok(answer.status >= 400 && answer.status < 500, `the status is ${answer.status}`);
  }),
  admin("a changed tier changes what its users pay", async (ctx) => {
    const id = `conformance-${unique()}`;
    answers(await ctx.admin.put(`/api/admin/tiers/${id}`, TIER), 200);
    const user = await ctx.actor({ tier: id });
    const quote = () => user.post("/api/models/sandbox-music/quote", { inputs: { prompt: "x" } });
    answers(await quote(), 200, { estimatedCreditCost: is.near(3.75) });
    answers(await ctx.admin.put(`/api/admin/tiers/${id}`, { ...TIER, markup: 2 }), 200);
    await eventually(quote, ({ body }) => body.estimatedCreditCost === 6);
  }),
];

const models: Case[] = [
  admin(
    "a disabled model is absent until it is enabled again",
    async (ctx) => {
      const user = await ctx.shared("business", "admin");
      answers(await ctx.admin.patch(SPARE_PATH, { enabled: false }), 200, { internalName: SPARE_MODEL, enabled: false });
      try {
        const reply = await eventually(
          () => runModel(user, SPARE_MODEL, SHORT),
          ({ status }) => status !== 200,
        );
        refuses(reply, 404, "MODEL_NOT_FOUND");
        refuses(await user.get(`/api/models/${SPARE_MODEL}`), 404, "MODEL_NOT_FOUND");
        const listed = (await user.get("/api/models")).body as unknown as { internalName: string }[];
        assert.ok(!listed.some(({ internalName }) => internalName === SPARE_MODEL));
      } finally {
        answers(await ctx.admin.patch(SPARE_PATH, { enabled: true }), 200, { enabled: true });
      }
      await eventually(
        () => runModel(user, SPARE_MODEL, SHORT),
        ({ status }) => status === 200,
      );
    },
    { alone: true },
  ),
  admin(
    "a changed price and minimum tier apply to the next run",
    async (ctx) => {
      const [business, enterprise] = [await ctx.shared("business", "admin"), await ctx.shared("enterprise", "admin")];
      const quote = (user: Actor) => user.post(`/api/models/${SPARE_MODEL}/quote`, { inputs: { prompt: "x", seconds: 1 } });
      const change = { price: { perSecondUsd: 0.5 }, minTier: "enterprise" };
      answers(await ctx.admin.patch(SPARE_PATH, change), 200, change);
      try {
        const reply = await eventually(
          () => quote(business),
          ({ status }) => status !== 200,
        );
        refuses(reply, 403, "MODEL_TIER_REQUIRED");
        answers(await quote(enterprise), 200, { estimatedCreditCost: is.near(57.5) });
      } finally {
        answers(await ctx.admin.patch(SPARE_PATH, { price: { perSecondUsd: 0.2 }, minTier: "business" }), 200, { minTier: "business" });
      }
      await eventually(
        () => quote(business),
        ({ status }) => status === 200,
      );
    },
    { alone: true },
  ),
  admin("an unknown model is absent, an invalid change is rejected", async (ctx) => {
    refuses(await ctx.admin.patch("/api/admin/models/no-such-model", { enabled: true }), 404, "MODEL_NOT_FOUND");
    for (const change of [{ enabled: "yes" }, { minTier: "gold" }, { price: { perRunUsd: -1 } }, { provider: {} }]) {
      refuses(await ctx.admin.patch(`/api/admin/models/${SPARE_MODEL}`, change), 400, "INVALID_REQUEST");
    }
  }),
];

const watching: Case[] = [
  admin("every user's executions are listed, by user and by status", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const run = answers(await runGraph(user, greeting()), 200);
    const rows = rowsOf(await ctx.admin.get(`/api/admin/executions?userId=${user.userId}&status=completed`));
    fits(rows, [{ executionId: run.headers.get("x-execution-id"), userId: user.userId, status: "completed" }]);
    assert.deepEqual(rowsOf(await ctx.admin.get(`/api/admin/executions?userId=${user.userId}&status=failed`)), []);
  }),
  admin("every write is an audit row with its actor, change, previous value, new value and time", async (ctx) => {
    const user = await ctx.actor({ tier: "free", approved: false });
    answers(await ctx.admin.patch(`/api/admin/users/${user.userId}`, { approved: true }), 200);
    const { text } = answers(await ctx.admin.get("/api/admin/audit?limit=500"), 200, { rows: is.list });
    const row = (JSON.parse(text) as { rows: object[] }).rows.find((one) => JSON.stringify(one).includes(user.userId));
    assert.ok(row, "the change is not in the audit");
    const adminId = pick(await ctx.admin.get("/api/whoami"), "user.id");
    assert.ok(JSON.stringify(row).includes(adminId), "the audit does not say who");
    fits(row, { before: { approved: false }, after: { approved: true } });
  }),
];

export const adminCases: Case[] = [...access, ...users, ...accounts, ...tiers, ...models, ...watching];
