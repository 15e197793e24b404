import { randomUUID } from "node:crypto";
import type { Connection } from "mongoose";
import { createBurying } from "../../src/erasure/burying";
import type { Stores } from "../../src/record/stores";
import { createReadNamed } from "../../src/reuse/reruns";
import { runEvent } from "../../src/run/events";
import { newWebhookState } from "../../src/run/delivery";
import { eraseAtEnd } from "../../src/run/record";
import type { ExecutionRecord } from "../../src/run/record";
import { createRelayedExpired } from "../../src/upkeep/expired";
import { createHandOver } from "../../src/webhooks/hand-over";
import { openStore } from "../support";
import { createErasedRuns, long } from "../support/erased-runs";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const OWN = "https://platform.test/media/";
let stores: Stores;
let connection: Connection;
let stop: () => Promise<void>;
let runs: ReturnType<typeof createErasedRuns>;
beforeAll(async () => {
  ({ stores, connection, stop } = await openStore());
  runs = createErasedRuns({ stores, connection });
});
afterAll(() => stop());

/** Passes of the relay over runs and batches of one account, at the test's time. */
const world = (services = runs.createServices()) => {
  const userId = randomUUID();
  const burying = createBurying({
    ...{ stores, outbox: services.outbox },
    erasures: { notifications: { eraseRuns: () => Promise.resolve({}) } },
    leaver: { removeDeliveries: () => Promise.resolve(), removeBatch: () => Promise.resolve() },
  });
  const look = async (afterMs: number): Promise<void> => {
    const expired = createRelayedExpired({ ...{ stores, burying, outbox: services.outbox }, now: () => Date.now() + afterMs });
    for (const row of await expired.runs.page(1_000, undefined)) if (row.userId === userId) await expired.runs.settle([row]);
    for (const batch of await expired.batches.page(1_000, undefined)) if (batch.userId === userId) await expired.batches.settle([batch]);
    for (const { _id } of await stores.rows.unsettled(1_000, undefined)) {
      const row = await stores.rows.find(_id);
      if (row?.userId === userId) await services.outbox.deliver(row);
    }
  };
  const insert = (word: string, retentionDays: number, more: Partial<ExecutionRecord> = {}): Promise<ExecutionRecord> =>
    runs.insertRun(word, userId, {
      ...{ retentionDays, ...eraseAtEnd(retentionDays, more.batchId !== undefined, new Date()) },
      ...more,
    });
  return { userId, services, look, insert };
};

it("erases a run after its retention, and no other", async () => {
  const { userId, services, look, insert } = world();
  const [word, other] = [`zq${randomUUID()}`, `zx${randomUUID()}`];
  const [run, keptRun] = [await insert(word, 7), await insert(other, 8)];
  const like = await runs.countOf(other);
  await look(7 * DAY - HOUR);
  expect(await runs.countOf(word)).toMatchObject({ executions: 1, calls: 1 });
  await look(7 * DAY + HOUR);
  expect(await runs.countOf(word)).toEqual({});
  expect((await stores.rows.find(run._id))?.status).toBe("erased");
  expect(await runs.countOf(other)).toEqual(like);
  expect(await stores.rows.findOwned(keptRun._id, userId)).not.toBeNull();
  // Costs stay attributed to a customer while usage is kept.
  expect(services.erased).not.toContain("usage");
});

it("leaves only status, result and amounts of a run with 0 days at its end, and the rest for 28 hours", async () => {
  const { userId, services, look, insert } = world();
  const [word, otherWord] = [`zq${randomUUID()}`, `zr${randomUUID()}`];
  const result = long(otherWord);
  const run = await insert(word, 0, {
    ...{ resultJson: result, metadata: [] },
    events: [runEvent("node.failed", { error: word })],
    decisions: [{ nodeId: "n", isApproved: true, by: "owner", at: new Date(), value: { json: word } }],
  });
  expect(Object.keys(await runs.countOf(word)).sort()).toEqual(["calls", "executions", "payloads"]);
  services.fails.temporal = 1;
  await look(0).catch(() => undefined);
  await look(0);
  expect(await runs.countOf(word)).toEqual({});
  const row = await stores.rows.findOwned(run._id, userId);
  expect(row).toMatchObject({ status: "completed", isEmptied: true, nodes: [], outbox: [] });
  expect((await stores.log.whole(row!)).resultJson).toBe(result);
  expect((await stores.log.events(run._id, userId, 0))?.events.map(({ type }) => type)).toEqual(["settled"]);
  expect(services.erased).not.toContain("notifications");
  await look(27 * HOUR);
  expect(await stores.rows.findOwned(run._id, userId)).not.toBeNull();
  await look(29 * HOUR);
  expect(await runs.countOf(otherWord)).toEqual({});
  expect((await stores.rows.find(run._id))?.status).toBe("erased");
});

it("keeps the files of the result of a run with 0 days, and removes those of its other nodes", async () => {
  const files: Parameters<typeof runs.createServices>[0] = [];
  const { look, insert } = world(runs.createServices(files));
  const run = await insert("files", 0, {
    resultJson: JSON.stringify({ image: { url: `${OWN}result.png` }, given: `${OWN}given.png` }),
    uses: ["given.png", "input.png"],
  });
  const file = (key: string, executionId: string) => ({ id: `${executionId || "data"}-0-0-${key}`, key, executionId, kept: false });
  files.push(file("result.png", run._id), file("middle.png", run._id), file("given.png", ""), file("input.png", ""));
  await look(0);
  expect(files.map(({ key }) => key)).toEqual(["result.png", "given.png"]);
  await look(29 * HOUR);
  expect(files).toEqual([]);
});

it("can't rerun a run with 0 days, and passes the retention of others on", async () => {
  const { userId, insert } = world();
  const readNamed = createReadNamed(stores);
  const [none, some] = [await insert("none", 0), await insert("some", 30)];
  await expect(readNamed(none._id, userId, true)).rejects.toMatchObject({ reason: "SOURCE_ERASED" });
  expect(await readNamed(some._id, userId, true)).toMatchObject({ retentionDays: 30 });
});

it("sends the webhook of a run with 0 days only once after its end", async () => {
  const { userId, insert } = world();
  const webhook = { ...newWebhookState({ url: "https://hook.test", events: ["execution.completed"] }), isMoved: true as const };
  const redeliver = jest.fn(() => Promise.resolve({ delivery: undefined }));
  const { redeliver: again } = createHandOver({ stores, notifications: { redeliver, send: jest.fn(), getDeliveries: jest.fn() } });
  const [none, some] = [await insert("none", 0, { webhook, keyId: "key" }), await insert("some", 1, { webhook, keyId: "key" })];
  await expect(again(none._id, userId)).rejects.toMatchObject({ reason: "SOURCE_ERASED" });
  expect(redeliver).not.toHaveBeenCalled();
  await again(some._id, userId);
  expect(redeliver).toHaveBeenCalledTimes(1);
});

it("erases the rows and items of a batch with the batch, even if its items ended long before", async () => {
  const { userId, look, insert } = world();
  const [word, batchId] = [`zq${randomUUID()}`, randomUUID()];
  await insert(word, 5, { batchId, index: 0 });
  const batch = {
    _id: batchId,
    userId,
    status: "running",
    next: 1,
    again: [],
    underWay: [],
    total: 1,
    metadata: [],
    webhook: null,
    runner: {},
  };
  await connection.collection("batches").insertOne({ ...batch, retentionDays: 5, isCarried: true, createdAt: new Date() } as never);
  const input = await stores.payloads.putText(long(word), batchId);
  await connection.collection("batchrows").insertOne({ _id: `${batchId}.0`, batchId, index: 0, input } as never);
  await look(90 * DAY);
  expect(Object.keys(await runs.countOf(word)).sort()).toEqual(["calls", "executions", "payloads"]);
  await stores.batches.finish((await stores.batches.find(batchId))!, "completed");
  await look(5 * DAY - HOUR);
  expect(await stores.batches.find(batchId)).not.toBeNull();
  for (let turns = 0; turns < 2; turns += 1) await look(5 * DAY + HOUR);
  expect(await stores.batches.find(batchId)).toBeNull();
  expect(await runs.countOf(word)).toEqual({});
});
