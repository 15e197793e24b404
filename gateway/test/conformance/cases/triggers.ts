import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { inSection, type Case } from "../case";
import { answers, exactly, is, pick, refuses } from "../check";
import { eventually, finished, type Actor, type Context } from "../context";
import { echo, save } from "../graphs";
import type { Answer } from "../../../../test-support/client";

const control = inSection("D22");

/** A time that occurs once in four years. */
const RARELY = "0 0 29 2 *";
const SECRET = "a secret of the sender";
const HMAC = { header: "X-Signature", secret: SECRET };

const user = (ctx: Context): Promise<Actor> => ctx.shared("pro", "triggers");
const flow = (actor: Actor): Promise<string> => save(actor, echo({ name: "prompt", type: "text", required: true }));

interface PostOptions {
  body?: string;
  headers?: Record<string, string>;
}
const send = (ctx: Context, url: string, { body = '{"prompt":"a loom"}', headers = {} }: PostOptions = {}): Promise<Answer> =>
  ctx.anonymous.call("POST", new URL(url).pathname, { raw: body, headers });
const sign = (body: string, secret = SECRET): string => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

const hookOn = async (actor: Actor, settings: Record<string, unknown> = {}): Promise<{ url: string; id: string; slug: string }> => {
  const slug = await flow(actor);
  const hook = answers(await actor.post(`/api/workflows/${slug}/hooks`, { expression: "", maxCredits: 5, ...settings }), 201);
  return { slug, url: pick(hook, "url"), id: pick(hook, "id") };
};

const schedules: Case[] = [
  control("a schedule is set, shown with its next times, changed, paused and deleted", async (ctx) => {
    const actor = await user(ctx);
    const slug = await flow(actor);
    const path = `/api/workflows/${slug}/schedules`;
    const reply = await actor.post(path, { cron: "0 9 * * 1-5", timezone: "Europe/Berlin", inputs: { prompt: "a loom" }, maxCredits: 5 });
    const schedule = {
      workflowSlug: slug,
      cron: "0 9 * * 1-5",
      maxCredits: 5,
      paused: false,
      stopped: null,
      history: [],
      nextRuns: is.listOf(is.time),
    };
    const id = pick<string>(answers(reply, 201, { ...schedule, id: is.uuid, inputs: { prompt: "a loom" } }), "id");
    assert.equal(reply.headers.get("location"), `${path}/${id}`);
    answers(await actor.get(path), 200, [schedule]);
    for (const typed of [id, id.toUpperCase()]) answers(await actor.get(`${path}/${typed}`), 200, { ...schedule, executions: [] });
    answers(await actor.patch(`${path}/${id}`, { paused: true, maxCredits: null }), 200, { paused: true, maxCredits: null, nextRuns: [] });
    answers(await actor.delete(`${path}/${id}`), 204);
    refuses(await actor.get(`${path}/${id}`), 404, "NOT_FOUND");
  }),
  control("all schedules and hooks of an account are listed, with their workflows, and none of others", async (ctx) => {
    const actor = await ctx.actor({ tier: "pro" });
    const [first, second] = [await flow(actor), await hookOn(actor)];
    const ids: string[] = [];
    for (const slug of [first, second.slug]) {
      const answer = await actor.post(`/api/workflows/${slug}/schedules`, { cron: RARELY, inputs: { prompt: "a loom" } });
      ids.push(pick(answers(answer, 201), "id"));
    }
    const listed = [
      { id: ids[0], workflowSlug: first, pendingChange: false },
      { id: ids[1], workflowSlug: second.slug, pendingChange: false },
    ];
    answers(await actor.get("/api/schedules"), 200, listed);
    const hookList = answers(await actor.get("/api/hooks"), 200, [{ id: second.id, workflowSlug: second.slug }]);
    assert.ok(!hookList.text.includes(new URL(second.url).pathname.slice("/hooks/".length)));
    const stranger = await ctx.actor({ tier: "pro" });
    answers(await stranger.get("/api/schedules"), 200, []);
    answers(await stranger.get("/api/hooks"), 200, []);
    refuses(await ctx.anonymous.get("/api/schedules"), 401, "UNAUTHENTICATED");
    refuses(await (await actor.withKey(["workflow:run"])).get("/api/hooks"), 403, "CAPABILITY_DENIED", { required: "workflow:read" });
  }),
  control("a schedule accepts its own webhook, which needs webhook:receive by key and a public address", async (ctx) => {
    const actor = await user(ctx);
    const path = `/api/workflows/${await flow(actor)}/schedules`;
    const webhook = { url: "https://example.com/hook", events: ["execution.failed"] };
    const schedule = { cron: RARELY, inputs: { prompt: "a loom" }, webhook };
    const without = await actor.withKey(["workflow:write", "workflow:run"]);
    refuses(await without.post(path, schedule), 403, "CAPABILITY_DENIED", { required: "webhook:receive" });
    refuses(await actor.post(path, { ...schedule, webhook: { url: "http://10.0.0.1/hook" } }), 400, "INVALID_REQUEST");
    const id = pick<string>(answers(await actor.post(path, schedule), 201, { webhook: exactly(webhook) }), "id");
    answers(await actor.patch(`${path}/${id}`, { maxCredits: 3 }), 200, { webhook: exactly(webhook) });
    answers(await actor.patch(`${path}/${id}`, { webhook: null }), 200, { webhook: null });
    answers(await actor.delete(`${path}/${id}`), 204);
  }),
  control("the error for an invalid schedule explains the problem with its times", async (ctx) => {
    const actor = await user(ctx);
    const path = `/api/workflows/${await flow(actor)}/schedules`;
    const wrong = { cron: "61 * * * *", timezone: "Middle/Earth", inputs: { prompt: "a loom" } };
    const issues = [
      { path: "timezone", message: is.text },
      { path: "cron", message: is.text },
    ];
    refuses(await actor.post(path, wrong), 400, "INVALID_REQUEST", { issues });
    refuses(await actor.post(path, { cron: RARELY }), 400, "INVALID_INPUTS");
  }),
  control("schedules and hooks need workflow:write and the run capability, and a tier with an API", async (ctx) => {
    const actor = await user(ctx);
    const slug = await flow(actor);
    const schedule = { cron: RARELY, inputs: { prompt: "a loom" } };
    const hook = { expression: "", maxCredits: 1 };
    for (const [grants, required] of [
      [["workflow:run"], "workflow:write"],
      [["workflow:write"], `workflow:${slug}:run`],
    ] as const) {
      const key = await actor.withKey([...grants]);
      refuses(await key.post(`/api/workflows/${slug}/schedules`, schedule), 403, "CAPABILITY_DENIED", { required });
      refuses(await key.post(`/api/workflows/${slug}/hooks`, hook), 403, "CAPABILITY_DENIED", { required });
    }
    const free = await ctx.shared("free", "triggers");
    const own = await save(free.session, echo({ name: "prompt", type: "text" }));
    for (const [kind, body] of [
      ["schedules", schedule],
      ["hooks", hook],
    ] as const)
      refuses(await free.session.post(`/api/workflows/${own}/${kind}`, body), 403, "CAPABILITY_DENIED", { requiredTier: "pro" });
  }),
  control("other accounts' schedules and hooks are absent", async (ctx) => {
    const [actor, stranger] = [await user(ctx), await ctx.shared("pro", "strangers")];
    const { slug, id } = await hookOn(actor);
    refuses(await stranger.delete(`/api/workflows/${slug}/hooks/${id}`), 404, "NOT_FOUND");
    assert.equal((await stranger.get(`/api/workflows/${slug}/hooks`)).status, 404);
    assert.equal((await stranger.post(`/api/workflows/${slug}/schedules`, { cron: RARELY })).status, 404);
    answers(await actor.get(`/api/workflows/${slug}/hooks`), 200, [{ id }]);
  }),
];

const hooks: Case[] = [
  control("a request to a hook runs its workflow, with inputs by its expression, in its owner's name", async (ctx) => {
    const actor = await user(ctx);
    const { url, id, slug } = await hookOn(actor, { expression: "{ prompt: issue.title }" });
    const reply = await send(ctx, url, { body: JSON.stringify({ issue: { title: "a paper boat" } }) });
    const executionId = pick<string>(answers(reply, 202, exactly({ executionId: is.uuid, status: "processing" })), "executionId");
    assert.equal(reply.headers.get("x-execution-id"), executionId);
    const run = await finished(actor, executionId);
    answers(run, 200, { workflowSlug: slug, source: "api-workflow", metadata: { hookId: id }, result: { value: "a paper boat" } });
    refuses(await send(ctx, url, { body: "[]" }), 400, "INVALID_INPUTS");
    refuses(await send(ctx, url, { body: "{" }), 400, "INVALID_REQUEST");
  }),
  control("the address of a hook is shown once, and only its prefix afterwards", async (ctx) => {
    const actor = await user(ctx);
    const { url, slug } = await hookOn(actor, { hmac: HMAC });
    const secret = new URL(url).pathname.slice("/hooks/".length);
    const listed = await actor.get(`/api/workflows/${slug}/hooks`);
    answers(listed, 200, [{ start: secret.slice(0, 8), hmac: exactly({ header: HMAC.header }), url: is.absent }]);
    assert.ok(!listed.text.includes(secret) && !listed.text.includes(SECRET));
  }),
  control("a signed hook accepts only requests signed with its secret", async (ctx) => {
    const actor = await user(ctx);
    const { url } = await hookOn(actor, { hmac: HMAC });
    const body = '{"prompt": "signed"}';
    for (const signature of [undefined, "sha256=", sign(body, "another"), sign(`${body} `), sign(body).slice("sha256=".length)])
      refuses(
        await send(ctx, url, { body, headers: signature === undefined ? {} : { "x-signature": signature } }),
        401,
        "SIGNATURE_INVALID",
      );
    answers(await send(ctx, url, { body, headers: { "x-signature": sign(body) } }), 202);
  }),
  control("a repeated delivery is the same run", async (ctx) => {
    const actor = await user(ctx);
    const { url, id } = await hookOn(actor, { deliveryIdHeader: "X-Delivery" });
    const delivery = { headers: { "x-delivery": "d-1" } };
    const [first, ...again] = await Promise.all([1, 2, 3].map(() => send(ctx, url, delivery)));
    const executionId = pick<string>(answers(first!, 202), "executionId");
    for (const answer of [...again, await send(ctx, url, delivery)]) answers(answer, 202, { executionId });
    assert.equal((await send(ctx, url, delivery)).headers.get("idempotency-replayed"), "true");
    refuses(await send(ctx, url, { ...delivery, body: '{"prompt":"other"}' }), 422, "IDEMPOTENCY_KEY_REUSED");
    refuses(await send(ctx, url), 400, "INVALID_REQUEST");
    await finished(actor, executionId);
    answers(await actor.get(`/api/executions?metadata.hookId=${id}`), 200, { rows: [{ executionId }] });
  }),
  control("a hook ends at once when it is deleted, and with the key that created it", async (ctx) => {
    const actor = await user(ctx);
    const { url, slug, id } = await hookOn(actor);
    answers(await send(ctx, url), 202);
    answers(await actor.delete(`/api/workflows/${slug}/hooks/${id}`), 204);
    const key = await actor.withKey({ preset: "full-deploy" });
    const ofKey = await hookOn(key);
    answers(await send(ctx, ofKey.url), 202);
    answers(await actor.session.delete(`/api/keys/${key.keyId}`), 204);
    await eventually(
      () => send(ctx, ofKey.url),
      (answer) => answer.status === 404,
    );
    const unknown = `${ctx.baseUrl}/hooks/nlh_${"x".repeat(43)}`;
    const [afterRemoval, afterKeyEnd, never] = [await send(ctx, url), await send(ctx, ofKey.url), await send(ctx, unknown)];
    for (const answer of [afterRemoval, afterKeyEnd, never]) refuses(answer, 404, "NOT_FOUND");
    assert.equal(afterRemoval.text, never.text);
    assert.equal(afterKeyEnd.text, never.text);
  }),
  control("a hook's runs cost at most its maxCredits, which is required", async (ctx) => {
    const actor = await user(ctx);
    const slug = await flow(actor);
    refuses(await actor.post(`/api/workflows/${slug}/hooks`, { expression: "" }), 400, "INVALID_REQUEST");
    refuses(await actor.post(`/api/workflows/${slug}/hooks`, { expression: "[", maxCredits: 1 }), 400, "INVALID_REQUEST", {
      issues: [{ path: "expression", message: is.text }],
    });
  }),
];

export const triggerCases: Case[] = [...schedules, ...hooks];
