import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, fits, is, pick, refuses, rowsOf } from "../check";
import { eventually, finished, paced, type Actor, type Context } from "../context";
import { clip, edge, node, picture, refusedSubmit, runGraph, runModel, save, creditsSpent, submitGraph } from "../graphs";

const plans = inSection("D1");
const money = inSection("D2");
const about = inSection("1");

const QUICK = { sandbox: { latencyMs: 10 } };
/** Wholesale price of one picture of `sandbox-image-fast`, in credits. */
const PICTURE = 0.4;

interface Movement {
  kind: string;
  credits: number;
  executionId: string | null;
}
const ledgerOf = async (ctx: Context, user: Actor): Promise<Movement[]> =>
  rowsOf<Movement>(await ctx.admin.get(`/api/admin/users/${user.userId}/ledger?limit=200`));
const give = async (ctx: Context, user: Actor, change: object): Promise<void> =>
  void answers(await ctx.admin.post(`/api/admin/users/${user.userId}/credits`, { note: "conformance", ...change }), 200);

/** A picture, and a clip that starts with it and fails. */
const twoNodes = (fail: string): object => {
  const graph = clip({ latencyMs: 10, fail });
  graph.nodes.push(node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "hi", ...QUICK } }));
  graph.edges.push(edge("pic.image", "clip.image"));
  return graph;
};
const pictures = (count: number, inputs: Record<string, unknown> = QUICK): object => ({
  nodes: Array.from({ length: count }, (_, index) =>
    node(`pic${index}`, "generate-image", { model: "sandbox-image", inputs: { prompt: `p${index}`, ...inputs } }),
  ),
});

const prices: Case[] = [
  ...(
    [
      ["free", 2],
      ["pro", 1.5],
      ["business", 1.3],
      ["enterprise", 1.15],
    ] as const
  ).map(([tier, markup]) =>
    plans(`${tier} pays ${markup} times the wholesale price`, async (ctx) => {
      const user = await ctx.actor({ tier });
      answers(await runGraph(user.session, picture(QUICK)), 200, { cost: is.near(PICTURE * markup) });
    }),
  ),
  plans("the administrator also has its tier's credits", async (ctx) => {
    answers(await ctx.admin.get("/api/me"), 200, { credits: { renewsAt: is.time } });
  }),
  plans("a custom tier has its own markup, credits and limits, with the rights of its base", async (ctx) => {
    const tier = await ctx.tier("custom", { base: "business", markup: 1.1, monthlyCredits: 123, rateLimitPerMinute: 77, concurrency: 3 });
    const user = await ctx.actor({ tier });
    fits(await user.credits(), { plan: 123 });
    const answer = answers(await runModel(user, "sandbox-image-fast", QUICK), 200, { cost: is.near(0.44) });
    assert.equal(answer.headers.get("x-ratelimit-limit"), "77");
  }),
  plans("creditsCost is rounded up to a thousandth", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const cost = pick<number>(answers(await runModel(user, "sandbox-chat"), 200), "cost");
    fits(Math.round(cost * 1_000) / 1_000, is.near(cost), "cost in thousandths");
    const [row] = await eventually(
      async () => rowsOf<{ status: string; creditsCost: number; cost: number }>(await user.get("/api/usage")),
      ([usageRow]) => usageRow?.status === "completed",
    );
    assert.equal(row!.creditsCost, cost);
    assert.ok(cost >= row!.cost * 130 - 1e-9 && cost < row!.cost * 130 + 0.0011, JSON.stringify(row));
  }),
  plans("the session cookie is nodeloom_session, and keys start with nl", async (ctx) => {
    const user = await ctx.shared("pro", "money");
    assert.match(user.cookie, /^nodeloom_session=/);
    assert.match(user.key, /^nl_/);
  }),
  about("a run deducts credits", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    fits(await creditsSpent(user, () => runGraph(user, picture(QUICK))), is.near(0.6), "spent");
  }),
];

const spending: Case[] = [
  money("a trial grant is spent before credits, per generator node", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    answers(await runGraph(user, pictures(2)), 200, { cost: 0 });
    fits(await user.credits(), { plan: 2_000, grants: [{ model: "sandbox-image", remaining: 1, total: 3 }] });
    answers(await runGraph(user, pictures(2)), 200, { cost: is.near(3) });
    fits(await user.credits(), { plan: is.near(1_997), grants: [{ model: "sandbox-image", remaining: 0, total: 3 }] });
  }),
  money("plan credits are spent before top-up credits", async (ctx) => {
    const tier = await ctx.tier("one-credit", { base: "business", markup: 1, monthlyCredits: 1 });
    const user = await ctx.actor({ tier });
    await give(ctx, user, { kind: "topup", amount: 10 });
    fits(await user.credits(), { plan: 1, topUp: 10 });
    await runModel(user, "sandbox-image-fast", QUICK);
    fits(await user.credits(), { plan: is.near(0.6), topUp: 10 });
    await runModel(user, "sandbox-image-fast", QUICK);
    await runModel(user, "sandbox-image-fast", QUICK);
    fits(await user.credits(), { plan: 0, topUp: is.near(9.8) });
  }),
  money("a run holds its maximum price before it is sent, and settles its actual cost", async (ctx) => {
    await paced(async (seconds) => {
      const user = await ctx.actor({ tier: "pro" });
      const askedAt = Date.now();
      const id = await submitGraph(user, clip({ latencyMs: seconds * 1_000 }));
      const during = await user.credits();
      if (Date.now() >= askedAt + seconds * 1_000) return false;
      fits(during, { plan: is.near(1_992.5), held: is.near(7.5) });
      await finished(user, id);
      fits(await user.credits(), { plan: is.near(1_992.5), held: 0 });
      return true;
    });
  }),
  money("unused held credits are released", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const cost = pick<number>(answers(await runModel(user, "sandbox-chat", { maxTokens: 500 }), 200), "cost");
    fits(await user.credits(), { plan: is.near(10_000 - cost), held: 0 });
  }),
  money("a failed run pays only for nodes that completed", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    refuses(await runGraph(user, twoNodes("job")), 500, "EXECUTION_FAILED");
    fits(await user.credits(), { plan: is.near(2_000 - PICTURE * 1.5), held: 0 });
  }),
  money("a run with an incomplete provider response is free", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    refuses(await runGraph(user, twoNodes("incomplete")), 500, "PROVIDER_RESPONSE_INCOMPLETE");
    fits(await user.credits(), { plan: 2_000, held: 0 });
  }),
  money("an incomplete response restores trial grants", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    refuses(await runModel(user, "sandbox-image", { sandbox: { latencyMs: 10, fail: "incomplete" } }), 500, "PROVIDER_RESPONSE_INCOMPLETE");
    fits(await user.credits(), { plan: 10_000, grants: [{ model: "sandbox-image", remaining: 3, total: 3 }] });
  }),
  money(
    "a rejected submission is free, and restores the trial grant",
    async (ctx) => {
      const user = await ctx.actor({ tier: "business" });
      answers(await refusedSubmit(user, "sandbox-image", 422), 500, { code: "PROVIDER_SUBMIT_FAILED" });
      const settled = await eventually(
        () => user.credits(),
        ({ held, grants }) => held === 0 && grants[0]?.remaining === 3,
      );
      fits(settled, { plan: 10_000 });
    },
    { alone: true },
  ),
  money("parallel runs can't spend more than the balance", async (ctx) => {
    const tier = await ctx.tier("one-credit", { base: "business", markup: 1, monthlyCredits: 1 });
    const user = await ctx.actor({ tier });
    const all = await Promise.all(Array.from({ length: 6 }, () => runModel(user, "sandbox-image-fast", { sandbox: { latencyMs: 300 } })));
    assert.deepEqual(all.map(({ status }) => status).sort(), [200, 200, 402, 402, 402, 402]);
    fits(await user.credits(), { plan: is.near(0.2), held: 0 });
  }),
  money("granted trial runs are added and spent", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    await give(ctx, user, { kind: "grant", model: "sandbox-speech", runs: 1 });
    answers(await runModel(user, "sandbox-speech", QUICK), 200, { cost: 0 });
    answers(await runModel(user, "sandbox-speech", QUICK), 200, { cost: is.near(1.3) });
  }),
  money("every movement is a row of the ledger, and their sum is the balance", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    await give(ctx, user, { kind: "topup", amount: 5 });
    await give(ctx, user, { kind: "adjust", amount: -1.5 });
    await give(ctx, user, { kind: "grant", model: "sandbox-speech", runs: 2 });
    await runModel(user, "sandbox-image-fast", QUICK);
    await runModel(user, "sandbox-chat");
    const rows = await ledgerOf(ctx, user);
    const kinds = new Set(rows.map(({ kind }) => kind));
    for (const kind of ["plan_renewal", "topup", "adjust", "grant", "hold", "capture", "release"])
      assert.ok(kinds.has(kind), `no ${kind} in ${[...kinds].join()}`);
    const { plan, topUp, held } = await user.credits();
    fits(
      rows.reduce((sum, { credits }) => sum + credits, 0),
      is.near(plan + topUp + held),
      "sum",
    );
  }),
  money("settlement happens once: one hold and one capture per execution", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const run = answers(await runModel(user, "sandbox-image-fast", QUICK), 200);
    const ledger = await ledgerOf(ctx, user);
    for (const kindWanted of ["hold", "capture"]) {
      const executions = ledger.filter(({ kind }) => kind === kindWanted).map(({ executionId }) => executionId);
      assert.deepEqual(executions, [run.headers.get("x-execution-id")], kindWanted);
    }
  }),
  money("list fan-out is held and charged per item", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const graph = {
      nodes: [node("list", "list", { items: ["a", "b", "c"] }), ...picture(QUICK).nodes],
      edges: [edge("list.items", "pic.prompt"), edge("pic.image", "out.images")],
    };
    answers(await runGraph(user, graph), 200, { cost: is.near(1.8), result: { images: [is.object, is.object, is.object] } });
  }),
  money(
    "all accounts agree with their ledgers",
    async (ctx) => {
      answers(await ctx.admin.get("/api/admin/ledger/check"), 200, { ok: true, accounts: is.positive, mismatches: [] });
    },
    { alone: true },
  ),
  money(
    "all accounts agree with their whole history, including checkpoints",
    async (ctx) => {
      answers(await ctx.admin.get("/api/admin/ledger/check?full=true"), 200, { ok: true, accounts: is.positive, mismatches: [] });
      refuses(await ctx.admin.get("/api/admin/ledger/check?full=perhaps"), 400, "INVALID_REQUEST");
    },
    { alone: true },
  ),
  money("a workflow's price is rejected as a whole if one node exceeds it", async (ctx) => {
    const tier = await ctx.tier("one-credit", { base: "business", markup: 1, monthlyCredits: 1 });
    const user = await ctx.actor({ tier });
    const slug = await save(user, {
      nodes: [
        ...picture(QUICK).nodes,
        ...clip()
          .nodes.filter((one) => (one as { id: string }).id === "clip")
          .map((one) => ({ ...(one as object), data: { model: "sandbox-video", inputs: { prompt: "x", seconds: 1 } } })),
      ],
    });
    refuses(await user.post(`/api/workflows/${slug}/run`, { inputs: {} }), 402, "INSUFFICIENT_CREDITS");
    fits(await user.credits(), { plan: 1, held: 0 });
  }),
];

export const moneyCases: Case[] = [...prices, ...spending];
