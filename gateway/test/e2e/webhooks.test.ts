import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { clientOf, eventually, type Account, type Answer } from "../../../test-support/client";
import { clip } from "../../../test-support/graphs";
import { freePort } from "../../../deploy/local/servers/ports.cjs";
import { startPlatform, type Platform } from "../../../test-support/platform";
import { startRecorder, type RecordedRequest, type Recorder } from "../../../test-support/recorder";

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account;
let receiver: Recorder;
let receiverUrl: string;
let closedUrl: string;
let received: RecordedRequest[];
let answers = 204;
/** Responses that a test delays. */
let heldResponses: ServerResponse[] | undefined;

beforeAll(async () => {
  receiver = await startRecorder((response) => {
    // A failed delivery is repeated only when a test requests it, never automatically.
    const answer = response.writeHead(answers, { location: "/elsewhere", "retry-after": "3600" });
    if (heldResponses) heldResponses.push(answer);
    else answer.end();
  });
  received = receiver.requests;
  receiverUrl = `${receiver.url}/hook`;
  const closed = `127.0.0.1:${await freePort()}`;
  closedUrl = `http://${closed}/hook`;
  platform = await startPlatform({ allow: [receiver.address, closed] });
  client = clientOf(platform);
  user = await client.account({ tier: "pro", capabilities: null });
});
afterAll(async () => {
  await platform.stop();
  await receiver.close();
});
beforeEach(() => {
  received.length = 0;
  answers = 204;
  heldResponses = undefined;
});

/** A key with a webhook at a URL, and the webhook's secret. */
const keyWith = async (url?: string): Promise<{ id: string; webhookSecret: string }> => {
  const webhook = url === undefined ? {} : { webhook: { url, events: ["execution.failed"] } };
  const { body } = await client.createKey(user.cookie, { capabilities: ["webhook:receive"], ...webhook });
  return body as unknown as { id: string; webhookSecret: string };
};
const test = (id: string, cookie = user.cookie): Promise<Answer> => client.call("POST", `/api/keys/${id}/webhook/test`, { cookie });

describe("testing a webhook", () => {
  it("delivers one signed message, whatever events the webhook subscribes to", async () => {
    const { id, webhookSecret } = await keyWith(receiverUrl);
    const answer = await test(id);
    expect(answer).toMatchObject({ status: 200, body: { delivered: true, status: 204, error: null } });
    expect(answer.body.durationMs).toEqual(expect.any(Number));
    expect(received).toHaveLength(1);
    const [{ headers, body }] = received as [(typeof received)[number]];
    expect(new Webhook(webhookSecret).verify(body, headers as Record<string, string>)).toMatchObject({
      type: "webhook.test",
      timestamp: expect.any(String) as string,
      data: { keyId: id },
    });
  });

  it.each([500, 302, 410])("reports that the receiver returned %s, and doesn't change the webhook", async (status) => {
    const { id } = await keyWith(receiverUrl);
    answers = status;
    expect((await test(id)).body).toMatchObject({ delivered: false, status, error: `status ${status}` });
    expect(received).toHaveLength(1);
    answers = 204;
    expect((await test(id)).body).toMatchObject({ delivered: true });
  });

  it("reports a receiver that doesn't respond", async () => {
    const { id } = await keyWith(closedUrl);
    expect(await test(id)).toMatchObject({
      status: 200,
      body: { delivered: false, status: null, error: "no answer" },
    });
  });

  it("needs a webhook, and one of the caller's own keys", async () => {
    const { id } = await keyWith();
    expect(await test(id)).toMatchObject({ status: 412, body: { code: "PRECONDITION_FAILED" } });
    const { id: mine } = await keyWith(receiverUrl);
    const other = await client.account({ tier: "pro", capabilities: null });
    for (const wrong of [mine, "no-such-key"]) {
      expect(await test(wrong, other.cookie)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    }
    expect(received).toHaveLength(0);
  });
});

describe("delivering a run", () => {
  interface Subscriber {
    id: string;
    key: string;
    webhookSecret: string;
  }
  const subscribe = async (events: string[] = []): Promise<Subscriber> => {
    const webhook = { url: receiverUrl, ...(events.length > 0 ? { events } : {}) };
    return (await client.createKey(user.cookie, { webhook })).body as unknown as Subscriber;
  };
  const slug = async ({ key }: Subscriber, graph = clip()): Promise<string> =>
    (await client.call("POST", "/api/workflows", { key, body: graph })).body.slug as string;
  const submit = async (subscriber: Subscriber, graph = clip()): Promise<string> => {
    const path = `/api/workflows/${await slug(subscriber, graph)}/run?async=true`;
    return (await client.call("POST", path, { key: subscriber.key, body: { inputs: {} } })).body.executionId as string;
  };
  const poll = ({ key }: Subscriber, id: string): Promise<Answer> => client.call("GET", `/api/executions/${id}`, { key });
  const deliveryOf = ({ body }: Answer): Record<string, unknown> => body.webhookDelivery as Record<string, unknown>;
  const until = (subscriber: Subscriber, id: string, holds: (delivery: Record<string, unknown>) => boolean): Promise<Answer> =>
    eventually(
      () => poll(subscriber, id),
      (answer) => holds(deliveryOf(answer)),
    );
  const redeliver = ({ key }: Subscriber, id: string): Promise<Answer> => client.call("POST", `/api/executions/${id}/redeliver`, { key });
  const time: unknown = expect.stringMatching(/^\d{4}-.*Z$/);
  const setWebhook = (id: string, body: object): Promise<Answer> =>
    client.call("PUT", `/api/keys/${id}/webhook`, { cookie: user.cookie, body });
  const keyRecord = async (id: string): Promise<Record<string, unknown>> => {
    const { body } = await client.call("GET", "/api/keys", { cookie: user.cookie });
    return (body as unknown as Record<string, unknown>[]).find((each) => each.id === id)!;
  };

  const documentedDelivery = (): { history: object[] } => {
    const guide = readFileSync(join(__dirname, "..", "..", "..", "docs", "guide", "webhooks.md"), "utf8");
    const [, example] = /^```json\n(\{\n {2}"configured": true,[\s\S]*?)^```$/m.exec(guide)!;
    return JSON.parse(example!) as { history: object[] };
  };

  it("shows each attempt, and replaces the waiting delivery if another is requested", async () => {
    const subscriber = await subscribe();
    answers = 503;
    const id = await submit(subscriber);
    const waiting = deliveryOf(await until(subscriber, id, ({ attempts }) => attempts === 1));
    expect(waiting).toEqual({
      configured: true,
      url: receiverUrl,
      state: "pending",
      attempts: 1,
      deliveredAt: null,
      lastError: "status 503",
      nextAttemptAt: time,
      history: [{ at: time, status: 503, error: "status 503", durationMs: expect.any(Number) as number, delivery: 1, attempt: 1 }],
    });
    const documented = documentedDelivery();
    expect(Object.keys(documented)).toEqual(Object.keys(waiting));
    for (const attempt of documented.history) expect(Object.keys(attempt)).toEqual(Object.keys((waiting.history as [object])[0]));
    answers = 204;
    expect(await redeliver(subscriber, id)).toMatchObject({ status: 202 });
    const delivered = deliveryOf(await until(subscriber, id, ({ state }) => state === "delivered"));
    expect(delivered).toMatchObject({
      attempts: 2,
      deliveredAt: time,
      lastError: null,
      nextAttemptAt: null,
      history: [{ delivery: 1 }, { status: 204, error: null, delivery: 2, attempt: 1 }],
    });
    const [first, second] = received as [(typeof received)[0], (typeof received)[0]];
    expect(second.body).toBe(first.body);
    expect(second.headers["webhook-id"]).toBe(first.headers["webhook-id"]);
    new Webhook(subscriber.webhookSecret).verify(second.body, second.headers as Record<string, string>);
  });

  it("again is one delivery, however often it is requested before its attempt", async () => {
    const subscriber = await subscribe();
    const id = await submit(subscriber);
    await until(subscriber, id, ({ state }) => state === "delivered");
    heldResponses = [];
    expect(await redeliver(subscriber, id)).toMatchObject({
      status: 202,
      body: { webhookDelivery: { state: "pending", nextAttemptAt: time } },
    });
    const more = await Promise.all(Array.from({ length: 4 }, () => redeliver(subscriber, id)));
    expect(more.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    await eventually(
      () => Promise.resolve(heldResponses!.length),
      (count) => count === 1,
    );
    heldResponses[0]!.end();
    const { history } = deliveryOf(await until(subscriber, id, ({ state }) => state === "delivered"));
    expect(history).toMatchObject([{ delivery: 1 }, { delivery: 2 }]);
    expect(received).toHaveLength(2);
  });

  it("ends with the webhook disabled after 410; setting it again enables it", async () => {
    const subscriber = await subscribe();
    answers = 410;
    const id = await submit(subscriber);
    await until(subscriber, id, ({ state }) => state === "disabled");
    expect((await keyRecord(subscriber.id)).webhook).toMatchObject({ disabledAt: time, disabledReason: "the receiver answered 410 Gone" });
    expect(await redeliver(subscriber, id)).toMatchObject({
      status: 412,
      body: { code: "PRECONDITION_FAILED", error: "the key's webhook is disabled; set it again to enable it" },
    });
    answers = 204;
    const set = await setWebhook(subscriber.id, { url: receiverUrl });
    expect(set.body.webhook).toMatchObject({ disabledAt: null, disabledReason: null });
    expect((await redeliver(subscriber, id)).status).toBe(202);
    await until(subscriber, id, ({ state }) => state === "delivered");
    // The replaced secret also signs, together with its successor.
    const { headers, body } = received.at(-1)!;
    for (const secret of [subscriber.webhookSecret, set.body.webhookSecret as string])
      new Webhook(secret).verify(body, headers as Record<string, string>);
  });

  it("again is rejected, with the reason, if no webhook would receive it", async () => {
    const subscriber = await subscribe();
    const id = await submit(subscriber);
    const refusalOf = (answer: Answer): unknown => [answer.status, answer.body.code, answer.body.error];
    const running = await submit(subscriber, clip({ latencyMs: 600_000 }));
    expect(refusalOf(await redeliver(subscriber, running))).toEqual([
      412,
      "PRECONDITION_FAILED",
      "the execution isn't final yet: its webhook is sent when it is",
    ]);
    await client.call("POST", `/api/executions/${running}/cancel`, { key: subscriber.key });
    await until(subscriber, id, ({ state }) => state === "delivered");
    await setWebhook(subscriber.id, { url: receiverUrl, events: ["execution.failed"] });
    expect(refusalOf(await redeliver(subscriber, id))).toEqual([
      412,
      "PRECONDITION_FAILED",
      "the key's webhook is not for execution.completed",
    ]);
    await client.call("DELETE", `/api/keys/${subscriber.id}/webhook`, { cookie: user.cookie });
    expect(refusalOf(await redeliver(subscriber, id))).toEqual([
      412,
      "PRECONDITION_FAILED",
      "the key has no webhook any more, or may not receive webhooks",
    ]);
    const silent = (await client.createKey(user.cookie, {})).body as unknown as Subscriber;
    const untold = await submit(silent);
    await eventually(
      () => poll(silent, untold),
      ({ body }) => body.status === "completed",
    );
    expect(refusalOf(await redeliver(silent, untold))).toEqual([412, "PRECONDITION_FAILED", "the execution has no webhook"]);
    const stranger = (await client.account({ tier: "pro" })) as { key: string };
    expect(await client.call("POST", `/api/executions/${id}/redeliver`, { key: stranger.key })).toMatchObject({
      status: 404,
      body: { code: "EXECUTION_NOT_FOUND" },
    });
    const { key } = (await client.createKey(user.cookie, { capabilities: ["execution:read"] })).body as unknown as Subscriber;
    expect(await client.call("POST", `/api/executions/${id}/redeliver`, { key })).toMatchObject({
      status: 403,
      body: { code: "CAPABILITY_DENIED", required: "webhook:receive" },
    });
  });

  it("announces only events to which the webhook subscribes", async () => {
    const subscriber = await subscribe(["execution.failed"]);
    const id = await submit(subscriber);
    await until(subscriber, id, ({ state }) => state === "skipped");
    expect(received).toHaveLength(0);
  });
});
