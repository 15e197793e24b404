import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import { eventually, finished, submitted, type Actor, type Context } from "../context";
import { clip, greeting, runGraph, save, submitGraph } from "../graphs";

const limits = inSection("8");
const rates = inSection("D5");
/** Deadline for a dozen runs in turn, in parallel with seven other cases. */
const MANY_RUNS = { deadlineMs: 400_000 };
const errors = inSection("7");

const WINDOW_SECONDS = 60;
const PER_MINUTE = 3;
/** Longer than any case, because these runs are cancelled. */
const LONG = { latencyMs: 600_000 };

const header = (headers: Headers, name: string): number => {
  const value = headers.get(name);
  assert.ok(value !== null && /^\d+$/.test(value), `${name} is ${value}`);
  return Number(value);
};
const tight = async (ctx: Context): Promise<Actor> =>
  ctx.actor({ tier: await ctx.tier("tight-business", { rateLimitPerMinute: PER_MINUTE, base: "business" }) });
const exhaust = async (ask: () => ReturnType<Actor["get"]>, count = PER_MINUTE): Promise<void> => {
  for (let remaining = count; remaining > 0; remaining -= 1) assert.notEqual((await ask()).status, 429);
};

const foreignIds: Case[] = [
  rates("foreign ids share one bucket for polls, cancels and events; the caller's own ids don't", async (ctx) => {
    const user = await tight(ctx);
    const own = answers(await user.post("/api/models/sandbox-chat/run", { inputs: { prompt: "x" } }), 200).headers.get("x-execution-id");
    const asks = [
      () => user.get(`/api/executions/${randomUUID()}`),
      () => user.post(`/api/executions/${randomUUID()}/cancel`),
      () => user.get(`/api/executions/${randomUUID()}/events`),
    ];
    for (const ask of asks) refuses(await ask(), 404, "EXECUTION_NOT_FOUND");
    for (const ask of asks) refuses(await ask(), 429, "RATE_LIMIT_EXCEEDED", { limit: PER_MINUTE });
    answers(await user.get(`/api/executions/${own}`), 200);
  }),
];

const headers: Case[] = [
  ...(
    [
      ["free", 60],
      ["pro", 100],
      ["business", 1_000],
    ] as const
  ).map(([tier, limit]) =>
    limits(`a ${tier} user can send ${limit} requests a minute to a route`, async (ctx) => {
      const user = await ctx.actor({ tier, noKey: true });
      const answer = answers(await user.session.get("/api/models"), 200);
      assert.equal(header(answer.headers, "x-ratelimit-limit"), limit);
      assert.equal(header(answer.headers, "x-ratelimit-remaining"), limit - 1);
    }),
  ),
  limits("an enterprise user has no limit, and gets no limit headers", async (ctx) => {
    const answer = answers(await (await ctx.shared("enterprise", "limits")).get("/api/whoami"), 200);
    for (const name of ["limit", "remaining", "reset"]) assert.equal(answer.headers.get(`x-ratelimit-${name}`), null);
  }),
  limits("both run routes have the headers", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const slug = await save(user, greeting());
    const workflow = answers(await user.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    const model = answers(await user.post("/api/models/sandbox-chat/run", { inputs: { prompt: "x" } }), 200);
    for (const answer of [workflow, model]) assert.equal(header(answer.headers, "x-ratelimit-remaining"), 999);
  }),
  limits("the remaining number decreases by one with each request", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const remainders: number[] = [];
    for (let remaining = 4; remaining > 0; remaining -= 1)
      remainders.push(header((await user.get("/api/usage")).headers, "x-ratelimit-remaining"));
    assert.deepEqual(remainders, [99, 98, 97, 96]);
  }),
  limits("the reset is a Unix second within the next minute, the same for the whole window", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const [first, second] = [await user.get("/api/usage"), await user.get("/api/usage")].map((answer) =>
      header(answer.headers, "x-ratelimit-reset"),
    );
    const now = Date.now() / 1_000;
    assert.ok(first! > now && first! <= now + WINDOW_SECONDS + 1, `reset is ${first! - now} s away`);
    assert.ok(Math.abs(first! - second!) <= 1);
  }),
  limits("a pro user's 101st request in a minute is rejected", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const all = await Promise.all(Array.from({ length: 101 }, () => user.get("/api/whoami")));
    assert.equal(all.filter(({ status }) => status === 200).length, 100);
    assert.equal(all.filter(({ status }) => status === 429).length, 1);
  }),
  errors("RATE_LIMIT_EXCEEDED has tier, limit and retryAfter", async (ctx) => {
    const user = await tight(ctx);
    await exhaust(() => user.get("/api/whoami"));
    refuses(await user.get("/api/whoami"), 429, "RATE_LIMIT_EXCEEDED", {
      tier: "conformance-tight-business",
      limit: PER_MINUTE,
      retryAfter: is.positive,
    });
  }),
  limits("a 429 has the limit's headers and Retry-After", async (ctx) => {
    const user = await tight(ctx);
    await exhaust(() => user.get("/api/whoami"));
    const answer = refuses(await user.get("/api/whoami"), 429, "RATE_LIMIT_EXCEEDED");
    assert.equal(header(answer.headers, "x-ratelimit-limit"), PER_MINUTE);
    assert.equal(header(answer.headers, "x-ratelimit-remaining"), 0);
    const retryAfter = header(answer.headers, "retry-after");
    assert.equal(retryAfter, pick<number>(answer, "retryAfter"));
    assert.ok(Math.abs(header(answer.headers, "x-ratelimit-reset") - Date.now() / 1_000 - retryAfter) <= WINDOW_SECONDS / 2);
  }),
  limits(
    "after the reset a new window starts",
    async (ctx) => {
      const user = await tight(ctx);
      await exhaust(() => user.get("/api/whoami"));
      const refusal = refuses(await user.get("/api/whoami"), 429, "RATE_LIMIT_EXCEEDED");
      await new Promise((resolve) => setTimeout(resolve, header(refusal.headers, "retry-after") * 1_000 + 100));
      answers(await user.get("/api/whoami"), 200);
    },
    { deadlineMs: 310_000 },
  ),
];

const buckets: Case[] = [
  limits("each route has a separate bucket, including both run routes", async (ctx) => {
    const user = await tight(ctx);
    const slug = await save(user, greeting());
    await exhaust(() => user.post(`/api/workflows/${slug}/run`, { inputs: {} }));
    refuses(await user.post(`/api/workflows/${slug}/run`, { inputs: {} }), 429, "RATE_LIMIT_EXCEEDED");
    answers(await user.post("/api/models/sandbox-chat/run", { inputs: { prompt: "x" } }), 200);
    answers(await user.get("/api/workflows"), 200);
  }),
  limits("all resources of a route share its bucket", async (ctx) => {
    const user = await tight(ctx);
    await exhaust(() => user.get("/api/workflows/one"), 2);
    await exhaust(() => user.get("/api/workflows/two"), 1);
    refuses(await user.get("/api/workflows/three"), 429, "RATE_LIMIT_EXCEEDED");
  }),
  limits("all keys and the session of a user share the bucket", async (ctx) => {
    const user = await tight(ctx);
    const other = await user.withKey(["workflow:read"]);
    await exhaust(() => user.get("/api/usage"), 1);
    await exhaust(() => other.get("/api/usage"), 1);
    await exhaust(() => user.session.get("/api/usage"), 1);
    refuses(await other.get("/api/usage"), 429, "RATE_LIMIT_EXCEEDED");
  }),
  limits("users don't share buckets", async (ctx) => {
    const [one, two] = [await tight(ctx), await tight(ctx)];
    await exhaust(() => one.get("/api/usage"));
    answers(await two.get("/api/usage"), 200);
  }),
  limits("the limit depends on the tier, not on the key's grants", async (ctx) => {
    const user = await ctx.actor({ tier: "pro", grants: ["webhook:receive"] });
    assert.equal(header((await user.get("/api/whoami")).headers, "x-ratelimit-limit"), 100);
  }),
  limits("concurrent requests can't exceed the limit", async (ctx) => {
    const user = await tight(ctx);
    const all = await Promise.all(Array.from({ length: 12 }, () => user.get("/api/whoami")));
    assert.equal(all.filter(({ status }) => status === 200).length, PER_MINUTE);
  }),
  rates("methods of one path are counted separately", async (ctx) => {
    const user = await tight(ctx);
    await exhaust(() => user.get("/api/folders"));
    answers(await user.post("/api/folders", { name: "F" }), 201);
  }),
  rates("polls are counted per execution", async (ctx) => {
    const user = await tight(ctx);
    const [one, two] = [await runGraph(user, greeting()), await runGraph(user, greeting())].map(({ headers: own }) =>
      own.get("x-execution-id"),
    );
    await exhaust(() => user.get(`/api/executions/${one}`));
    refuses(await user.get(`/api/executions/${one}`), 429, "RATE_LIMIT_EXCEEDED");
    answers(await user.get(`/api/executions/${two}`), 200);
  }),
  rates("a changed tier changes the limit", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    answers(await ctx.admin.patch(`/api/admin/users/${user.userId}`, { tier: "business" }), 200);
    await eventually(
      () => user.get("/api/whoami"),
      ({ headers: own }) => own.get("x-ratelimit-limit") === "1000",
    );
  }),
  rates(
    "anonymous requests are limited per address",
    async (ctx) => {
      for (let remaining = 2_000; remaining > 0; remaining -= 50) {
        const all = await Promise.all(Array.from({ length: 50 }, () => ctx.anonymous.get("/api/workflows/nothing/public-schema")));
        const refusal = all.find(({ status }) => status === 429);
        if (!refusal) continue;
        refuses(refusal, 429, "RATE_LIMIT_EXCEEDED", { retryAfter: is.positive });
        assert.ok(header(refusal.headers, "retry-after") > 0);
        answers(await (await ctx.shared("enterprise", "limits")).get("/api/whoami"), 200);
        return;
      }
      assert.fail("2,000 anonymous requests were let through");
    },
    { alone: true },
  ),
];

const stopAll = async (user: Actor, ids: readonly string[]): Promise<void> => {
  for (const id of ids) await user.post(`/api/executions/${id}/cancel`);
  for (const id of ids) await finished(user, id);
};

const concurrency: Case[] = [
  ...(
    [
      ["pro", 10],
      ["conformance-one-at-a-time", 1],
    ] as const
  ).map(([tier, count]) =>
    rates(
      `a user of ${tier} has at most ${count} running executions, and the next one is queued`,
      async (ctx) => {
        await ctx.tier("one-at-a-time", { concurrency: 1, base: "business" });
        const user = await ctx.actor({ tier });
        const slug = await save(user, clip(LONG));
        const submit = (headers = {}) => user.call("POST", `/api/workflows/${slug}/run?async=true`, { body: { inputs: {} }, headers });
        const ids: string[] = [];
        for (let remaining = count; remaining > 0; remaining -= 1) ids.push(pick(answers(await submit(), 202), "executionId"));
        const heldCredits = (await user.credits()).held;
        const answer = refuses(await submit({ prefer: "no-queue" }), 429, "CONCURRENCY_LIMIT_EXCEEDED", {
          limit: count,
          retryAfter: is.positive,
        });
        assert.ok(header(answer.headers, "retry-after") > 0);
        assert.equal((await user.credits()).held, heldCredits);
        const next = pick(answers(await submit(), 202), "executionId");
        answers(await user.get(`/api/executions/${next}`), 200, { status: "processing", queued: true, position: 1 });
        await user.post(`/api/executions/${ids[0]!}/cancel`);
        answers(await submitted(user, next), 200, { status: "processing" });
        await stopAll(user, [...ids, next]);
      },
      MANY_RUNS,
    ),
  ),
  rates("if a changed or different tier has more places, queued runs start", async (ctx) => {
    const settings = { base: "business", rateLimitPerMinute: null, markup: 1.5, monthlyCredits: 2_000 };
    const tier = await ctx.tier("growing", { ...settings, concurrency: 1 });
    const user = await ctx.actor({ tier });
    const slug = await save(user, clip(LONG));
    const submit = async (): Promise<string> =>
      pick(answers(await user.post(`/api/workflows/${slug}/run?async=true`, { inputs: {} }), 202), "executionId");
    const [first, second, third] = [await submit(), await submit(), await submit()];
    answers(await user.get(`/api/executions/${third}`), 200, { queued: true, position: 2 });
    answers(await ctx.admin.put(`/api/admin/tiers/${tier}`, { ...settings, concurrency: 2 }), 200);
    answers(await submitted(user, second), 200, { status: "processing" });
    answers(await user.get(`/api/executions/${third}`), 200, { queued: true, position: 1 });
    answers(await ctx.admin.patch(`/api/admin/users/${user.userId}`, { tier: "pro" }), 200);
    answers(await submitted(user, third), 200, { status: "processing" });
    answers(await ctx.admin.put(`/api/admin/tiers/${tier}`, { ...settings, concurrency: 1 }), 200);
    await stopAll(user, [first, second, third]);
  }),
  rates("a Free user has one running execution, and can cancel queued ones", async (ctx) => {
    const free = await ctx.actor({ tier: "free" });
    const graph = { nodes: [slowPicture()], edges: [] };
    const id = await submitGraph(free.session, graph);
    const slug = await save(free.session, { ...graph, isTemplate: true });
    const run = (headers: Record<string, string>) =>
      free.session.call("POST", `/api/workflows/${slug}/run?async=true`, { body: { inputs: {} }, headers });
    refuses(await run({ prefer: "no-queue" }), 429, "CONCURRENCY_LIMIT_EXCEEDED", { limit: 1 });
    const waiting = pick(answers(await run({}), 202), "executionId");
    answers(await free.session.post("/api/executions/cancel", { queued: true }), 200, {});
    answers(await finished(free.session, waiting), 200, { status: "cancelled", creditsCost: 0 });
    await free.session.post(`/api/executions/${id}/cancel`);
  }),
];

/** A picture from a slow, polled model. */
const slowPicture = (): object => ({
  id: "pic",
  type: "generate-image",
  position: { x: 0, y: 0 },
  data: { model: "sandbox-image", inputs: { prompt: "x", sandbox: LONG } },
});

export const limitCases: Case[] = [...foreignIds, ...headers, ...buckets, ...concurrency];
