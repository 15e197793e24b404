import assert from "node:assert/strict";
import { inSection, type Case, type CaseOptions } from "../case";
import { answers, exactly, fits, is, noWorkflow, pick, refuses } from "../check";
import { eventually, type Actor, type Caller, type Context } from "../context";
import { edge, node, picture, runModel, save } from "../graphs";

const budgets = inSection("D23");
const NEEDS: CaseOptions = { needs: ["receiver"] };

const MODEL = "sandbox-image-fast";
const QUICK = { prompt: "a loom", sandbox: { latencyMs: 10 } };
const PARALLEL = 40;
const MONTH = { window: "month", alertAt: [] };

const user = (ctx: Context): Promise<Actor> => ctx.actor({ tier: "enterprise" });
const priceOf = async (actor: Actor): Promise<number> =>
  pick(answers(await actor.post(`/api/models/${MODEL}/quote`, { inputs: QUICK }), 200), "estimatedCreditCost");
const inThousandths = (credits: number): number => Math.round(credits * 1_000);

/** A node that creates one picture per item. */
const pictures = {
  ...picture(),
  nodes: [node("in", "request-input", { fields: [{ name: "prompt", type: "text", label: "Prompt" }] }), ...picture().nodes],
  edges: [edge("in.prompt", "pic.prompt"), ...picture().edges],
};

const runFor = (caller: Caller, metadata?: Record<string, string>) =>
  caller.post(`/api/models/${MODEL}/run`, { inputs: QUICK, ...(metadata ? { metadata } : {}) });

export const budgetCases: Case[] = [
  budgets("starts exactly as many parallel runs as a budget allows, and none more if a milli-credit is missing", async (ctx) => {
    const actor = await user(ctx);
    const price = await priceOf(actor);
    const limit = (inThousandths(price) * 10 - 1) / 1_000;
    answers(await actor.session.put(`/api/keys/${actor.keyId}/budget`, { ...MONTH, credits: limit }), 200, {
      ...{ scope: "key", keyId: actor.keyId, credits: is.near(limit), used: 0, window: "month", resetsAt: is.time },
    });
    const runs = await Promise.all(Array.from({ length: PARALLEL }, () => runModel(actor, MODEL, QUICK)));
    const refusals = runs.filter(({ status }) => status !== 200);
    assert.equal(runs.length - refusals.length, 9);
    for (const answer of refusals)
      refuses(answer, 402, "BUDGET_EXCEEDED", { scope: "key", limit: is.near(limit), remaining: is.number, resetsAt: is.time });
    const budget = answers(await actor.session.get(`/api/keys/${actor.keyId}/budget`), 200, { used: is.near(9 * price) });
    assert.equal(inThousandths(pick(budget, "remaining")), inThousandths(limit) - 9 * inThousandths(price));
    // The session has no key, so its runs continue.
    answers(await runModel(actor.session, MODEL, QUICK), 200);
  }),
  budgets("counts a run's hold, and gets back the unused part", async (ctx) => {
    const actor = await user(ctx);
    answers(await actor.session.put("/api/budgets", { ...MONTH, credits: 100, metadata: { name: "customer", value: "acme" } }), 200, {
      ...{ scope: "metadata", metadata: { name: "customer", value: "acme" } },
    });
    const failing = { ...QUICK, sandbox: { latencyMs: 10, fail: "job" } };
    answers(await actor.post(`/api/models/${MODEL}/run`, { inputs: failing, metadata: { customer: "acme" } }), 500);
    answers(await runFor(actor, { customer: "acme" }), 200);
    answers(await runFor(actor, { customer: "other" }), 200);
    const [budget] = answers(await actor.session.get("/api/budgets"), 200).body as unknown as object[];
    fits(budget, { used: is.near(await priceOf(actor)) });
  }),
  budgets("a default budget gives each customer without a specific budget the same limit, to the milli-credit", async (ctx) => {
    const actor = await user(ctx);
    const price = await priceOf(actor);
    const limit = (inThousandths(price) * 5 - 1) / 1_000;
    const customer = (value: string) => ({ metadata: { name: "customer", value } });
    const set = (value: string, credits: number) => actor.session.put("/api/budgets", { ...MONTH, ...customer(value), credits });
    answers(await set("*", limit), 200, { ...customer("*"), credits: is.near(limit), used: 0, remaining: is.near(limit) });
    answers(await set("globex", 100), 200);
    const runs = await Promise.all(Array.from({ length: PARALLEL }, () => runFor(actor, { customer: "acme" })));
    const refusals = runs.filter(({ status }) => status !== 200);
    assert.equal(runs.length - refusals.length, 4);
    for (const answer of refusals)
      refuses(answer, 402, "BUDGET_EXCEEDED", { scope: "metadata.customer", limit: is.near(limit), resetsAt: is.time });
    for (const value of ["other", "globex"]) answers(await runFor(actor, { customer: value }), 200);
    answers(await runFor(actor), 200);
    const of = (value: string) => actor.session.get(`/api/budgets?name=customer&value=${value}`);
    // Credits that a run didn't use are returned a moment after its end.
    const settled = await eventually(
      () => of("acme"),
      ({ body }) => inThousandths((body as unknown as [{ used: number }])[0].used) === 4 * inThousandths(price),
    );
    answers(settled, 200, [{ ...customer("*"), value: "acme", used: is.near(4 * price), remaining: is.near(limit - 4 * price) }]);
    answers(await of("globex"), 200, [{ ...customer("globex"), credits: 100, used: is.near(price) }]);
    answers(await of("nobody"), 200, [{ value: "nobody", used: 0 }]);
    answers(await actor.session.get("/api/budgets?name=project&value=acme"), 200, []);
  }),
  budgets("a default budget has no alerts, and a value is queried with its name", async (ctx) => {
    const { session } = await user(ctx);
    const metadata = { name: "customer", value: "*" };
    const alerting = { ...MONTH, credits: 1, metadata, alertAt: [0.8] };
    refuses(await session.put("/api/budgets", alerting), 400, "INVALID_REQUEST", { issues: [{ path: "alertAt", message: is.text }] });
    for (const query of ["name=customer", "value=acme"])
      refuses(await session.get(`/api/budgets?${query}`), 400, "INVALID_REQUEST", { issues: [{ path: "value" }] });
  }),
  budgets("limits a workflow, which runs again after the budget is raised or removed", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, pictures);
    const path = `/api/workflows/${slug}/budget`;
    answers(await actor.session.put(path, { ...MONTH, credits: 0 }), 200, { scope: "workflow", workflowSlug: slug, remaining: 0 });
    refuses(await actor.post(`/api/workflows/${slug}/run`, { inputs: { prompt: "a" } }), 402, "BUDGET_EXCEEDED", { scope: "workflow" });
    answers(await actor.session.put(path, { ...MONTH, window: "total", credits: 100 }), 200, { resetsAt: null });
    answers(await actor.post(`/api/workflows/${slug}/run`, { inputs: { prompt: "a" } }), 200);
    answers(await actor.session.put(path, { ...MONTH, credits: 0 }), 200, { used: is.positive });
    answers(await actor.session.delete(path), 204);
    refuses(await actor.session.get(path), 404, "NOT_FOUND");
    answers(await actor.post(`/api/workflows/${slug}/run`, { inputs: { prompt: "a" } }), 200);
  }),
  budgets("pauses a batch, which continues automatically when the budget is raised", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, pictures);
    const price = await priceOf(actor);
    answers(await actor.session.put(`/api/keys/${actor.keyId}/budget`, { ...MONTH, credits: price * 2 }), 200);
    const inputs = ["a", "b", "c"].map((prompt) => ({ prompt }));
    const id: string = pick(answers(await actor.post(`/api/workflows/${slug}/batches`, { inputs }), 202), "batchId");
    const read = () => actor.get(`/api/batches/${id}`);
    const paused = await eventually(read, ({ body }) => body.status === "paused");
    answers(paused, 200, { reason: { code: "BUDGET_EXCEEDED", message: is.text, scope: "key" }, counts: { completed: 2 } });
    answers(await actor.session.put(`/api/keys/${actor.keyId}/budget`, { ...MONTH, credits: price * 3 }), 200);
    await eventually(read, ({ body }) => body.status === "completed");
    answers(await actor.session.get(`/api/keys/${actor.keyId}/budget`), 200, { used: is.near(price * 3), remaining: 0 });
  }),
  budgets("are set only by session, for the caller's own resources", async (ctx) => {
    const actor = await ctx.actor({ tier: "pro" });
    const other = await ctx.actor({ tier: "pro" });
    const settings = { ...MONTH, credits: 1 };
    refuses(await actor.put(`/api/keys/${actor.keyId}/budget`, settings), 403, "SESSION_REQUIRED");
    refuses(await actor.get("/api/budgets"), 403, "SESSION_REQUIRED");
    refuses(await actor.session.put(`/api/keys/${other.keyId}/budget`, settings), 404, "NOT_FOUND");
    noWorkflow(await actor.session.put("/api/workflows/no-such-workflow/budget", settings));
    refuses(await actor.session.put("/api/budgets", settings), 400, "INVALID_REQUEST");
    const ofNoRun = { ...settings, metadata: { name: "__proto__", value: "acme" } };
    refuses(await actor.session.put("/api/budgets", ofNoRun), 400, "INVALID_REQUEST", { issues: [{ path: "metadata.name" }] });
    refuses(await actor.session.put(`/api/keys/${actor.keyId}/budget`, { credits: -1, window: "year" }), 400, "INVALID_REQUEST");
    const budget = answers(await actor.session.put(`/api/keys/${actor.keyId}/budget`, settings), 200);
    refuses(await other.session.delete(`/api/budgets/${pick(budget, "id")}`), 404, "NOT_FOUND");
    answers(await actor.session.delete(`/api/budgets/${pick(budget, "id")}`), 204);
    answers(await actor.session.get("/api/budgets"), 200, []);
  }),
  budgets("a key's metadata applies to its runs, whatever its callers send", async (ctx) => {
    const actor = await user(ctx);
    const path = `/api/keys/${actor.keyId}`;
    answers(await actor.session.patch(path, { metadata: { customer: "acme" } }), 200, { metadata: exactly({ customer: "acme" }) });
    // The budget applies within a second, on every replica.
    const reply = await eventually(
      () => runFor(actor, { customer: "other" }),
      ({ status }) => status !== 200,
    );
    refuses(reply, 400, "INVALID_REQUEST", { issues: [{ path: "metadata.customer", message: is.text }] });
    answers(await runFor(actor, { order: "7" }), 200);
    answers(await actor.get("/api/executions?metadata.customer=acme"), 200, {
      rows: [{ metadata: exactly({ order: "7", customer: "acme" }), keyId: actor.keyId }],
    });
    answers(await runFor(actor, { customer: "acme" }), 200);
    answers(await runFor(actor.session, { customer: "other" }), 200);
    refuses(await actor.session.patch(path, { metadata: { [`x`.repeat(41)]: "" } }), 400, "INVALID_REQUEST");
  }),
  budgets("usage is summed by key, workflow, model, day and metadata, as JSON and as CSV", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, pictures);
    answers(await actor.post(`/api/workflows/${slug}/run`, { inputs: { prompt: "a" }, metadata: { customer: "acme" } }), 200);
    answers(await runFor(actor, { customer: "=acme" }), 200);
    answers(await runFor(actor.session), 200);
    const price = await priceOf(actor);
    const read = (groupBy: string) => actor.get(`/api/usage/summary?groupBy=${groupBy}`);
    const byKey = await eventually(
      () => read("key"),
      ({ body }) => body.runs === 3,
    );
    answers(byKey, 200, {
      groups: [
        { group: actor.keyId, name: "conformance", runs: 2, creditsCost: is.near(2 * price) },
        { group: null, name: null, runs: 1, creditsCost: is.near(price) },
      ],
    });
    answers(await read("model"), 200, { groups: [{ group: MODEL, runs: 3, creditsCost: is.near(3 * price) }] });
    answers(await read("day"), 200, { groups: [{ group: is.like(/^\d{4}-\d\d-\d\d$/), runs: 3 }] });
    const groupsOf = async (by: string) =>
      new Map(pick<{ group: string | null; runs: number }[]>(await read(by), "groups").map(({ group, runs }) => [group, runs]));
    assert.deepEqual(
      await groupsOf("workflow"),
      new Map([
        [null, 2],
        [slug, 1],
      ]),
    );
    assert.deepEqual(
      await groupsOf("metadata.customer"),
      new Map([
        ["acme", 1],
        ["=acme", 1],
        [null, 1],
      ]),
    );
    for (const by of ["customer", "metadata.__proto__"]) refuses(await read(by), 400, "INVALID_REQUEST");
    const table = await actor.get("/api/usage/summary?groupBy=metadata.customer&format=csv");
    assert.match(table.headers.get("content-type") ?? "", /^text\/csv/);
    const lines = table.text.trim().split(/\r?\n/);
    assert.equal(lines[0], "metadata.customer,runs,creditsCost");
    // A deleted key keeps its name.
    answers(await actor.session.delete(`/api/keys/${actor.keyId}`), 204);
    const ofKeys = (await actor.session.get("/api/usage/summary?groupBy=key&format=csv")).text.trim().split(/\r?\n/);
    assert.equal(ofKeys[0], "key,runs,creditsCost,name");
    assert.ok(ofKeys.includes(`${actor.keyId},2,${2 * price},conformance`));
    assert.deepEqual(new Set(lines.slice(1)), new Set([`acme,1,${price}`, `'=acme,1,${price}`, `,1,${price}`]));
  }),
  budgets(
    "budget.alert is sent once per share and window, only to webhooks that subscribe to it",
    async (ctx) => {
      const [inbox, silent] = [ctx.receiver!.inbox(), ctx.receiver!.inbox()];
      const actor = await ctx.actor({ tier: "enterprise", webhook: { url: inbox.url, events: ["budget.alert"] } });
      await actor.withKey({ preset: "full-deploy" }, { webhook: { url: silent.url } });
      const price = await priceOf(actor);
      answers(await actor.session.put(`/api/keys/${actor.keyId}/budget`, { credits: 4 * price, window: "day", alertAt: [0.5, 1] }), 200);
      for (let run = 0; run < 3; run += 1) answers(await runModel(actor, MODEL, QUICK), 200);
      await eventually(
        async () => inbox.deliveries,
        (deliveries) => deliveries.length > 0,
      );
      const [delivery, ...more] = inbox.deliveries;
      assert.deepEqual([more, silent.deliveries], [[], []]);
      fits(JSON.parse(delivery!.body), {
        type: "budget.alert",
        timestamp: is.time,
        data: { scope: "key", keyId: actor.keyId, threshold: 0.5, credits: is.near(4 * price), used: is.near(2 * price), window: "day" },
      });
      assert.match(String(delivery!.headers["webhook-id"]), /^msg_budget_/);
    },
    NEEDS,
  ),
];
