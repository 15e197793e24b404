import assert from "node:assert/strict";
import { inSection, type Case, type CaseOptions } from "../case";
import { answers, exactly, fits, is, pick, refuses } from "../check";
import { eventually, finished, type Actor, type Context } from "../context";
import { clip, runGraph, save, submitGraph } from "../graphs";
import { isSignedBy, signature, signatures, type Delivery, type Inbox, type Respond } from "../../../../test-support/receiver";

const events = inSection("6");
const deliveries = inSection("D8");
const keys = inSection("D3");
const egress = inSection("D9");

const NEEDS: CaseOptions = { needs: ["receiver"] };
const PATIENT: CaseOptions = { ...NEEDS, deadlineMs: 320_000 };
/** Longer than the five seconds before the second attempt. */
const RETRIED_MS = 150_000;
const QUICK = { latencyMs: 10 };

interface Subscriber {
  user: Actor;
  inbox: Inbox;
}
const subscriber = async (ctx: Context, settings: { respond?: Respond; events?: string[] } = {}): Promise<Subscriber> => {
  const inbox = ctx.receiver!.inbox(settings.respond);
  const webhook = { url: inbox.url, ...(settings.events ? { events: settings.events } : {}) };
  return { user: await ctx.actor({ tier: "pro", webhook }), inbox };
};

const delivered = (user: Actor, id: string) =>
  eventually(
    () => user.get(`/api/executions/${id}`),
    ({ body }) => typeof (body.webhookDelivery as { deliveredAt?: unknown } | undefined)?.deliveredAt === "string",
    RETRIED_MS,
  );
const attempted = (user: Actor, id: string, attempts: number) =>
  eventually(
    () => user.get(`/api/executions/${id}`),
    ({ body }) => (body.webhookDelivery as { attempts?: number } | undefined)?.attempts === attempts,
  );
const received = (inbox: Inbox, count: number): Promise<Delivery[]> =>
  eventually(
    () => Promise.resolve(inbox.deliveries),
    (all) => all.length >= count,
    RETRIED_MS,
  );

/** Rejects the first delivery, and accepts later ones. */
const firstFails =
  (status: number, headers: Record<string, string> = {}): Respond =>
  (response, count) =>
    void response.writeHead(count === 1 ? status : 204, count === 1 ? headers : {}).end();

const announcements: Case[] = [
  events(
    "the completion of an asynchronous run is announced to the key's webhook",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx);
      const slug = await save(user, clip(QUICK));
      const answer = answers(await user.post(`/api/workflows/${slug}/run?async=true`, { inputs: {} }), 202, {
        webhookDelivery: exactly({ configured: true, url: inbox.url }),
      });
      const [one] = await received(inbox, 1);
      fits(JSON.parse(one!.body), { type: "execution.completed", data: { executionId: pick(answer, "executionId"), status: "completed" } });
    },
    NEEDS,
  ),
  events(
    "the poll shows attempts, deliveredAt and lastError",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx);
      const polled = await delivered(user, await submitGraph(user, clip(QUICK)));
      answers(polled, 200, { webhookDelivery: { configured: true, url: inbox.url, attempts: 1, deliveredAt: is.time, lastError: null } });
    },
    NEEDS,
  ),
  events(
    "synchronous runs are not announced",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx);
      answers(await runGraph(user, clip(QUICK)), 200);
      const id = await submitGraph(user, clip(QUICK));
      await delivered(user, id);
      fits(
        inbox.deliveries.map(({ body }) => (JSON.parse(body) as { data: { executionId: string } }).data.executionId),
        [id],
      );
    },
    NEEDS,
  ),
  deliveries(
    "a run's own webhook gets its message instead of the key's webhook, signed with the account's secret, also by session",
    async (ctx) => {
      const { user, inbox: keys } = await subscriber(ctx);
      const own = ctx.receiver!.inbox();
      const slug = await save(user, clip(QUICK));
      const body = { inputs: {}, webhook: { url: own.url, events: ["execution.completed"] } };
      for (const caller of [user, user.session]) {
        const configured = { webhookDelivery: exactly({ configured: true, url: own.url }) };
        answers(await caller.post(`/api/workflows/${slug}/run?async=true`, body), 202, configured);
      }
      const first = pick<string>(answers(await user.session.get("/api/webhook-secret"), 200), "secret");
      for (const delivery of await received(own, 2)) assert.ok(isSignedBy(first, delivery));
      assert.equal(keys.deliveries.length, 0);
      const rotated = pick<string>(answers(await user.session.post("/api/webhook-secret/rotate"), 200), "secret");
      assert.notEqual(rotated, first);
    },
    NEEDS,
  ),
  deliveries("a run's own webhook needs webhook:receive by key, and a public address; without them nothing runs", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const slug = await save(user, clip(QUICK));
    const to = (url: string) => ({ inputs: {}, webhook: { url } });
    const without = await user.withKey(["workflow:run"]);
    const path = `/api/workflows/${slug}/run?async=true`;
    refuses(await without.post(path, to("https://example.com/hook")), 403, "CAPABILITY_DENIED", { required: "webhook:receive" });
    refuses(await user.session.post(path, to("http://10.0.0.1/hook")), 400, "INVALID_REQUEST");
    answers(await user.session.get("/api/executions"), 200, { rows: [], nextCursor: null });
  }),
  events(
    "a run of another key is not announced",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx);
      const other = await user.withKey({ preset: "full-deploy" });
      const slug = await save(other, clip(QUICK));
      const answer = await other.post(`/api/workflows/${slug}/run?async=true`, { inputs: {} });
      answers(answer, 202, { webhookDelivery: exactly({ configured: false }) });
      await finished(other, pick(answer, "executionId"));
      assert.equal(inbox.deliveries.length, 0);
    },
    NEEDS,
  ),
  events(
    "executionId identifies repeated deliveries",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx);
      const id = await submitGraph(user, clip(QUICK));
      await delivered(user, id);
      answers(await user.post(`/api/executions/${id}/redeliver`), 202, { webhookDelivery: { configured: true } });
      const both = await received(inbox, 2);
      for (const { body } of both) fits(JSON.parse(body), { data: { executionId: id } });
    },
    NEEDS,
  ),
];

const payloads: Case[] = [
  deliveries(
    "a delivery has Standard Webhooks' headers and a valid signature",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx);
      const id = await submitGraph(user, clip(QUICK));
      const [one] = await received(inbox, 1);
      assert.equal(one!.headers["webhook-id"], `msg_${id}`);
      assert.ok(Math.abs(Number(one!.headers["webhook-timestamp"]) - Date.now() / 1_000) < 60);
      assert.match(String(one!.headers["content-type"]), /^application\/json/);
      assert.deepEqual(signatures(one!), [signature(user.webhookSecret, one!)]);
    },
    NEEDS,
  ),
  deliveries(
    "the body has type, timestamp and the execution as in a poll",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx);
      const id = await submitGraph(user, clip(QUICK));
      const [one] = await received(inbox, 1);
      const body = JSON.parse(one!.body) as { data: Record<string, unknown> };
      fits(body, exactly({ type: "execution.completed", timestamp: is.time, data: is.object }));
      const polled = (await user.get(`/api/executions/${id}`)).body as Record<string, unknown>;
      for (const name of ["executionId", "status", "result", "requestId"]) assert.deepEqual(body.data[name], polled[name]);
    },
    NEEDS,
  ),
  deliveries(
    "a failure is announced as execution.failed",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx);
      await submitGraph(user, clip({ latencyMs: 600, fail: "job" }));
      const [one] = await received(inbox, 1);
      fits(JSON.parse(one!.body), { type: "execution.failed", data: { status: "failed", error: { code: "EXECUTION_FAILED" } } });
    },
    NEEDS,
  ),
  deliveries(
    "a cancellation is announced as execution.cancelled",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx);
      const id = await submitGraph(user, clip({ latencyMs: 600_000 }));
      await user.post(`/api/executions/${id}/cancel`);
      const [one] = await received(inbox, 1);
      fits(JSON.parse(one!.body), { type: "execution.cancelled", data: { executionId: id, status: "cancelled" } });
    },
    NEEDS,
  ),
  deliveries(
    "only subscribed events are sent",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx, { events: ["execution.failed"] });
      await finished(user, await submitGraph(user, clip(QUICK)));
      await submitGraph(user, clip({ latencyMs: 600, fail: "job" }));
      await received(inbox, 1);
      fits(
        inbox.deliveries.map(({ body }) => (JSON.parse(body) as { type: string }).type),
        ["execution.failed"],
      );
    },
    NEEDS,
  ),
  deliveries(
    "while a replaced secret is still valid, both secrets sign",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx);
      const path = `/api/keys/${user.keyId}/webhook`;
      const secret = pick(answers(await user.session.put(path, { url: inbox.url }), 200), "webhookSecret");
      await submitGraph(user, clip(QUICK));
      const [one] = await received(inbox, 1);
      assert.deepEqual(signatures(one!).sort(), [signature(secret, one!), signature(user.webhookSecret, one!)].sort());
    },
    NEEDS,
  ),
];

const attempts: Case[] = [
  deliveries(
    "a rejected delivery is retried after five seconds, under the same id",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx, { respond: (response, count) => void response.writeHead(count < 3 ? 503 : 204).end() });
      const id = await submitGraph(user, clip(QUICK));
      const [first, second] = await received(inbox, 2);
      const gap = second!.at - first!.at;
      // The next attempt would be made five minutes later.
      assert.ok(gap >= 4_000 && gap < 120_000, `the gap is ${gap} ms`);
      assert.equal(second!.headers["webhook-id"], first!.headers["webhook-id"]);
      assert.equal(second!.body, first!.body);
      const waiting = await attempted(user, id, 2);
      answers(waiting, 200, {
        webhookDelivery: { state: "pending", attempts: 2, deliveredAt: null, lastError: is.text, nextAttemptAt: is.time },
      });
      answers(await user.post(`/api/executions/${id}/redeliver`), 202);
      answers(await delivered(user, id), 200, { webhookDelivery: { attempts: 3, lastError: null } });
    },
    PATIENT,
  ),
  deliveries(
    "a redirect is a failure, and is not followed",
    async (ctx) => {
      const elsewhere = ctx.receiver!.inbox();
      const { user, inbox } = await subscriber(ctx, { respond: firstFails(302, { location: elsewhere.url }) });
      await submitGraph(user, clip(QUICK));
      await received(inbox, 2);
      assert.equal(elsewhere.deliveries.length, 0);
    },
    PATIENT,
  ),
  deliveries(
    "Retry-After is honoured",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx, { respond: firstFails(429, { "retry-after": "9" }) });
      const id = await submitGraph(user, clip(QUICK));
      const [first, second] = await received(inbox, 2);
      assert.ok(second!.at - first!.at >= 8_500, `the gap is ${second!.at - first!.at} ms`);
      answers(await delivered(user, id), 200, { webhookDelivery: { attempts: 2, lastError: null } });
    },
    PATIENT,
  ),
  deliveries(
    "410 disables the webhook",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx, { respond: (response) => void response.writeHead(410).end() });
      const id = await submitGraph(user, clip(QUICK));
      await received(inbox, 1);
      const disabled = await eventually(
        async () =>
          (await user.session.get("/api/keys")).body as unknown as { id: string; webhook: { disabledAt: string | null } | null }[],
        (all) => all.some(({ id, webhook }) => id === user.keyId && typeof webhook?.disabledAt === "string"),
      );
      assert.ok(disabled);
      answers(await user.post(`/api/executions/${id}/redeliver`), 412, { code: "PRECONDITION_FAILED" });
      const slug = await save(user, clip(QUICK));
      const next = await eventually(
        () => user.post(`/api/workflows/${slug}/run?async=true`, { inputs: {} }),
        ({ body }) => (body.webhookDelivery as { configured?: boolean } | undefined)?.configured === false,
      );
      await finished(user, pick(next, "executionId"));
      assert.equal(inbox.deliveries.length <= 2, true);
    },
    PATIENT,
  ),
  deliveries(
    "the poll shows every attempt, with its time, status and delivery",
    async (ctx) => {
      // No automatic attempt is made before the requested one.
      const { user } = await subscriber(ctx, { respond: firstFails(500, { "retry-after": "3600" }) });
      const id = await submitGraph(user, clip(QUICK));
      await attempted(user, id, 1);
      answers(await user.post(`/api/executions/${id}/redeliver`), 202);
      const { body } = await delivered(user, id);
      const { state, history } = body.webhookDelivery as { state: string; history: object[] };
      assert.deepEqual([state, history.length], ["delivered", 2]);
      fits(history[0], { at: is.time, status: 500, error: is.text, durationMs: is.number, delivery: 1, attempt: 1 });
      fits(history[1], { at: is.time, status: 204, error: null, durationMs: is.number, delivery: 2, attempt: 1 });
    },
    NEEDS,
  ),
  deliveries("an execution without a webhook can't be redelivered", async (ctx) => {
    const user = await ctx.shared("pro", "events");
    const id = await submitGraph(user, clip(QUICK));
    await finished(user, id);
    const answer = await user.post(`/api/executions/${id}/redeliver`);
    assert.ok(answer.status >= 400 && answer.status < 500, `the status is ${answer.status}`);
    answers(answer, answer.status, { error: is.text, code: is.text });
  }),
  deliveries("someone else's execution can't be redelivered", async (ctx) => {
    const user = await ctx.shared("pro", "events");
    const id = await submitGraph(user, clip(QUICK));
    await finished(user, id);
    answers(await (await ctx.shared("business", "reader")).post(`/api/executions/${id}/redeliver`), 404, { code: "EXECUTION_NOT_FOUND" });
  }),
  keys(
    "a webhook can be tested: a signed delivery arrives",
    async (ctx) => {
      const { user, inbox } = await subscriber(ctx);
      const answer = await user.session.post(`/api/keys/${user.keyId}/webhook/test`);
      assert.ok(answer.status >= 200 && answer.status < 300, `${answer.status}: ${answer.text}`);
      const [one] = await received(inbox, 1);
      assert.deepEqual(signatures(one!), [signature(user.webhookSecret, one!)]);
    },
    NEEDS,
  ),
];

/** Maximum within two adjacent minutes. One more is rejected at any time. */
const TESTS_OF_TWO_MINUTES = 120;

const budget: Case[] = [
  egress("a webhook can be tested 60 times a minute, and a further test gets the time of the next one", async (ctx) => {
    const user = await ctx.actor({ tier: "enterprise", webhook: { url: "http://nowhere.invalid/hook" } });
    const test = () => user.session.post(`/api/keys/${user.keyId}/webhook/test`);
    for (let sentCount = 0; sentCount < TESTS_OF_TWO_MINUTES; sentCount += 1) {
      const answer = await test();
      if (answer.status !== 200) return void refuses(answer, 429, "RATE_LIMIT_EXCEEDED", { limit: 60, retryAfter: is.positive });
    }
    refuses(await test(), 429, "RATE_LIMIT_EXCEEDED", { limit: 60, retryAfter: is.positive });
  }),
];

export const eventCases: Case[] = [...announcements, ...payloads, ...attempts, ...budget];
