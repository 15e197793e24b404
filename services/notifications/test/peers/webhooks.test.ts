import { randomUUID } from "node:crypto";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createEgressClient, type EgressClient } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import { Webhook } from "standardwebhooks";
import type { AttemptId, SentAttempt } from "../../src/delivery";
import { createWebhooks, type Webhooks } from "../../src/webhooks/webhooks";
import { logger, openStores, type Stores } from "../support/index";
import { startIdentity, startReceiver, type Receiver, type RunningIdentity } from "../support/webhook-support";
import { FIXTURE } from "../../../../test-support/webhook-fixture";
import { freePort } from "../../../../deploy/local/servers/ports.cjs";
import { peerOf } from "../../../../test-support/peer";

/** Python with the official library of Standard Webhooks. */
const PYTHON = peerOf("webhooks");
const GUIDE = join(__dirname, "..", "..", "..", "..", "docs", "guide", "runs.md");
const PATIENCE_MS = 10_000;

const DO = `
import datetime, json, sys
from standardwebhooks import Webhook, WebhookVerificationError
for line in sys.stdin:
    task = json.loads(line)
    webhook = Webhook(task["secret"])
    if "headers" in task:
        try:
            answer = webhook.verify(task["body"], task["headers"])
        except WebhookVerificationError as error:
            answer = str(error)
    else:
        at = datetime.datetime.fromtimestamp(task["timestamp"], datetime.timezone.utc)
        answer = webhook.sign(task["id"], at, task["body"])
    print(json.dumps(answer))
`;
type Task = { secret: string; body: string } & ({ headers: Record<string, unknown> } | { id: string; timestamp: number });

/** The Python library's result for each task: the message, an error, or a signature. */
const ask = (...tasks: Task[]): unknown[] => {
  const input = tasks.map((task) => JSON.stringify(task)).join("\n");
  const { stdout, stderr, status } = spawnSync(PYTHON, ["-c", DO], { input, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
};

const listening = async (port: number): Promise<void> => {
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    const socket = connect(port, "127.0.0.1");
    const connected = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return;
    if (Date.now() > deadline) throw new Error("the receiver does not listen");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

let stores: Stores;
let stopStore: () => Promise<void>;
let identity: RunningIdentity;
let receiver: Receiver;
let port: number;
let egress: EgressClient;
let webhooks: Webhooks;
let program: ChildProcess | undefined;

beforeAll(async () => {
  if (PYTHON === "") throw new Error("PEER_WEBHOOKS is not set: npm run drill peers sets it");
  [receiver, port] = await Promise.all([startReceiver(), freePort()]);
  [{ stores, stop: stopStore }, identity] = await Promise.all([openStores(), startIdentity(receiver.address, `127.0.0.1:${port}`)]);
  egress = createEgressClient({ allow: [receiver.address, `127.0.0.1:${port}`] });
  webhooks = createWebhooks({
    store: stores.deliveries,
    executions: { getWebhookMessage },
    identity: identity.client,
    egress,
    outgoing: () => Promise.resolve(null),
    mails: undefined,
    logger,
  });
}, 60_000);
afterAll(async () => {
  program?.kill();
  await receiver.close();
  await Promise.all([stopStore(), identity.stop(), egress.close()]);
});
beforeEach(() => (receiver.deliveries.length = 0));

const getWebhookMessage = async ({ about }: executions.GetWebhookMessageRequest): Promise<executions.GetWebhookMessageResponse> => {
  const executionId = String(about?.value);
  const dataJson = JSON.stringify({ executionId, result: { text: "grüße 🌍\u2028" } });
  return { message: { id: `msg_${executionId}`, type: "execution.completed", timestamp: new Date(), bare: false, dataJson } };
};

const newRun = async (url: string): Promise<{ id: AttemptId; keyId: string; secret: string }> => {
  const { keyId, secret } = await identity.newKey(url);
  const executionId = randomUUID();
  const about = { kind: "run" as const, executionId };
  await stores.deliveries.insert({ _id: executionId, ownerId: identity.userId, keyId, event: "execution.completed", about }, new Date());
  return { id: { id: executionId, delivery: 1, attempt: 1 }, keyId, secret };
};

it("verifies a delivery, and rejects it if changed, late or with another secret", async () => {
  const { id, secret } = await newRun(receiver.url);
  await webhooks.send(id);
  const [{ headers, body }] = receiver.deliveries as [Receiver["deliveries"][0]];
  const genuine = { secret, headers, body };
  const late = { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) - 301) };
  expect(
    ask(
      genuine,
      { ...genuine, body: body.replace("grüße", "gruesse") },
      { ...genuine, headers: late },
      { ...genuine, secret: (await newRun(receiver.url)).secret },
    ),
  ).toEqual([JSON.parse(body), "No matching signature found", "Message timestamp too old", "No matching signature found"]);
});

it("verifies with either secret while they overlap, and afterwards only with the new one", async () => {
  const { id, keyId, secret } = await newRun(receiver.url);
  const { webhookSecret } = await identity.client.rotateKey({ userId: identity.userId, keyId, graceSeconds: 0 });
  const verdicts = async (): Promise<boolean[]> => {
    await webhooks.send(id);
    const { headers, body } = receiver.deliveries.at(-1)!;
    return ask({ secret, headers, body }, { secret: webhookSecret, headers, body }).map((answer) => typeof answer === "object");
  };
  expect(await verdicts()).toEqual([true, true]);
  const aDayAgo = new Date(Date.now() - 24 * 3_600_000);
  const keys = identity.database.collection<{ _id: string }>("keys");
  await keys.updateOne({ _id: keyId }, { $set: { "webhookSecrets.0.createdAt": aDayAgo } });
  expect(await verdicts()).toEqual([false, true]);
});

it("creates signatures that the JavaScript library accepts", () => {
  const message = { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`, id: "msg_1", body: '{"text":"grüße"}' };
  const timestamp = Math.floor(Date.now() / 1_000);
  const [signature] = ask({ ...message, timestamp }) as [string];
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": String(timestamp), "webhook-signature": signature };
  expect(new Webhook(message.secret).verify(message.body, headers)).toEqual({ text: "grüße" });
});

it("accepts a delivery with the guide's program, and rejects one with another secret", async () => {
  const [source] = [...readFileSync(GUIDE, "utf8").matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  const { id, secret } = await newRun(`http://127.0.0.1:${port}/hook`);
  program = spawn(PYTHON, ["-c", source!], { env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) } });
  const firstLine = once(createInterface(program.stdout!), "line", { signal: AbortSignal.timeout(PATIENCE_MS) });
  await listening(port);
  expect(await webhooks.send(id)).toMatchObject({ status: 204, error: null });
  expect((await firstLine)[0]).toBe(`execution.completed ${id.id}`);
  const { id: stranger } = await newRun(`http://127.0.0.1:${port}/hook`);
  expect(((await webhooks.send(stranger)) as SentAttempt).status).toBe(401);
});

it("still signs like the recording for the tests without it", () => {
  const message = { secret: FIXTURE.secret, id: FIXTURE.id, timestamp: FIXTURE.timestamp, body: FIXTURE.body };
  const [signature] = ask(message) as [string];
  expect(signature).toBe(FIXTURE.signature);
});
