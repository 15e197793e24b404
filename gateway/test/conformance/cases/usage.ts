import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, exactly, fits, is, pick, refuses, rowsOf } from "../check";
import { eventually, finished, type Actor, type Context } from "../context";
import { clip, greeting, picture, runGraph, runModel, save, submitGraph } from "../graphs";

const row = inSection("2.6");
const usage = inSection("4.13");
const quotes = inSection("D33");

const ROW = {
  id: is.number,
  userId: is.text,
  workflowSlug: is.nullOr(is.text),
  modelIds: is.list,
  status: is.oneOf("processing", "completed", "failed", "cancelled"),
  source: is.oneOf("api-slim", "api-workflow"),
  cost: is.number,
  userCost: is.number,
  creditsCost: is.number,
  durationMs: is.number,
  errorCode: is.nullOr(is.text),
  requestId: is.nullOr(is.text),
  executionId: is.text,
  keyId: is.nullOr(is.text),
  createdAt: is.time,
};
const QUICK = { sandbox: { latencyMs: 10 } };

interface History {
  user: Actor;
  slug: string;
}
const histories = new WeakMap<Context, Promise<History>>();

/** Usage rows of finished runs. They can appear shortly after the response. */
const usageTold = (user: Actor, count: number) =>
  eventually(
    async () => rowsOf<{ status: string }>(await user.get("/api/usage")),
    (rows) => rows.length === count && rows.every(({ status }) => status !== "processing"),
  );

/** A user with three runs by key (a completed workflow, a failed workflow, a direct model run) and one run by session. */
const historyOf = (ctx: Context): Promise<History> => {
  const make = async (): Promise<History> => {
    const user = await ctx.actor({ tier: "business" });
    const slug = await save(user, picture(QUICK));
    answers(await user.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    answers(await runGraph(user, clip({ latencyMs: 10, fail: "job" })), 500);
    answers(await runModel(user, "sandbox-speech", QUICK), 200);
    answers(await user.session.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    await usageTold(user, 3);
    return { user, slug };
  };
  const history = histories.get(ctx) ?? make();
  histories.set(ctx, history);
  return history;
};

type Row = Record<string, never> & { id: number };

export const usageCases: Case[] = [
  row("a row has its fields, and nothing else", async (ctx) => {
    const { user } = await historyOf(ctx);
    const expected = exactly({ ...ROW, userId: user.userId });
    fits(rowsOf(await user.get("/api/usage")), [expected, expected, expected]);
  }),
  row("ids increase with time, and the newest row comes first", async (ctx) => {
    const { user } = await historyOf(ctx);
    const ids = rowsOf<Row>(await user.get("/api/usage")).map(({ id }) => id);
    assert.deepEqual(
      ids,
      [...ids].sort((a, b) => b - a),
    );
    assert.equal(new Set(ids).size, 3);
  }),
  row("a direct model run has no workflow and the source api-slim", async (ctx) => {
    const { user } = await historyOf(ctx);
    const direct = { workflowSlug: null, source: "api-slim", modelIds: ["sandbox-speech"], status: "completed", errorCode: null };
    fits(rowsOf(await user.get("/api/usage?modelId=sandbox-speech")), [direct]);
  }),
  row("a workflow run has its slug and the source api-workflow", async (ctx) => {
    const { user, slug } = await historyOf(ctx);
    fits(rowsOf(await user.get(`/api/usage?workflowSlug=${slug}`)), [
      { workflowSlug: slug, source: "api-workflow", modelIds: ["sandbox-image-fast"] },
    ]);
  }),
  row("cost is the wholesale price, userCost the price for the tier, and creditsCost a hundred times userCost", async (ctx) => {
    const { user } = await historyOf(ctx);
    fits(rowsOf(await user.get("/api/usage?modelId=sandbox-image-fast")), [
      { cost: is.near(0.004), userCost: is.near(0.0052), creditsCost: is.near(0.52) },
    ]);
  }),
  row("a failed row has its errorCode", async (ctx) => {
    const { user } = await historyOf(ctx);
    fits(rowsOf(await user.get("/api/usage?status=failed")), [{ status: "failed", errorCode: "EXECUTION_FAILED", creditsCost: 0 }]);
  }),
  row("errorCode names an incomplete provider response", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    refuses(await runGraph(user, clip({ latencyMs: 10, fail: "incomplete" })), 500, "PROVIDER_RESPONSE_INCOMPLETE");
    fits(await usageTold(user, 1), [{ status: "failed", errorCode: "PROVIDER_RESPONSE_INCOMPLETE", creditsCost: 0, cost: is.number }]);
  }),
  quotes("a workflow shows only its owner how much the costs of its last runs differed from their estimates", async (ctx) => {
    const [user, other] = [await ctx.actor({ tier: "business" }), await ctx.actor({ tier: "business" })];
    const slug = await save(user, { ...picture(QUICK), isTemplate: true });
    const hasNone = async (actor: Actor) => !("quoteError" in (answers(await actor.get(`/api/workflows/${slug}`), 200).body as object));
    assert.ok(await hasNone(user));
    for (const _ of [1, 2]) answers(await user.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    await usageTold(user, 2);
    answers(await user.get(`/api/workflows/${slug}`), 200, { quoteError: exactly({ runs: 2, p50: 0, p90: 0 }) });
    assert.ok(await hasNone(other));
  }),
  row("the duration is the execution's", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const { headers } = answers(await runGraph(user, clip({ latencyMs: 10 })), 200);
    const polled = answers(await user.get(`/api/executions/${headers.get("x-execution-id") ?? ""}`), 200);
    fits(await usageTold(user, 1), [{ durationMs: pick<number>(polled, "durationMs") }]);
  }),
  row("the provider's request id is the execution's", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const polled = await finished(user, await submitGraph(user, clip({ latencyMs: 10 })));
    fits(await usageTold(user, 1), [{ requestId: pick(polled, "requestId") }]);
  }),
  row("a run in progress has a processing row", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const id = await submitGraph(user, clip({ latencyMs: 600_000 }));
    await eventually(
      async () => rowsOf<Row>(await user.get("/api/usage?status=processing")),
      (rows) => rows.length === 1,
    );
    await user.post(`/api/executions/${id}/cancel`);
    await finished(user, id);
    fits(await usageTold(user, 1), [{ status: "cancelled", creditsCost: is.near(7.5) }]);
  }),
  usage("the envelope has rows, page, pageSize and total", async (ctx) => {
    const { user } = await historyOf(ctx);
    answers(await user.get("/api/usage"), 200, exactly({ rows: is.list, page: 1, pageSize: 50, total: 3 }));
  }),
  usage("limit and offset move through the rows, and page follows", async (ctx) => {
    const { user } = await historyOf(ctx);
    const all = rowsOf<Row>(await user.get("/api/usage")).map(({ id }) => id);
    for (const offset of [0, 1, 2, 3]) {
      const answer = answers(await user.get(`/api/usage?limit=2&offset=${offset}`), 200, {
        page: Math.floor(offset / 2) + 1,
        pageSize: 2,
        total: 3,
      });
      assert.deepEqual(
        rowsOf<Row>(answer).map(({ id }) => id),
        all.slice(offset, offset + 2),
      );
    }
  }),
  usage("an offset beyond the end is an empty page", async (ctx) => {
    const { user } = await historyOf(ctx);
    answers(await user.get("/api/usage?offset=100"), 200, { rows: [], page: 3, total: 3 });
  }),
  usage("a limit of 500 is the maximum", async (ctx) => {
    const { user } = await historyOf(ctx);
    answers(await user.get("/api/usage?limit=500"), 200, { pageSize: 500 });
    refuses(await user.get("/api/usage?limit=501"), 400, "INVALID_REQUEST", { issues: [{ path: "limit", message: is.text }] });
  }),
  ...["0", "-1", "text", "1.5", ""].map((limit) =>
    usage(`a limit of ${JSON.stringify(limit)} is rejected`, async (ctx) => {
      refuses(await (await historyOf(ctx)).user.get(`/api/usage?limit=${limit}`), 400, "INVALID_REQUEST");
    }),
  ),
  ...["-1", "text", "1.5"].map((offset) =>
    usage(`an offset of ${JSON.stringify(offset)} is rejected`, async (ctx) => {
      refuses(await (await historyOf(ctx)).user.get(`/api/usage?offset=${offset}`), 400, "INVALID_REQUEST");
    }),
  ),
  ...(["completed", "failed", "processing"] as const).map((status) =>
    usage(`rows are filtered by status ${status}`, async (ctx) => {
      const { user } = await historyOf(ctx);
      const count = { completed: 2, failed: 1, processing: 0 }[status];
      const answer = answers(await user.get(`/api/usage?status=${status}`), 200, { total: count });
      fits(
        rowsOf(answer),
        Array.from({ length: count }, () => ({ status })),
      );
    }),
  ),
  usage("an unknown status is rejected", async (ctx) => {
    refuses(await (await historyOf(ctx)).user.get("/api/usage?status=sleeping"), 400, "INVALID_REQUEST");
  }),
  usage("filters can be combined", async (ctx) => {
    const { user, slug } = await historyOf(ctx);
    answers(await user.get(`/api/usage?workflowSlug=${slug}&modelId=sandbox-image-fast&status=completed`), 200, { total: 1 });
    answers(await user.get(`/api/usage?workflowSlug=${slug}&modelId=sandbox-speech`), 200, { rows: [], total: 0 });
  }),
  usage("only the caller's own rows are listed", async (ctx) => {
    const { slug } = await historyOf(ctx);
    const other = await ctx.actor({ tier: "pro" });
    answers(await other.get(`/api/usage?workflowSlug=${slug}`), 200, { rows: [], total: 0 });
  }),
  usage("runs by session aren't API usage, and are listed among executions", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const slug = await save(user, greeting());
    answers(await user.session.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    answers(await user.get("/api/usage"), 200, { rows: [], total: 0 });
    answers(await user.get("/api/usage/models"), 200, []);
    fits(rowsOf(await user.get("/api/executions")), [{ source: "canvas" }]);
  }),
  usage("the model names are distinct internal names of the caller's usage", async (ctx) => {
    const { user } = await historyOf(ctx);
    const { body } = answers(await user.get("/api/usage/models"), 200, is.list);
    assert.deepEqual([...(body as unknown as string[])].sort(), ["sandbox-image-fast", "sandbox-speech", "sandbox-video"]);
  }),
  usage("a user without usage has no models", async (ctx) => {
    answers(await (await ctx.actor({ tier: "pro" })).get("/api/usage/models"), 200, []);
  }),
  usage("usage needs a caller", async (ctx) => {
    refuses(await ctx.anonymous.get("/api/usage"), 401, "UNAUTHENTICATED");
    refuses(await ctx.anonymous.get("/api/usage/models"), 401, "UNAUTHENTICATED");
  }),
];
