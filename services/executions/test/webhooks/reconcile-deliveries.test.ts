import { randomUUID } from "node:crypto";
import { createLogger } from "@nodeloom/platform";
import { Client } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import { newWebhookState, type WebhookState } from "../../src/run/delivery";
import { createDeliveryReconciler } from "../../src/webhooks/reconcile-deliveries";
import type { ExecutionRecord } from "../../src/run/record";
import type { Stores } from "../../src/store/stores";
import { createDeliveryStarter, type DeliveryStarter } from "../../src/carry/client";
import { newRecord, openStore } from "../support/index";

const MINUTE = 60_000;

let stores: Stores;
let stopStore: () => Promise<void>;
let connection: NativeConnection;
let client: Client;
let starter: DeliveryStarter;
/** Started here, and carried by no worker. */
const started: string[] = [];

beforeAll(async () => {
  connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS! });
  client = new Client({ connection });
  starter = createDeliveryStarter({ client, taskQueue: `late-${randomUUID().slice(0, 8)}` });
});
beforeEach(async () => {
  ({ stores, stop: stopStore } = await openStore());
});
afterEach(() => stopStore());
afterAll(async () => {
  await Promise.all(
    started.map((id) =>
      client.workflow
        .getHandle(id)
        .terminate()
        .catch(() => undefined),
    ),
  );
  await connection.close();
});

const ago = (minutes: number): Date => new Date(Date.now() - minutes * MINUTE);
const inserted = async (webhook: Partial<WebhookState>, part: Partial<ExecutionRecord> = {}): Promise<string> => {
  const whole = { ...newWebhookState({ url: "https://example.com/hook", events: [] }), ...webhook };
  const record = newRecord("owner", { status: "completed", finishedAt: ago(60), keyId: "key", webhook: whole, ...part });
  await stores.rows.insert(record);
  return record._id;
};
const reconcile = () => createDeliveryReconciler({ stores, starter, logger: createLogger("test", "fatal") })(() => undefined);
const webhookOf = async (id: string) => (await stores.rows.find(id))!.webhook!;

it("delivers again what is long due and nothing carries, once", async () => {
  const never = await inserted({});
  const lost = await inserted({ delivery: 2, attempts: 3, nextAttemptAt: ago(11) });
  started.push(`webhook-${never}-2`, `webhook-${lost}-3`);
  expect(await reconcile()).toEqual({ seen: 2, changed: 2, failed: 0 });
  expect(await starter.isCarried(never, 2)).toBe(true);
  expect(await starter.isCarried(lost, 3)).toBe(true);
  expect(await webhookOf(lost)).toMatchObject({ state: "pending", delivery: 3, attempts: 3 });
  expect(await reconcile()).toEqual({ seen: 0, changed: 0, failed: 0 });
});

it("begins with the first attempt at once, not after a pause", async () => {
  const executionId = randomUUID();
  started.push(`webhook-${executionId}`);
  await starter.startFirst(executionId, "key");
  const { events } = await client.workflow.getHandle(`webhook-${executionId}`).fetchHistory();
  const { firstWorkflowTaskBackoff: pause } = events![0]!.workflowExecutionStartedEventAttributes!;
  expect([Number(pause?.seconds ?? 0), pause?.nanos ?? 0]).toEqual([0, 0]);
});

it("leaves alone what is carried, until that is ended from outside", async () => {
  const id = await inserted({ delivery: 2, nextAttemptAt: ago(11) });
  started.push(`webhook-${id}-2`, `webhook-${id}-3`);
  await starter.startAgain({ executionId: id, keyId: "key", delivery: 2 });
  expect(await reconcile()).toEqual({ seen: 1, changed: 0, failed: 0 });
  await client.workflow.getHandle(`webhook-${id}-2`).terminate("by mistake");
  expect(await reconcile()).toEqual({ seen: 1, changed: 1, failed: 0 });
  expect((await webhookOf(id)).delivery).toBe(3);
});

it("goes on with all others when one delivery can't be begun again", async () => {
  const poisoned = await inserted({}, { finishedAt: ago(90) });
  const other = await inserted({});
  started.push(`webhook-${other}-2`);
  const isCarried: DeliveryStarter["isCarried"] = (id, delivery) =>
    id === poisoned ? Promise.reject(new TypeError("broken")) : starter.isCarried(id, delivery);
  const look = createDeliveryReconciler({ stores, starter: { ...starter, isCarried }, logger: createLogger("test", "silent") });
  expect(await look(() => undefined)).toEqual({ seen: 2, changed: 1, failed: 1 });
  expect((await webhookOf(other)).delivery).toBe(2);
});

it("does not ask for what is not due, or over", async () => {
  await inserted({ nextAttemptAt: ago(-240) });
  await inserted({ nextAttemptAt: ago(9) });
  await inserted({}, { finishedAt: ago(9) });
  await inserted({}, { status: "processing", finishedAt: null });
  for (const state of ["delivered", "failed", "disabled", "skipped"] as const) await inserted({ state });
  await stores.rows.insert(newRecord("owner", { status: "completed", finishedAt: ago(60) }));
  expect(await reconcile()).toEqual({ seen: 0, changed: 0, failed: 0 });
});

it("looks through all of them, page by page", async () => {
  const finishedAt = ago(60);
  const ids = await Promise.all(Array.from({ length: 5 }, () => inserted({ nextAttemptAt: ago(30) }, { finishedAt })));
  ids.push(await inserted({}, { finishedAt: ago(30) }));
  const seen: string[] = [];
  for (let after: ExecutionRecord | undefined; ;) {
    const page = await stores.deliveries.late(ago(10), 2, after);
    if (page.length === 0) break;
    seen.push(...page.map(({ _id }) => _id));
    after = page.at(-1) as ExecutionRecord;
  }
  expect(seen).toHaveLength(6);
  expect(new Set(seen)).toEqual(new Set(ids));
  expect(seen.at(-1)).toBe(ids.at(-1));
});
