import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { inSection, type Case } from "../case";
import { answers, exactly, fits, is, pick, refuses } from "../check";
import { eventually, type Actor, type Caller, type Context } from "../context";
import { edge, node, picture, save } from "../graphs";
import { isSignedBy } from "../../../../test-support/receiver";

const batches = inSection("D22");

const user = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "batches");
const fields = [
  { name: "subject", type: "text", label: "Subject", required: true },
  { name: "count", type: "number", label: "Count", default: 1 },
];
/** A node that returns its input. Planning evaluates it. */
const texts = {
  name: "Texts",
  nodes: [node("in", "request-input", { fields }), node("box", "text-box", { text: "{{s}} × {{n}}" }), node("out", "response-output")],
  edges: [edge("in.subject", "box.s"), edge("in.count", "box.n"), edge("box.text", "out.text")],
};
/** A node that creates one picture per item. */
const pictures = {
  ...picture(),
  nodes: [node("in", "request-input", { fields: [{ name: "prompt", type: "text", label: "Prompt" }] }), ...picture().nodes],
  edges: [edge("in.prompt", "pic.prompt"), ...picture().edges],
};

const create = async (caller: Caller, slug: string, body: object): Promise<string> =>
  pick(answers(await caller.post(`/api/workflows/${slug}/batches`, body), 202), "batchId");
const over = (caller: Caller, id: string) =>
  eventually(
    () => caller.get(`/api/batches/${id}`),
    ({ body }) => !["running", "cancel_requested"].includes((body as { status: string }).status),
  );

export const batchCases: Case[] = [
  batches("returns 202 with its id, runs every item, and lists rows in order", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, texts);
    const inputs = ["a", "b", "c"].map((subject) => ({ subject }));
    const created = answers(await actor.post(`/api/workflows/${slug}/batches`, { inputs, metadata: { order: "7" } }), 202);
    const id: string = pick(created, "batchId");
    answers(created, 202, exactly({ batchId: is.uuid, total: 3 }));
    answers(await over(actor, id), 200, {
      ...{ status: "completed", total: 3, workflowSlug: slug, model: null, creditsCost: 0, metadata: { order: "7" }, nextCursor: null },
      counts: { waiting: 0, processing: 0, completed: 3, failed: 0, cancelled: 0 },
      rows: ["a", "b", "c"].map((subject, index) => ({
        index,
        executionId: is.uuid,
        status: "completed",
        result: { text: `${subject} × 1` },
      })),
    });
    const { rows } = answers(await actor.get("/api/batches"), 200).body as { rows: { batchId: string }[] };
    assert.ok(rows.some((row) => row.batchId === id));
  }),
  batches("items are executions with batchId and index, which lists omit unless the batch is requested", async (ctx) => {
    const actor = await user(ctx);
    const id = await create(actor, await save(actor, texts), { inputs: [{ subject: "a" }] });
    const executionId: string = pick(await over(actor, id), "rows.0.executionId");
    answers(await actor.get(`/api/executions/${executionId}`), 200, { batchId: id, index: 0, status: "completed" });
    for (const typed of [id, id.toUpperCase()])
      answers(await actor.get(`/api/executions?batchId=${typed}`), 200, { rows: [{ executionId }] });
    const { rows } = answers(await actor.get("/api/executions"), 200).body as { rows: { executionId: string }[] };
    assert.ok(rows.every((row) => row.executionId !== executionId));
  }),
  batches("names every problem by its index, and starts nothing", async (ctx) => {
    const actor = await ctx.actor({ tier: "pro" });
    const slug = await save(actor, texts);
    const inputs = [{ subject: "a" }, { count: 1 }, { subject: "b", count: "two" }];
    refuses(await actor.post(`/api/workflows/${slug}/batches`, { inputs }), 400, "INVALID_INPUTS", {
      issues: [
        { index: 1, path: "inputs.subject", message: is.text },
        { index: 2, path: "inputs.count", message: is.text },
      ],
    });
    answers(await actor.get("/api/batches"), 200, { rows: [] });
  }),
  batches("is rejected with a limit below its exact price, and runs at that price to the milli-credit", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, pictures);
    const inputs = [{ prompt: "a" }, { prompt: "b" }, { prompt: "c" }];
    const quoted = answers(await actor.post(`/api/workflows/${slug}/batches/quote`, { inputs }), 200, { total: 3, exact: true });
    const price: number = pick(quoted, "estimatedCreditCost");
    refuses(await actor.post(`/api/workflows/${slug}/batches`, { inputs, maxCredits: price - 0.001 }), 402, "INSUFFICIENT_CREDITS");
    const id = await create(actor, slug, { inputs, maxCredits: price });
    answers(await over(actor, id), 200, { status: "completed", creditsCost: is.near(price), counts: { completed: 3 } });
  }),
  batches("reads a CSV file of the caller, whose values take the types of the fields", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, texts);
    const file = await actor.call("POST", "/api/media", { raw: "subject,count\na,2\nb,\n", headers: { "content-type": "text/csv" } });
    const id = await create(actor, slug, { mediaId: pick(answers(file, 201), "id") });
    answers(await over(actor, id), 200, { rows: [{ result: { text: "a × 2" } }, { result: { text: "b × 1" } }] });
  }),
  batches("applies settings over those of the graph, item by item", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, texts);
    const items = [{ inputs: { subject: "a" } }, { inputs: { subject: "a" }, settings: { box: { text: "{{n}} of {{s}}" } } }];
    const id = await create(actor, slug, { items });
    answers(await over(actor, id), 200, { rows: [{ result: { text: "a × 1" } }, { result: { text: "1 of a" } }] });
  }),
  batches("runs each item up to one node, and pays only for that node's dependencies", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, pictures);
    const body = { items: [{ inputs: { prompt: "a" } }, { inputs: { prompt: "b" } }], until: "in" };
    answers(await actor.post(`/api/workflows/${slug}/batches/quote`, body), 200, { total: 2, estimatedCreditCost: 0, exact: true });
    const id = await create(actor, slug, body);
    answers(await over(actor, id), 200, { until: "in", creditsCost: 0, counts: { completed: 2 } });
    refuses(await actor.post(`/api/workflows/${slug}/batches`, { ...body, until: "nonesuch" }), 400, "INVALID_REQUEST");
  }),
  batches("shows the graph that an item ran, with its settings, only to its owner", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, texts);
    const id = await create(actor, slug, { items: [{ inputs: { subject: "a" }, settings: { box: { text: "just {{s}}: {{n}}" } } }] });
    const path = `/api/executions/${pick<string>(await over(actor, id), "rows.0.executionId")}/graph`;
    const { nodes } = answers(await actor.get(path), 200).body as { nodes: { id: string; data: object }[] };
    assert.deepEqual(nodes.find((one) => one.id === "box")?.data, { text: "just {{s}}: {{n}}" });
    refuses(await (await ctx.actor({ tier: "pro" })).get(path), 404, "EXECUTION_NOT_FOUND");
  }),
  batches(
    "a batch's own webhook gets batch.completed, also by session, and the ends of items if it subscribes to them",
    async (ctx) => {
      const [own, items, keys] = [ctx.receiver!.inbox(), ctx.receiver!.inbox(), ctx.receiver!.inbox()];
      const actor = await ctx.actor({ tier: "pro", webhook: { url: keys.url, events: ["batch.completed", "execution.completed"] } });
      const slug = await save(actor, texts);
      const inputs = [{ subject: "a" }, { subject: "b" }];
      const id = await create(actor.session, slug, { inputs, webhook: { url: own.url } });
      const events = ["batch.completed", "execution.completed"];
      await create(actor, slug, { inputs, webhook: { url: items.url, events } });
      const [[message], sentEvents] = await Promise.all([
        eventually(
          () => Promise.resolve(own.deliveries),
          (all) => all.length > 0,
        ),
        eventually(
          () => Promise.resolve(items.deliveries),
          (all) => all.length >= 3,
        ),
      ]);
      fits(JSON.parse(message!.body), { type: "batch.completed", data: { batchId: id, status: "completed" } });
      const types = sentEvents.map(({ body }) => (JSON.parse(body) as { type: string }).type);
      assert.deepEqual(types.sort(), ["batch.completed", "execution.completed", "execution.completed"]);
      const secret = pick<string>(answers(await actor.session.get("/api/webhook-secret"), 200), "secret");
      assert.ok(isSignedBy(secret, message!));
      const delivery = { configured: true, url: own.url, state: "delivered" };
      await eventually(
        () => actor.get(`/api/batches/${id}`),
        ({ body }) => (body.webhookDelivery as { state?: string }).state === "delivered",
      );
      answers(await actor.get(`/api/batches/${id}`), 200, { webhookDelivery: delivery });
      assert.equal(own.deliveries.length, 1);
      assert.equal(keys.deliveries.length, 0);
    },
    { needs: ["receiver"] },
  ),
  batches("a batch's own webhook needs webhook:receive by key, and a public address; without them nothing starts", async (ctx) => {
    const actor = await ctx.actor({ tier: "pro" });
    const path = `/api/workflows/${await save(actor, texts)}/batches`;
    const to = (url: string) => ({ inputs: [{ subject: "a" }], webhook: { url } });
    const without = await actor.withKey(["workflow:run"]);
    refuses(await without.post(path, to("https://example.com/hook")), 403, "CAPABILITY_DENIED", { required: "webhook:receive" });
    refuses(await actor.post(path, to("http://10.0.0.1/hook")), 400, "INVALID_REQUEST");
    answers(await actor.get("/api/batches"), 200, { rows: [] });
  }),
  batches("is created once under an Idempotency-Key", async (ctx) => {
    const actor = await user(ctx);
    const path = `/api/workflows/${await save(actor, texts)}/batches`;
    const send = (subject: string) => actor.call("POST", path, { body: { inputs: [{ subject }] }, headers: { "idempotency-key": key } });
    const key = randomUUID();
    const [first, second] = [answers(await send("a"), 202), answers(await send("a"), 202)];
    assert.equal(pick(first, "batchId"), pick(second, "batchId"));
    refuses(await send("b"), 422, "IDEMPOTENCY_KEY_REUSED");
  }),
  batches("returns its results as JSONL and CSV", async (ctx) => {
    const actor = await user(ctx);
    const id = await create(actor, await save(actor, texts), { inputs: [{ subject: "=1+1" }, { subject: "b" }] });
    await over(actor, id);
    const jsonl = await actor.get(`/api/batches/${id}/results`);
    assert.deepEqual([jsonl.status, jsonl.headers.get("content-type")], [200, "application/x-ndjson; charset=utf-8"]);
    const csv = await actor.get(`/api/batches/${id}/results?format=csv`);
    assert.deepEqual([csv.status, csv.headers.get("content-type")], [200, "text/csv; charset=utf-8"]);
  }),
  batches("reruns failed items as a separate batch", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, pictures);
    const failing = { inputs: { prompt: "a" }, settings: { pic: { inputs: { sandbox: { fail: "job" } } } } };
    const id = await create(actor, slug, { items: [{ inputs: { prompt: "a" } }, failing] });
    answers(await over(actor, id), 200, {
      counts: { completed: 1, failed: 1 },
      rows: [{ error: null }, { error: { code: "EXECUTION_FAILED" } }],
    });
    const again: string = pick(answers(await actor.post(`/api/batches/${id}/rerun`, { status: "failed" }), 202, { total: 1 }), "batchId");
    answers(await over(actor, again), 200, { rerunOf: id, total: 1 });
    refuses(await actor.post(`/api/batches/${id}/rerun`, { status: "cancelled" }), 412, "PRECONDITION_FAILED");
  }),
  batches("is cancelled once, and returns the same when it is cancelled again", async (ctx) => {
    const actor = await user(ctx);
    const inputs = Array.from({ length: 30 }, () => ({ prompt: "a" }));
    const id = await create(actor, await save(actor, pictures), { inputs, concurrency: 1 });
    answers(await actor.post(`/api/batches/${id}/cancel`), 200, { status: "cancel_requested" });
    answers(await over(actor, id), 200, { status: "cancelled" });
    answers(await actor.post(`/api/batches/${id}/cancel`), 200, { status: "cancelled" });
    refuses(await actor.post(`/api/batches/${id}/resume`, {}), 412, "PRECONDITION_FAILED");
  }),
];
