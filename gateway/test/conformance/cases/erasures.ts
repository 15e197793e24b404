import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { inSection, type Case } from "../case";
import { answers, exactly, is, pick, refuses } from "../check";
import { eventually, type Actor, type Caller, type Context } from "../context";
import { greeting, picture, save } from "../graphs";
import type { Answer } from "../../../../test-support/client";

/** Erasure of many executions. */

const erasing = inSection("D29");
const owner = (ctx: Context): Promise<Actor> => ctx.shared("business", "erasures");
const customerOf = (): string => `customer-${randomUUID()}`;
const of = (customer: string) => ({ metadata: { name: "customer", value: customer } });

const run = async (actor: Actor, slug: string, customer: string): Promise<string> => {
  const body = { inputs: { prompt: "Ada" }, metadata: { customer } };
  return answers(await actor.post(`/api/workflows/${slug}/run`, body), 200).headers.get("x-execution-id") ?? "";
};
/** Without a graph: graphs are deleted some minutes later. */
const runModel = async (actor: Actor, customer: string): Promise<Answer> =>
  answers(await actor.post("/api/models/sandbox-image/run", { inputs: { prompt: "Ada" }, metadata: { customer } }), 200);
const idOf = (answer: Answer): string => answer.headers.get("x-execution-id") ?? "";
const bind = async (own: Actor, capabilities: string[], customer: string): Promise<Actor> => {
  const bound = await own.withKey(capabilities);
  answers(await own.session.patch(`/api/keys/${bound.keyId}`, { metadata: { customer } }), 200);
  return bound;
};
const erase = async (caller: Caller, body: object): Promise<string> =>
  pick(answers(await caller.post("/api/erasures", body), 202), "erasureId");
const read = (caller: Caller, id: string): Promise<Answer> => caller.get(`/api/erasures/${id}`);
const completed = (caller: Caller, id: string): Promise<Answer> =>
  eventually(
    () => read(caller, id),
    ({ body }) => (body as { state: string }).state === "completed",
  );
const isGone = async (actor: Actor, executionId: string): Promise<void> =>
  void refuses(await actor.get(`/api/executions/${executionId}`), 404, "EXECUTION_NOT_FOUND");

const untilGone = async (caller: Caller, path: string): Promise<void> =>
  void (await eventually(
    () => caller.get(path),
    ({ status }) => status === 404,
  ));

export const erasuresCases: Case[] = [
  erasing(
    "an erasure by metadata removes a customer's executions, kept files, budget and every mention, and lists keys, schedules and hooks",
    async (ctx) => {
      const own = await owner(ctx);
      const [customer, other] = [customerOf(), customerOf()];
      const [first, second, others] = [await runModel(own, customer), await runModel(own, customer), await runModel(own, other)];
      const url = pick<string>(first, "result.images.0.url");
      const files = pick<{ id: string; url: string }[]>(answers(await own.session.get("/api/media?limit=100"), 200), "rows");
      const file = files.find((row) => new URL(row.url).pathname === new URL(url).pathname);
      answers(await own.session.post(`/api/media/${file?.id}/keep`), 200);
      answers(await own.session.put("/api/budgets", { ...of(customer), credits: 500, window: "month" }), 200);
      const bound = await bind(own, ["workflow:run", "workflow:write"], customer);
      const slug = await save(own, greeting());
      const rarely = { cron: "0 0 29 2 *", inputs: { prompt: "Ada" } };
      const schedule: string = pick(answers(await bound.post(`/api/workflows/${slug}/schedules`, rarely), 201), "id");
      const hook: string = pick(answers(await bound.post(`/api/workflows/${slug}/hooks`, { expression: "", maxCredits: 5 }), 201), "id");
      const summary = () => own.session.get("/api/usage/summary?groupBy=metadata.customer");
      await eventually(summary, ({ text }) => text.includes(customer));

      const erasureId = await erase(own.session, of(customer));
      const { body } = answers(await completed(own.session, erasureId), 200, {
        ...{ erasureId, by: "metadata", metadataName: "customer", matched: 2, erased: 2, remaining: 0 },
        ...{ keys: [bound.keyId], schedules: [schedule], hooks: [hook], notReached: ["providers"], finishedAt: is.time },
      });
      assert.ok(!JSON.stringify(body).includes(customer));
      for (const answer of [first, second]) await isGone(own, idOf(answer));
      assert.equal((await fetch(url)).status, 404);
      const summaryText = answers(await summary(), 200).text;
      assert.ok(!summaryText.includes(customer) && summaryText.includes(other));
      assert.ok(!(await own.session.get("/api/budgets")).text.includes(customer));
      answers(await own.get(`/api/executions/${idOf(others)}`), 200, { metadata: { customer: other } });
      for (const path of [`schedules/${schedule}`, `hooks/${hook}`])
        answers(await own.session.delete(`/api/workflows/${slug}/${path}`), 204);
      answers(await own.session.delete(`/api/keys/${bound.keyId}`), 204);
    },
  ),
  erasing("a dry run counts and erases nothing", async (ctx) => {
    const own = await owner(ctx);
    const customer = customerOf();
    const executionId = await run(own, await save(own, greeting()), customer);
    const dry = await own.session.post("/api/erasures", { ...of(customer), dryRun: true });
    answers(dry, 202, exactly({ erasureId: null, matched: 1, notReached: ["providers"] }));
    answers(await own.get(`/api/executions/${executionId}`), 200);
  }),
  erasing("an erasure takes exactly one of executions, metadata and workflow", async (ctx) => {
    const { session } = await owner(ctx);
    const bodies = [{}, { ...of("a"), workflow: "a" }, { executions: [] }, { executions: ["1"] }, { ...of("a"), before: "yesterday" }];
    for (const body of bodies) refuses(await session.post("/api/erasures", body), 400, "INVALID_REQUEST");
    const executions = Array.from({ length: 1_001 }, () => randomUUID());
    refuses(await session.post("/api/erasures", { executions }), 400, "INVALID_REQUEST");
  }),
  erasing("an erasure by id erases only the owner's executions, and one by workflow those before a time", async (ctx) => {
    const own = await owner(ctx);
    const slug = await save(own, greeting());
    const [first, second] = [await run(own, slug, "a"), await run(own, slug, "a")];
    const stranger = await ctx.actor({ tier: "business" });
    answers(await completed(stranger.session, await erase(stranger.session, { executions: [first] })), 200, { matched: 0, erased: 0 });
    refuses(await read(stranger.session, await erase(own.session, { executions: [first, randomUUID()] })), 404, "NOT_FOUND");
    await untilGone(own, `/api/executions/${first}`);
    const { createdAt } = answers(await own.get(`/api/executions/${second}`), 200).body as { createdAt: string };
    answers(await completed(own.session, await erase(own.session, { workflow: slug, before: createdAt })), 200, { matched: 0 });
    answers(await own.get(`/api/executions/${second}`), 200);
    answers(await read(own.session, await erase(own.session, { workflow: slug })), 200, { by: "workflow", matched: 1 });
    await untilGone(own, `/api/executions/${second}`);
  }),
  erasing("a running execution is erased after its end", async (ctx) => {
    const own = await owner(ctx);
    const customer = customerOf();
    const slug = await save(own, picture({ sandbox: { latencyMs: 60_000 } }));
    const started = await own.call("POST", `/api/workflows/${slug}/run`, {
      body: { inputs: {}, metadata: { customer } },
      headers: { prefer: "respond-async" },
    });
    const executionId: string = pick(answers(started, 202), "executionId");
    const erasureId = await erase(own.session, of(customer));
    answers(await read(own.session, erasureId), 200, { state: "running", matched: 1, erased: 0, remaining: 1, finishedAt: null });
    answers(await own.post(`/api/executions/${executionId}/cancel`), 200);
    await untilGone(own, `/api/executions/${executionId}`);
  }),
  erasing("an erasure by metadata removes batches with the metadata, and their rows", async (ctx) => {
    const own = await owner(ctx);
    const customer = customerOf();
    const body = { inputs: [{}, {}], metadata: { customer } };
    const created = await own.post(`/api/workflows/${await save(own, picture({ sandbox: { latencyMs: 10 } }))}/batches`, body);
    const batchId: string = pick(answers(created, 202), "batchId");
    await erase(own.session, of(customer));
    await untilGone(own, `/api/batches/${batchId}`);
    answers(await own.get(`/api/executions?batchId=${batchId}`), 200, { rows: [] });
  }),
  erasing("erasures are listed newest first, in pages, for the account and for keys that can create them", async (ctx) => {
    const own = await ctx.actor({ tier: "business" });
    const ids = [await erase(own.session, of("a")), await erase(own.session, { workflow: "a" }), await erase(own.session, of("b"))];
    const first = answers(await own.session.get("/api/erasures?limit=2"), 200, {
      rows: [
        { erasureId: ids[2]!, by: "metadata", metadataName: "customer" },
        { erasureId: ids[1]!, by: "workflow", metadataName: null },
      ],
    });
    const cursor = encodeURIComponent(pick<string>(first, "nextCursor"));
    answers(await own.session.get(`/api/erasures?limit=2&cursor=${cursor}`), 200, { rows: [{ erasureId: ids[0]! }], nextCursor: null });
    refuses(await own.session.get("/api/erasures?cursor=nonsense"), 400, "INVALID_REQUEST");
    const bound = await bind(own, ["erasure:write"], "a");
    const boundId = await erase(bound, { workflow: "a" });
    const { rows } = answers(await bound.get("/api/erasures"), 200).body as { rows: { erasureId: string }[] };
    assert.deepEqual(
      rows.map(({ erasureId }) => erasureId),
      [boundId],
    );
    refuses(await (await own.withKey(["execution:delete"])).get("/api/erasures"), 403, "CAPABILITY_DENIED", { required: "erasure:write" });
    answers(await (await owner(ctx)).session.get(`/api/erasures?limit=500`), 200);
  }),
  erasing("an Idempotency-Key creates one erasure, and rejects another body", async (ctx) => {
    const { session } = await owner(ctx);
    const headers = { "idempotency-key": randomUUID() };
    const create = (body: object) => session.call("POST", "/api/erasures", { body, headers });
    const [first, again] = [await create(of("nobody")), await create(of("nobody"))];
    assert.equal(pick(answers(first, 202), "erasureId"), pick(answers(again, 202), "erasureId"));
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    refuses(await create(of("somebody")), 422, "IDEMPOTENCY_KEY_REUSED");
  }),
  erasing("a key erases only with erasure:write, and only executions with its metadata if that is fixed", async (ctx) => {
    const own = await owner(ctx);
    const customer = customerOf();
    const executions = [idOf(await runModel(own, customer)), idOf(await runModel(own, "another"))];
    const deleting = await own.withKey(["execution:delete"]);
    refuses(await deleting.post("/api/erasures", { executions }), 403, "CAPABILITY_DENIED", { required: "erasure:write" });
    const bound = await bind(own, ["erasure:write"], customer);
    answers(await completed(bound, await erase(bound, { executions })), 200, { matched: 1, erased: 1 });
    await isGone(own, executions[0]!);
    answers(await own.get(`/api/executions/${executions[1]!}`), 200);
    refuses(await read(bound, await erase(own.session, { workflow: "a", before: "2020-01-01T00:00:00Z" })), 404, "NOT_FOUND");
  }),
];
