import assert from "node:assert/strict";
import { inSection, type Case, type CaseOptions } from "../case";
import { answers, exactly, fits, is, pick, refuses } from "../check";
import { eventually, type Actor, type Context } from "../context";
import { clip, edge, greeting, node, runGraph, save, submitGraph, type Graph } from "../graphs";
import { isSignedBy, type Delivery, type Inbox, type Respond } from "../../../../test-support/receiver";

/** Webhook endpoints of accounts. */

const endpoints = inSection("D32");
const NEEDS: CaseOptions = { needs: ["receiver"] };
const PATH = "/api/webhook-endpoints";
const QUICK = { latencyMs: 10 };
const GRANTS = ["workflow:run", "workflow:read", "workflow:write", "execution:read"];

const waiting: Graph = {
  name: "Waiting",
  nodes: [node("draft", "text-box", { text: "a boat" }), node("review", "approval", { title: "Good?" }), node("out", "response-output")],
  edges: [edge("draft.text", "review.value"), edge("review.approved", "out.text")],
};

interface Message {
  type: string;
  data: Record<string, unknown>;
}
const messageOf = ({ body }: Delivery): Message => JSON.parse(body) as Message;
const received = (inbox: Inbox, count: number): Promise<Delivery[]> =>
  eventually(
    () => Promise.resolve(inbox.deliveries),
    (all) => all.length >= count,
  );

interface Endpoint {
  id: string;
  secret: string;
  inbox: Inbox;
}
const add = async (ctx: Context, actor: Actor, events: string[], respond?: Respond): Promise<Endpoint> => {
  const inbox = ctx.receiver!.inbox(respond);
  const { body } = answers(await actor.session.post(PATH, { url: inbox.url, events, description: "Orders" }), 201, {
    ...{ id: is.uuid, url: inbox.url, events, description: "Orders", disabledAt: null, disabledReason: null },
    ...{ secret: is.text, createdAt: is.time, updatedAt: is.time },
  });
  return { id: String(body.id), secret: String(body.secret), inbox };
};
interface Row {
  id: string;
  state: string;
}
const deliveriesOf = async (actor: Actor, id: string): Promise<Row[]> =>
  (answers(await actor.session.get(`${PATH}/${id}/deliveries`), 200).body as { rows: Row[] }).rows;

const announcing: Case[] = [
  endpoints(
    "every endpoint gets the subscribed ends of the account's runs by key and session, signed with its own secret",
    async (ctx) => {
      const actor = await ctx.actor({ tier: "pro" });
      const [ends, sync] = [await add(ctx, actor, ["execution.completed"]), await add(ctx, actor, ["execution.sync.completed"])];
      const key = await actor.withKey(GRANTS);
      answers(await runGraph(key, clip(QUICK)), 200);
      const ids = [await submitGraph(key, clip(QUICK)), await submitGraph(actor.session, clip(QUICK))];
      const deliveries = await received(ends.inbox, 2);
      assert.deepEqual(new Set(deliveries.map((one) => messageOf(one).data.executionId)), new Set(ids));
      for (const one of deliveries) {
        fits(messageOf(one), {
          type: "execution.completed",
          data: { status: "completed", webhookDelivery: exactly({ configured: false }) },
        });
        assert.equal(one.headers["webhook-id"], `msg_${String(messageOf(one).data.executionId)}`);
        assert.ok(isSignedBy(ends.secret, one) && !isSignedBy(sync.secret, one));
      }
      const [only] = await received(sync.inbox, 1);
      fits(messageOf(only!), { type: "execution.sync.completed", data: { status: "completed" } });
      assert.ok(!ids.includes(String(messageOf(only!).data.executionId)));
      assert.deepEqual([ends.inbox.deliveries.length, sync.inbox.deliveries.length], [2, 1]);
    },
    NEEDS,
  ),
  endpoints(
    "an endpoint gets the wait of a run, and the end of a batch but not of its items",
    async (ctx) => {
      const actor = await ctx.actor({ tier: "pro" });
      const { inbox } = await add(ctx, actor, ["execution.completed", "execution.waiting", "batch.completed"]);
      const key = await actor.withKey(GRANTS);
      const executionId = pick<string>(answers(await runGraph(key, waiting), 202), "executionId");
      const [first] = await received(inbox, 1);
      fits(messageOf(first!), { type: "execution.waiting", data: { executionId, nodeId: "review", consoleUrl: is.text } });
      const created = await key.post(`/api/workflows/${await save(key, greeting())}/batches`, { inputs: [{}, {}] });
      const batchId = pick<string>(answers(created, 202), "batchId");
      const [, second] = await received(inbox, 2);
      fits(messageOf(second!), { type: "batch.completed", data: { batchId, status: "completed" } });
      assert.equal(inbox.deliveries.length, 2);
    },
    NEEDS,
  ),
  endpoints(
    "deliveries are listed with the endpoint, and one is sent again under the same webhook-id",
    async (ctx) => {
      const actor = await ctx.actor({ tier: "pro" });
      const { id, inbox } = await add(ctx, actor, ["execution.completed"]);
      const executionId = await submitGraph(await actor.withKey(GRANTS), clip(QUICK));
      const [row] = await eventually(
        () => deliveriesOf(actor, id),
        (rows) => rows[0]?.state === "delivered",
      );
      fits(row, {
        ...{ event: "execution.completed", executionId, batchId: null, messageId: `msg_${executionId}`, attempts: 1, lastError: null },
        history: [{ delivery: 1, attempt: 1, status: 204, error: null, url: inbox.url }],
      });
      const again = `${PATH}/${id}/deliveries/${row!.id}/redeliver`;
      answers(await actor.session.post(again), 200, { id: row!.id });
      const [first, second] = await received(inbox, 2);
      assert.equal(second!.headers["webhook-id"], first!.headers["webhook-id"]);
      const stranger = await ctx.actor({ tier: "pro" });
      refuses(await stranger.session.post(again), 404, "NOT_FOUND");
      assert.deepEqual(await deliveriesOf(stranger, id), []);
      answers(await actor.session.patch(`${PATH}/${id}`, { events: ["execution.failed"] }), 200);
      refuses(await actor.session.post(again), 412, "PRECONDITION_FAILED");
    },
    NEEDS,
  ),
  endpoints(
    "a signed test message is sent to an endpoint whatever its events are, appears in its deliveries, and never disables it",
    async (ctx) => {
      const actor = await ctx.actor({ tier: "pro" });
      const respondGone: Respond = (response, count) => void response.writeHead(count === 2 ? 410 : 204).end();
      const { id, secret, inbox } = await add(ctx, actor, ["budget.alert"], respondGone);
      const test = `${PATH}/${id}/test`;
      const testReply = answers(await actor.session.post(test), 200, { event: "webhook.test", executionId: null, batchId: null });
      const [message] = await received(inbox, 1);
      fits(messageOf(message!), { type: "webhook.test", data: exactly({ endpointId: id }) });
      assert.equal(message!.headers["webhook-id"], testReply.body.messageId);
      assert.ok(isSignedBy(secret, message!));
      answers(await actor.session.post(test), 200);
      const [failed, delivered] = await eventually(
        () => deliveriesOf(actor, id),
        (rows) => rows.length === 2 && rows.every(({ state }) => state !== "pending"),
      );
      assert.deepEqual([failed!.state, delivered!.state, delivered!.id], ["failed", "delivered", testReply.body.id]);
      fits(answers(await actor.session.get(PATH), 200).body, { endpoints: [{ id, disabledAt: null }] });
      refuses(await (await ctx.actor({ tier: "pro" })).session.post(test), 404, "NOT_FOUND");
      answers(await actor.session.patch(`${PATH}/${id}`, { disabled: true }), 200);
      refuses(await actor.session.post(test), 412, "PRECONDITION_FAILED");
    },
    NEEDS,
  ),
  endpoints(
    "an endpoint that returns 410 is disabled, gets no more messages, and is enabled again by its owner",
    async (ctx) => {
      const actor = await ctx.actor({ tier: "pro" });
      const respondGone: Respond = (response, count) => void response.writeHead(count === 1 ? 410 : 204).end();
      const { id, inbox } = await add(ctx, actor, ["execution.completed"], respondGone);
      const key = await actor.withKey(GRANTS);
      await submitGraph(key, clip(QUICK));
      const listed = () => actor.session.get(PATH);
      const { body } = await eventually(
        listed,
        (answer) => (answer.body as { endpoints: { disabledAt: unknown }[] }).endpoints[0]!.disabledAt !== null,
      );
      fits(body, { endpoints: [{ id, disabledAt: is.time, disabledReason: "the receiver answered 410 Gone" }] });
      const [row] = await deliveriesOf(actor, id);
      const again = `${PATH}/${id}/deliveries/${row!.id}/redeliver`;
      refuses(await actor.session.post(again), 412, "PRECONDITION_FAILED");
      answers(await actor.session.patch(`${PATH}/${id}`, { disabled: false }), 200, { disabledAt: null, disabledReason: null });
      answers(await actor.session.post(again), 200);
      await received(inbox, 2);
    },
    NEEDS,
  ),
];

const auditing: Case[] = [
  endpoints(
    "an endpoint with audit.row gets new rows of the audit log as the log shows them, and a message makes no row",
    async (ctx) => {
      const actor = await ctx.actor({ tier: "pro" });
      const { secret, inbox } = await add(ctx, actor, ["audit.row"]);
      const slug = await save(actor, greeting());
      const isDelete = (delivery: Delivery): boolean => messageOf(delivery).data.action === "workflow.delete";
      answers(await actor.delete(`/api/workflows/${slug}`), 204);
      const deliveries = await eventually(
        () => Promise.resolve(inbox.deliveries),
        (all) => all.some(isDelete),
      );
      const message = deliveries.find(isDelete)!;
      assert.ok(isSignedBy(secret, message));
      const path = `/api/organizations/${actor.userId}/audit`;
      const rowsOf = async () => (answers(await actor.session.get(path), 200).body as { rows: Record<string, unknown>[] }).rows;
      const rows = await rowsOf();
      const row = rows.find(({ action }) => action === "workflow.delete")!;
      fits(messageOf(message), { type: "audit.row", timestamp: row.at, data: exactly(row) });
      assert.equal(message.headers["webhook-id"], `msg_audit_${String(row.id)}`);
      assert.deepEqual(await rowsOf(), rows);
    },
    NEEDS,
  ),
  endpoints("only an owner's session subscribes an endpoint to audit.row, and changes or deletes it", async (ctx) => {
    const owner = await ctx.actor({ tier: "business" });
    const url = "https://example.com/hook";
    const key = await owner.withKey(["webhooks:write", "execution:read"]);
    refuses(await key.post(PATH, { url, events: ["audit.row"] }), 403, "CAPABILITY_DENIED", { requiredRole: "owner" });
    const one = `${PATH}/${pick<string>(answers(await owner.session.post(PATH, { url, events: ["audit.row"] }), 201), "id")}`;
    for (const refused of [key.patch(one, { url: "https://example.org/elsewhere" }), key.post(`${one}/rotate`), key.delete(one)])
      refuses(await refused, 403, "CAPABILITY_DENIED", { requiredRole: "owner" });
    answers(await owner.session.delete(one), 204);
  }),
];

const managing: Case[] = [
  endpoints("endpoints need webhooks:write and execution:read by key, and each change is an audit row", async (ctx) => {
    const actor = await ctx.actor({ tier: "business" });
    refuses(await actor.get(PATH), 403, "SESSION_REQUIRED", { required: "webhooks:write" });
    const blind = await actor.withKey(["webhooks:write"]);
    refuses(await blind.get(PATH), 403, "CAPABILITY_DENIED", { required: "execution:read" });
    const key = await actor.withKey(["webhooks:write", "execution:read"]);
    const endpoint = { url: "https://example.com/hook", events: ["execution.failed"] };
    const created = answers(await key.post(PATH, endpoint), 201, { ...endpoint, description: "" });
    const one = `${PATH}/${String(created.body.id)}`;
    const { secret, ...shownEndpoint } = created.body;
    fits(answers(await key.get(PATH), 200).body, { endpoints: [exactly(shownEndpoint)] });
    const rotated = pick<string>(answers(await key.post(`${one}/rotate`), 200), "secret");
    assert.notEqual(rotated, secret);
    const stranger = (await ctx.shared("pro", "automation")).session;
    for (const reply of [stranger.patch(one, { disabled: true }), stranger.post(`${one}/rotate`), stranger.delete(one)])
      refuses(await reply, 404, "NOT_FOUND");
    answers(await key.patch(one, { description: "Orders" }), 200, { description: "Orders", disabledAt: null });
    answers(await key.delete(one), 204);
    refuses(await key.delete(one), 404, "NOT_FOUND");
    const { rows } = answers(await actor.session.get(`/api/organizations/${actor.userId}/audit`), 200).body as {
      rows: { action: string }[];
    };
    for (const change of ["create", "rotate", "update", "delete"])
      assert.ok(
        rows.some(({ action }) => action === `webhook-endpoint.${change}`),
        change,
      );
    assert.ok(!JSON.stringify(rows).includes(rotated));
  }),
  endpoints("an endpoint needs a public address and known events, and an account has at most 20", async (ctx) => {
    const { session } = await ctx.actor({ tier: "pro" });
    const endpoint = { url: "https://example.com/hook", events: ["execution.failed"] };
    refuses(await session.post(PATH, { ...endpoint, url: "http://10.0.0.1/hook" }), 400, "INVALID_REQUEST");
    refuses(await session.post(PATH, { ...endpoint, events: ["execution.started"] }), 400, "INVALID_REQUEST");
    refuses(await session.post(PATH, { ...endpoint, events: [] }), 400, "INVALID_REQUEST");
    for (let count = 0; count < 20; count += 1) answers(await session.post(PATH, endpoint), 201);
    refuses(await session.post(PATH, endpoint), 412, "PRECONDITION_FAILED");
  }),
];

export const endpointCases: Case[] = [...announcing, ...auditing, ...managing];
