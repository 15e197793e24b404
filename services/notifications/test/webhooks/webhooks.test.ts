import { randomUUID } from "node:crypto";
import { unavailable } from "@nodeloom/kernel";
import { createEgressClient, type EgressClient } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import { Webhook } from "standardwebhooks";
import type { AttemptId, DeliveryEnd, DeliveryRecord, AttemptResult, SentAttempt } from "../../src/delivery";
import { createWebhooks, PostponedAttempt, type Webhooks } from "../../src/webhooks/webhooks";
import { openOutgoingBudget } from "../../../../test-support/stores";
import { logger, openStores, type Stores } from "../support/index";
import { startIdentity, startReceiver, type Receiver, type RunningIdentity } from "../support/webhook-support";

/** Time-outs for a receiver: one longer than a busy machine's delays, and a short one for receivers that never answer. */
const [TIMEOUT_MS, SHORT_TIMEOUT_MS] = [20_000, 400];

let stores: Stores;
let stopStore: () => Promise<void>;
let identity: RunningIdentity;
let receiver: Receiver;
let egress: EgressClient;
let webhooks: Webhooks;
let budget: Awaited<ReturnType<typeof openOutgoingBudget>>;
/** Messages of executions by id. Executions without one have no message. */
const messages = new Map<string, executions.WebhookMessage | "under way">();
const requests: executions.GetWebhookMessageRequest[] = [];
const getWebhookMessage = async (request: executions.GetWebhookMessageRequest): Promise<executions.GetWebhookMessageResponse> => {
  requests.push(request);
  const { about } = request;
  const message = messages.get(about?.value ?? "");
  if (message === "under way") throw unavailable("the execution is not final yet");
  return { message };
};
const addForOwners = jest.fn<Promise<void>, unknown[]>(() => Promise.resolve());
const webhooksOver = (client: EgressClient, timeoutMs = TIMEOUT_MS, { take } = budget): Webhooks =>
  createWebhooks({
    store: stores.deliveries,
    executions: { getWebhookMessage },
    identity: identity.client,
    egress: client,
    outgoing: take,
    mails: { addForOwners },
    logger,
    timeoutMs,
  });

beforeAll(async () => {
  receiver = await startReceiver();
  [{ stores, stop: stopStore }, identity, budget] = await Promise.all([
    openStores(),
    startIdentity(receiver.address),
    openOutgoingBudget(),
  ]);
  egress = createEgressClient({ allow: [receiver.address] });
  webhooks = webhooksOver(egress);
});
afterAll(async () => {
  await receiver.close();
  budget.stop();
  await Promise.all([stopStore(), identity.stop(), egress.close()]);
});
beforeEach(() => {
  receiver.deliveries.length = 0;
  addForOwners.mockClear();
  receiver.respond = (response) => void response.writeHead(204).end();
});

const answering =
  (status: number, headers: Record<string, string> = {}): Receiver["respond"] =>
  (response) =>
    void response.writeHead(status, headers).end();

interface Run {
  id: (attempt?: number, delivery?: number) => AttemptId;
  secret: string;
  keyId: string;
  record: () => Promise<DeliveryRecord>;
}

const insert = async (part: Pick<DeliveryRecord, "keyId"> & Partial<DeliveryRecord>): Promise<string> => {
  const executionId = randomUUID();
  const message = {
    _id: executionId,
    ownerId: identity.userId,
    event: "execution.completed",
    about: { kind: "run" as const, executionId },
  };
  await stores.deliveries.insert({ ...message, ...part }, new Date());
  const data = { executionId, result: { text: "grüße" } };
  messages.set(executionId, {
    ...{
      id: `msg_${executionId}`,
      type: "execution.completed",
      timestamp: new Date(),
      dataJson: JSON.stringify(data),
      bare: part.url !== undefined,
    },
  });
  return executionId;
};

/** End of a run whose key has its webhook at a URL. */
const newRun = async (part: Partial<DeliveryRecord> = {}, url = receiver.url, events: string[] = []): Promise<Run> => {
  const { keyId, secret } = await identity.newKey(url, events);
  const id = await insert({ keyId, ...part });
  return {
    keyId,
    secret,
    id: (attempt = 1, delivery = 1) => ({ id, delivery, attempt }),
    record: async () => (await stores.deliveries.find(id))!,
  };
};

/** Makes one attempt like the workflow: sends, then records. */
const attempt = async (id: AttemptId, over = webhooks): Promise<{ result: AttemptResult; end: DeliveryEnd | null }> => {
  const attemptResult = await over.send(id);
  const step = await over.record(id, attemptResult);
  return { result: attemptResult, end: "end" in step ? step.end : null };
};
const webhookOf = (run: Run): Promise<DeliveryRecord> => run.record();
const keyWebhook = async (keyId: string) =>
  (await identity.client.listKeys({ userId: identity.userId })).keys.find(({ id }) => id === keyId)!.webhook!;

describe("an attempt", () => {
  const endless: Receiver["respond"] = (response) => {
    response.writeHead(200).write("{");
  };
  const brokenOff: Receiver["respond"] = (response) => {
    response.writeHead(200, { "content-length": "100" }).write("{", () => response.socket!.destroy());
  };

  it.each<[string, Receiver["respond"], number?]>([
    ["answers 200", answering(200)],
    ["answers 299", answering(299)],
    ["answers more than 64 kB", (response) => void response.writeHead(200).end("x".repeat(200_000))],
    ["hangs up after its status", brokenOff],
    ["never ends its answer", endless, 3_000],
  ])("succeeds if the receiver %s", async (_, respond, timeoutMs = TIMEOUT_MS) => {
    receiver.respond = respond;
    const run = await newRun();
    expect((await attempt(run.id(), webhooksOver(egress, timeoutMs))).end).toBe("delivered");
    expect(receiver.deliveries).toHaveLength(1);
    expect(await webhookOf(run)).toMatchObject({
      state: "delivered",
      attempts: 1,
      deliveredAt: expect.any(Date) as Date,
      lastError: null,
      nextAttemptAt: null,
      history: [{ delivery: 1, attempt: 1, error: null }],
    });
  });

  it.each<[string, Receiver["respond"], number | null, string, number?]>([
    ["answers 500", answering(500), 500, "status 500"],
    ["answers 404", answering(404), 404, "status 404"],
    ["redirects", answering(302, { location: "/elsewhere" }), 302, "status 302"],
    ["hangs up", (response) => void response.socket!.destroy(), null, "no answer"],
    ["does not answer in time", () => undefined, null, "timeout", SHORT_TIMEOUT_MS],
  ])("fails if the receiver %s, and reports it", async (_, respond, status, error, timeoutMs = TIMEOUT_MS) => {
    receiver.respond = respond;
    const run = await newRun();
    expect((await attempt(run.id(), webhooksOver(egress, timeoutMs))).end).toBeNull();
    if (timeoutMs === TIMEOUT_MS) expect(receiver.deliveries).toHaveLength(1);
    const webhook = await webhookOf(run);
    expect(webhook).toMatchObject({ state: "pending", attempts: 1, deliveredAt: null, lastError: error });
    expect(webhook.history).toMatchObject([{ status, error, at: expect.any(Date) as Date, durationMs: expect.any(Number) as number }]);
    expect(webhook.nextAttemptAt!.getTime() - webhook.history[0]!.at.getTime()).toBeGreaterThanOrEqual(5_000);
  });

  it("never reaches a name that resolves to a private address", async () => {
    const resolved: string[] = [];
    const rebinding = createEgressClient({
      lookup: (host, _options, callback) => {
        resolved.push(host);
        callback(null, [{ address: "127.0.0.1", family: 4 }]);
      },
    });
    const run = await newRun({}, receiver.url.replace("127.0.0.1", "hooks.example.com"));
    const { end } = await attempt(run.id(), webhooksOver(rebinding));
    await rebinding.close();
    expect([end, resolved, receiver.deliveries.length]).toEqual([null, ["hooks.example.com"], 0]);
    expect((await webhookOf(run)).history).toMatchObject([{ status: null, error: "refused" }]);
  });

  it.each([
    ["seconds", () => "120", 110_000, 120_000],
    ["a date", () => new Date(Date.now() + 120_000).toUTCString(), 110_000, 120_000],
    ["more than a day", () => "999999", 86_400_000, 86_400_000],
  ])("lengthens the pause by a Retry-After in %s", async (_, header, least, most) => {
    receiver.respond = answering(503, { "retry-after": header() });
    const run = await newRun();
    const { result } = await attempt(run.id());
    const requestedMs = (result as SentAttempt).retryAfterMs!;
    expect(requestedMs).toBeGreaterThanOrEqual(least);
    expect(requestedMs).toBeLessThanOrEqual(most);
    const { nextAttemptAt, history } = await webhookOf(run);
    expect(nextAttemptAt!.getTime()).toBe(history[0]!.at.getTime() + history[0]!.durationMs + requestedMs);
  });

  it.each(["nonsense", "-5", "", "Thu, 01 Jan 1970 00:00:00 GMT"])("ignores the Retry-After %j", async (header) => {
    receiver.respond = answering(503, { "retry-after": header });
    expect((await attempt((await newRun()).id())).result).toMatchObject({ status: 503, retryAfterMs: null });
  });

  it("is recorded once, however often it is reported", async () => {
    receiver.respond = answering(500);
    const run = await newRun();
    const attemptResult = await webhooks.send(run.id());
    const ends = await Promise.all(Array.from({ length: 5 }, () => webhooks.record(run.id(), attemptResult)));
    expect(ends).toEqual(Array.from({ length: 5 }, () => ({ pauseMs: 5_000 })));
    const once = await webhookOf(run);
    expect(once).toMatchObject({ attempts: 1, history: [{ key: "1:1" }] });
    await attempt(run.id(2));
    // Recorded again after the next attempt: the state doesn't go back.
    await webhooks.record(run.id(), attemptResult);
    expect((await webhookOf(run)).history.map(({ key }) => key)).toEqual(["1:1", "1:2"]);
    expect((await webhookOf(run)).nextAttemptAt!.getTime()).toBeGreaterThan(once.nextAttemptAt!.getTime());
  });

  it("ends the delivery if it was the eighth", async () => {
    receiver.respond = answering(500);
    const run = await newRun();
    expect((await attempt(run.id(7))).end).toBeNull();
    expect((await attempt(run.id(8))).end).toBe("given up");
    expect(await webhookOf(run)).toMatchObject({
      state: "failed",
      attempts: 2,
      nextAttemptAt: null,
      lastError: "status 500",
    });
  });

  it("is kept among the fifty latest", async () => {
    const run = await newRun();
    for (let delivery = 1; delivery <= 60; delivery += 1) await stores.deliveries.begin(run.id().id, delivery, new Date());
    const attemptResult = { url: receiver.url, revision: "", at: 0, status: 204, error: null, durationMs: 1, retryAfterMs: null };
    for (let delivery = 1; delivery <= 60; delivery += 1) await webhooks.record(run.id(1, delivery), attemptResult);
    const { attempts, history } = await webhookOf(run);
    expect([attempts, history.length, history[0]!.delivery, history.at(-1)!.delivery]).toEqual([60, 50, 11, 60]);
  });

  it("waits for the run's end, without counting", async () => {
    const run = await newRun();
    messages.set(run.id().id, "under way");
    await expect(webhooks.send(run.id())).rejects.toMatchObject({ kind: "unavailable" });
    expect(await webhookOf(run)).toMatchObject({ state: "pending", attempts: 0, history: [] });
  });
});

describe("an attempt at an endpoint", () => {
  const newEndpoint = async (part: Partial<DeliveryRecord> = {}) => {
    const request = { ownerId: identity.userId, url: receiver.url, events: ["execution.completed"], description: "" };
    const { endpoint, secret } = await identity.client.createWebhookEndpoint(request);
    const id = await insert({ keyId: "", endpointId: endpoint!.id, ...part });
    const remove = () => identity.client.deleteWebhookEndpoint({ endpoint: { ownerId: identity.userId, id: endpoint!.id } });
    return { endpointId: endpoint!.id, secret, id: (nth = 1) => ({ id, delivery: 1, attempt: nth }), remove };
  };

  it("is signed with the endpoint's secret, and reads an endpoint's message from executions", async () => {
    const { secret, id, remove } = await newEndpoint();
    expect((await attempt(id())).end).toBe("delivered");
    const [{ body, headers } = { body: "", headers: {} as never }] = receiver.deliveries;
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: "execution.completed" });
    expect(requests.at(-1)).toMatchObject({ forEndpoint: true });
    expect(addForOwners).not.toHaveBeenCalled();
    await remove();
  });

  it("that returns 410 disables the endpoint, and emails its owners once about these settings", async () => {
    receiver.respond = answering(410);
    const { endpointId, id, remove } = await newEndpoint();
    const attemptResult = await webhooks.send(id());
    for (let round = 0; round < 2; round += 1) expect(await webhooks.record(id(), attemptResult)).toEqual({ end: "disabled" });
    const { endpoints } = await identity.client.listWebhookEndpoints({ ownerId: identity.userId });
    expect(endpoints.find((one) => one.id === endpointId)).toMatchObject({ disabledReason: "the receiver answered 410 Gone" });
    const { revision } = attemptResult as SentAttempt;
    // The last argument is the key under which the queue sends only one mail.
    const mail = [identity.userId, { kind: "endpointDisabled", endpointUrl: receiver.url }, `${endpointId}.${revision}`];
    expect(addForOwners.mock.calls).toEqual([mail, mail]);
    await remove();
  });

  it("sends nothing once the endpoint is deleted", async () => {
    const { id, remove } = await newEndpoint();
    await remove();
    expect((await attempt(id())).end).toBe("nothing to send");
    expect(receiver.deliveries).toHaveLength(0);
  });
});

describe("past the user's budget, an attempt", () => {
  const webhookBudget = { perMinute: 10, perHostPerMinute: 1 };

  it("waits for its turn, unsent, uncounted and not lost", async () => {
    const small = await openOutgoingBudget({ webhooks: webhookBudget, windowSeconds: 1 });
    const over = webhooksOver(egress, TIMEOUT_MS, small);
    const [first, second] = [await newRun(), await newRun()];
    expect((await attempt(first.id(), over)).end).toBe("delivered");
    const later: unknown = await over.send(second.id()).catch((error: unknown) => error);
    expect(later).toBeInstanceOf(PostponedAttempt);
    expect(receiver.deliveries).toHaveLength(1);
    const waiting = await webhookOf(second);
    expect(waiting).toMatchObject({ state: "pending", attempts: 0, history: [], lastError: null });
    expect(waiting.nextAttemptAt!.getTime()).toBeGreaterThan(Date.now() - 5_000);
    await new Promise((resolve) => setTimeout(resolve, (later as PostponedAttempt).afterMs));
    expect((await attempt(second.id(), over)).end).toBe("delivered");
    small.stop();
  });

  it("counts only for its user, and separately from the calls of the user's runs", async () => {
    const small = await openOutgoingBudget({ webhooks: webhookBudget, calls: webhookBudget });
    await small.take("calls", { userId: identity.userId }, receiver.url);
    const over = webhooksOver(egress, TIMEOUT_MS, small);
    expect((await attempt((await newRun()).id(), over)).end).toBe("delivered");
    const ofAnother = await newRun({ ownerId: "another" });
    expect((await attempt(ofAnother.id(), over)).end).toBe("delivered");
    await expect(over.send((await newRun()).id())).rejects.toBeInstanceOf(PostponedAttempt);
    small.stop();
  });

  it("in a test is rejected with the time to wait", async () => {
    const small = await openOutgoingBudget({ webhooks: webhookBudget });
    const over = webhooksOver(egress, TIMEOUT_MS, small);
    const { keyId } = await newRun();
    const request = { keyId, userId: identity.userId };
    expect(await over.test(request)).toMatchObject({ delivered: true });
    await expect(over.test(request)).rejects.toMatchObject({
      reason: "RATE_LIMIT_EXCEEDED",
      metadata: { limit: 1, retryAfter: expect.any(Number) as number },
    });
    small.stop();
  });
});

describe("a message", () => {
  it("is the same at every attempt and redelivery, under one id, with a new signature", async () => {
    receiver.respond = answering(500);
    const run = await newRun();
    await attempt(run.id(1));
    await new Promise((resolve) => setTimeout(resolve, 1_000 - (Date.now() % 1_000)));
    await attempt(run.id(2));
    await stores.deliveries.begin(run.id().id, 2, new Date());
    await attempt(run.id(1, 2));
    const [first, second, third] = receiver.deliveries as [
      (typeof receiver.deliveries)[0],
      (typeof receiver.deliveries)[0],
      (typeof receiver.deliveries)[0],
    ];
    expect(new Set(receiver.deliveries.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.deliveries.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([`msg_${run.id().id}`]));
    expect(Number(second.headers["webhook-timestamp"])).toBeGreaterThan(Number(first.headers["webhook-timestamp"]));
    for (const { headers, body } of [first, second, third]) expect(() => new Webhook(run.secret).verify(body, headers)).not.toThrow();
    const { timestamp } = messages.get(run.id().id) as executions.WebhookMessage;
    expect(JSON.parse(first.body)).toEqual({
      type: "execution.completed",
      timestamp: timestamp!.toISOString(),
      data: { executionId: run.id().id, result: { text: "grüße" } },
    });
  });

  it("verifies with both secrets while they overlap, and afterwards with the new one", async () => {
    const run = await newRun();
    const { webhookSecret: next } = await identity.client.rotateKey({ userId: identity.userId, keyId: run.keyId, graceSeconds: 0 });
    const verifiedBy = async (secret: string): Promise<boolean> => {
      const { headers, body } = receiver.deliveries.at(-1)!;
      try {
        return Boolean(new Webhook(secret).verify(body, headers));
      } catch {
        return false;
      }
    };
    await webhooks.send(run.id());
    expect([await verifiedBy(run.secret), await verifiedBy(next)]).toEqual([true, true]);
    const aDayAgo = new Date(Date.now() - 24 * 3_600_000);
    await identity.database
      .collection<{ _id: string }>("keys")
      .updateOne({ _id: run.keyId }, { $set: { "webhookSecrets.0.createdAt": aDayAgo } });
    await webhooks.send(run.id());
    expect([await verifiedBy(run.secret), await verifiedBy(next)]).toEqual([false, true]);
  });
});

describe("a webhook", () => {
  const set = (keyId: string, url: string, events: string[] = []) =>
    identity.client.setKeyWebhook({ userId: identity.userId, keyId, url, events });

  it("is disabled by 410 at once, which also ends its pending deliveries", async () => {
    receiver.respond = answering(410);
    const run = await newRun();
    expect((await attempt(run.id(2))).end).toBe("disabled");
    expect(await webhookOf(run)).toMatchObject({
      state: "disabled",
      attempts: 1,
      lastError: "status 410",
      nextAttemptAt: null,
    });
    expect(await keyWebhook(run.keyId)).toMatchObject({
      disabledAt: expect.any(Date) as Date,
      disabledReason: "the receiver answered 410 Gone",
    });
    const other = await insert({ keyId: run.keyId });
    expect((await attempt({ id: other, delivery: 1, attempt: 3 })).end).toBe("disabled");
    expect(await stores.deliveries.find(other)).toMatchObject({ state: "disabled", attempts: 0, history: [] });
    expect(receiver.deliveries).toHaveLength(1);
  });

  it.each(["another URL", "the same URL"])(
    "that was set again to %s isn't disabled by a late 410, and gets the next attempt",
    async (where) => {
      const run = await newRun();
      const url = where === "another URL" ? `${receiver.url}/new` : receiver.url;
      receiver.respond = (response) => {
        void set(run.keyId, url).then(() => response.writeHead(410).end());
      };
      expect((await attempt(run.id())).end).toBeNull();
      expect(await keyWebhook(run.keyId)).toMatchObject({ url, disabledAt: undefined });
      expect(await webhookOf(run)).toMatchObject({
        state: "pending",
        lastError: "status 410",
        nextAttemptAt: expect.any(Date) as Date,
      });
      receiver.respond = answering(204);
      expect((await attempt(run.id(2))).end).toBe("delivered");
      expect((await webhookOf(run)).history.map((each) => each.url)).toEqual([receiver.url, url]);
    },
  );

  it("whose deliveries failed for five days is disabled by the delivery that ends then", async () => {
    receiver.respond = answering(500);
    const run = await newRun();
    await attempt(run.id(1));
    const longAgo = new Date(Date.now() - 5 * 24 * 3_600_000);
    await identity.database
      .collection<{ _id: string }>("keys")
      .updateOne({ _id: run.keyId }, { $set: { "webhook.failingSince": longAgo } });
    expect((await attempt(run.id(2))).end).toBeNull();
    expect((await attempt(run.id(8))).end).toBe("given up");
    expect(await keyWebhook(run.keyId)).toMatchObject({ disabledReason: `every delivery has failed since ${longAgo.toISOString()}` });
  });

  it("counts as working after one success", async () => {
    const run = await newRun();
    receiver.respond = answering(500);
    await attempt(run.id(1));
    const failingSince = async () =>
      (await identity.database.collection<{ _id: string; webhook: { failingSince: Date | null } }>("keys").findOne({ _id: run.keyId }))!
        .webhook.failingSince;
    expect(await failingSince()).toBeInstanceOf(Date);
    receiver.respond = answering(204);
    await attempt(run.id(2));
    expect(await failingSince()).toBeNull();
  });

  it("that is removed, or for other events, gets nothing", async () => {
    const unwanted = await newRun({}, receiver.url, ["execution.failed"]);
    const removed = await newRun();
    await identity.client.deleteKeyWebhook({ userId: identity.userId, keyId: removed.keyId });
    const revoked = await newRun();
    await identity.client.revokeKey({ userId: identity.userId, keyId: revoked.keyId });
    for (const run of [unwanted, removed, revoked]) {
      expect((await attempt(run.id())).end).toBe("nothing to send");
      expect(await webhookOf(run)).toMatchObject({ state: "skipped", attempts: 0, nextAttemptAt: null });
    }
    expect(receiver.deliveries).toHaveLength(0);
  });
});

describe("a message to the run's own webhook", () => {
  it("is sent there whatever events the key's webhook has, as a whole body, signed with the owner's secret for runs", async () => {
    const own = await startReceiver();
    const over = webhooksOver(createEgressClient({ allow: [own.address] }));
    const run = await newRun({ url: own.url }, receiver.url, ["execution.failed"]);
    expect((await attempt(run.id(), over)).end).toBe("delivered");
    expect(receiver.deliveries).toHaveLength(0);
    const [{ headers, body }] = own.deliveries as [(typeof own.deliveries)[0]];
    const { secret } = await identity.client.getRunSecret({ ownerId: identity.userId });
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual({
      executionId: run.id().id,
      result: { text: "grüße" },
    });
    await own.close();
  });

  it("that is removed fails, and doesn't count against the key's webhook", async () => {
    receiver.respond = answering(410);
    const removedRun = await newRun({ url: receiver.url }, `${receiver.url}/elsewhere`);
    expect((await attempt(removedRun.id())).end).toBe("given up");
    expect((await keyWebhook(removedRun.keyId)).disabledAt).toBeUndefined();
  });

  it("for other events gets nothing", async () => {
    const other = await newRun({ url: receiver.url, events: ["execution.failed"] });
    expect((await attempt(other.id())).end).toBe("nothing to send");
    expect(receiver.deliveries).toHaveLength(0);
  });

  it("has signatures by the new and the replaced secret after a rotation", async () => {
    const ownerId = identity.userId;
    const { secret: replaced } = await identity.client.getRunSecret({ ownerId });
    const { secret: newest } = await identity.client.rotateRunSecret({ ownerId });
    expect(newest).not.toBe(replaced);
    await attempt((await newRun({ url: receiver.url })).id());
    const [{ headers, body }] = receiver.deliveries as [(typeof receiver.deliveries)[0]];
    for (const secret of [newest, replaced]) expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeDefined();
  });
});

describe("a redelivery", () => {
  it("replaces a waiting delivery, which then ends without sending", async () => {
    receiver.respond = answering(500);
    const run = await newRun();
    await attempt(run.id(1, 1));
    await stores.deliveries.begin(run.id().id, 2, new Date());
    expect(await webhookOf(run)).toMatchObject({ state: "pending", delivery: 2 });
    receiver.respond = answering(204);
    expect((await attempt(run.id(1, 2))).end).toBe("delivered");
    expect((await attempt(run.id(2, 1))).end).toBe("superseded");
    expect(receiver.deliveries).toHaveLength(2);
    expect(await webhookOf(run)).toMatchObject({ state: "delivered", attempts: 2, history: [{ delivery: 1 }, { delivery: 2 }] });
  });

  it("isn't reset by an attempt that was in progress when it started", async () => {
    const run = await newRun();
    receiver.respond = answering(500);
    const late = await webhooks.send(run.id(8, 1));
    await stores.deliveries.begin(run.id().id, 2, new Date());
    expect(await webhooks.record(run.id(8, 1), late)).toEqual({ end: "given up" });
    expect(await webhookOf(run)).toMatchObject({ state: "pending", delivery: 2, attempts: 1, history: [{ key: "1:8" }] });
  });

  it("starts once: neither a repetition nor an earlier one changes its state", async () => {
    const run = await newRun();
    await stores.deliveries.begin(run.id().id, 3, new Date());
    await attempt(run.id(1, 3));
    await stores.deliveries.begin(run.id().id, 3, new Date());
    await stores.deliveries.begin(run.id().id, 2, new Date());
    expect(await webhookOf(run)).toMatchObject({ state: "delivered", delivery: 3, nextAttemptAt: null });
  });
});
