import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import type { notifications } from "@nodeloom/proto";
import type { DeliveryStanding, WebhookState } from "../../src/run/delivery";
import type { ExecutionRecord } from "../../src/run/record";
import type { Stores } from "../../src/record/stores";
import { createEarlierMessages } from "../../src/upkeep/earlier-messages";
import { createHandOver } from "../../src/webhooks/hand-over";
import { newRecord, openStore } from "../support/index";
import { logger } from "../support/money";

const MINUTE = 60_000;

let stores: Stores;
let connection: Awaited<ReturnType<typeof openStore>>["connection"];
let stop: () => Promise<void>;
beforeEach(async () => void ({ stores, connection, stop } = await openStore()));
afterEach(() => stop());

const ago = (minutes: number): Date => new Date(Date.now() - minutes * MINUTE);

/** A webhook as stored by version 1.0.0. */
const STANDING: DeliveryStanding = {
  ...{ state: "pending", delivery: 1, attempts: 0, deliveredAt: null, lastError: null, nextAttemptAt: null, history: [] },
};
const inserted = async (webhook: Partial<WebhookState>, part: Partial<ExecutionRecord> = {}): Promise<string> => {
  const whole: WebhookState = { configured: true, url: "https://example.com/hook", events: [], ...STANDING, ...webhook };
  const record = newRecord("owner", { status: "completed", finishedAt: ago(60), keyId: "key", webhook: whole, ...part });
  await stores.rows.insert(record);
  return record._id;
};

const withNotifications = (refusal?: DomainError) => {
  const requests: notifications.SendRequest[] = [];
  const service = {
    send: (request: notifications.SendRequest) => (refusal ? Promise.reject(refusal) : Promise.resolve(void requests.push(request))),
    getDeliveries: () => Promise.resolve({ deliveries: [] }),
    redeliver: () => Promise.resolve({ delivery: undefined }),
  } as never;
  const webhooks = createHandOver({ notifications: service, stores });
  return { requests, ...createEarlierMessages({ stores, notifications: service, webhooks, logger }) };
};

const entry = { at: new Date(0), status: 500, error: "the receiver answered 500", durationMs: 1, url: "https://example.com/hook" };
const attempt = { key: "2:1", delivery: 2, attempt: 1, ...entry };

it("hands a delivery of 1.0.0 over to notifications at its workflow's next attempt, which ends the workflow", async () => {
  const { requests, activities } = withNotifications();
  const id = await inserted({ delivery: 2, attempts: 1, lastError: entry.error, history: [attempt], nextAttemptAt: ago(1) });
  expect(await activities.sendWebhook({ executionId: id, keyId: "key", delivery: 2, attempt: 2 })).toEqual({ nothing: "superseded" });
  expect(await activities.recordAttempt({ executionId: id, keyId: "key", delivery: 2, attempt: 2 }, { nothing: "superseded" })).toBe(
    "superseded",
  );
  const [{ id: name, message }] = requests as [notifications.SendRequest];
  const webhook = message?.value as notifications.Webhook;
  expect([name, webhook.event, webhook.about]).toEqual([
    id,
    "execution.completed",
    { $case: "run", value: { executionId: id, nodeId: "" } },
  ]);
  expect(webhook.earlier).toMatchObject({
    state: "pending",
    delivery: 2,
    attempts: 1,
    history: [{ delivery: 2, attempt: 1, status: 500 }],
  });
  expect((await stores.rows.find(id))!.webhook).toMatchObject({ isMoved: true });
});

it("keeps an attempt of a 1.0.0 worker, so that its delivery isn't repeated", async () => {
  const { activities } = withNotifications();
  const id = await inserted({});
  const name = { executionId: id, keyId: "key", delivery: 1, attempt: 1 };
  const attemptResult = { url: entry.url, revision: "", at: 0, durationMs: 1, retryAfterMs: null };
  expect(await activities.recordAttempt(name, { ...attemptResult, status: 500, error: entry.error })).toBeNull();
  expect(await activities.recordAttempt(name, { ...attemptResult, status: 500, error: entry.error })).toBeNull();
  expect(await activities.recordAttempt({ ...name, attempt: 2 }, { ...attemptResult, status: 204, error: null })).toBe("delivered");
  expect((await stores.rows.find(id))!.webhook).toMatchObject({ state: "delivered", attempts: 2, lastError: null });
});

it("hands alerts and waiting decisions over, each under an id of its own", async () => {
  const { requests, activities } = withNotifications();
  const alert = { id: "msg_budget_1", userId: "u", keyId: "k", at: "2026-01-01T00:00:00.000Z", dataJson: "{}" };
  expect(await activities.sendAlert(alert)).toBeNull();
  const id = await inserted({}, { status: "processing", finishedAt: null });
  await activities.sendWebhook({ executionId: id, keyId: "key", delivery: 1, attempt: 1, nodeId: "ask" });
  expect(requests.map(({ id: name }) => name)).toEqual(["msg_budget_1-k", `${id}.waiting.ask`]);
});

it("hands an unsent mail over to notifications as stored, once, and drops it without a mail server", async () => {
  const mails = connection.collection("mails");
  const insertMail = async (): Promise<string> => {
    const id = randomUUID();
    const record = { _id: id, kind: "approval", content: Buffer.from("sealed"), keyId: "k1", carried: true, handedAt: null, end: null };
    await mails.insertOne({ ...record, createdAt: ago(1) } as never);
    return id;
  };
  const { requests, activities } = withNotifications();
  const id = await insertMail();
  expect(await activities.sendMail(id)).toEqual({ end: "moved" });
  expect(await activities.sendMail(id)).toEqual({ end: "moved" });
  expect(requests).toMatchObject([
    { id, message: { $case: "earlierMail", value: { kind: "approval", content: Buffer.from("sealed"), keyId: "k1" } } },
  ]);
  expect(await stores.earlierMails.find(id)).toMatchObject({ end: "moved", content: Buffer.alloc(0) });
  const unconfigured = withNotifications(new DomainError("precondition", "NOT_CONFIGURED", "no mail server"));
  expect(await unconfigured.activities.sendMail(await insertMail())).toEqual({ end: "given up" });
});

it("moves overdue deliveries without a workflow once, and none that aren't due or have ended", async () => {
  const { requests, moveLate } = withNotifications();
  const never = await inserted({});
  const lostDelivery = await inserted({ delivery: 2, attempts: 3, nextAttemptAt: ago(11) });
  await inserted({ nextAttemptAt: ago(-240) });
  await inserted({}, { finishedAt: ago(9) });
  await inserted({}, { status: "processing", finishedAt: null });
  for (const state of ["delivered", "failed", "disabled", "skipped"] as const) await inserted({ state });
  expect(await moveLate(() => undefined)).toEqual({ seen: 2, changed: 2, failed: 0 });
  expect(new Set(requests.map(({ id }) => id))).toEqual(new Set([never, lostDelivery]));
  expect(await moveLate(() => undefined)).toEqual({ seen: 0, changed: 0, failed: 0 });
});

it("continues with all others if one can't be moved now", async () => {
  const poisoned = await inserted({}, { finishedAt: ago(90) });
  const other = await inserted({});
  const webhooks = {
    move: (id: string): Promise<void> => (id === poisoned ? Promise.reject(new TypeError("broken")) : Promise.resolve()),
  };
  const { moveLate } = createEarlierMessages({ stores, notifications: {} as never, webhooks: webhooks as never, logger });
  expect(await moveLate(() => undefined)).toEqual({ seen: 2, changed: 1, failed: 1 });
  expect(other).not.toBe(poisoned);
});
