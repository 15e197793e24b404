import { randomUUID } from "node:crypto";
import type { Connection } from "mongoose";
import { completedCall } from "../../src/run/call-record";
import { createEraseExecutions } from "../../src/erasure/erase";
import { createClaimCheckCodec } from "../../src/workflow/claim-check";
import type { Stores } from "../../src/record/stores";
import { newRecord, openStore } from "../support";

const LONG = "x".repeat(20_000);

let stores: Stores;
let connection: Connection;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ stores, connection, stop } = await openStore());
});
afterAll(() => stop());

const deliveries: string[] = [];
const eraser = () =>
  createEraseExecutions({
    store: stores.leaving,
    payloads: stores.payloads,
    moderation: stores.moderation,
    leaver: { removeWorkflows: () => Promise.resolve(0), removeDeliveries: (id) => Promise.resolve(void deliveries.push(id)) },
    moved: stores.movedTriggers,
    erasures: stores.erasures,
  });
const eraseAll = async (userId: string): Promise<void> => {
  const erase = eraser();
  let cursor = "";
  do ({ nextCursor: cursor } = await erase(userId, cursor));
  while (cursor !== "");
};

/** Inserts a run with all data that is stored beside its row. */
const insertRun = async (userId: string): Promise<string> => {
  const webhook = { url: "https://a.test", events: [] } as never;
  const record = newRecord(userId, { status: "completed", webhook, inputs: await stores.payloads.putText(JSON.stringify(LONG), userId) });
  await stores.rows.insert(record);
  const key = `${record._id}:pic:0`;
  const call = { key, executionId: record._id, nodeId: "pic", item: 0 };
  await stores.calls.recordEnd(completedCall(call, { files: [], text: "x", costMicroUsd: 1, requestId: null }));
  await stores.submissions.claim(key, "process");
  const codec = createClaimCheckCodec(stores.payloads);
  const payload = { metadata: {}, data: Buffer.from(LONG) };
  await codec.encode([payload], { type: "workflow", namespace: "default", workflowId: record._id });
  return record._id;
};
const remainingCounts = async (): Promise<Record<string, number>> => {
  const names = ["executions", "calls", "submissions", "payloads", "lines"];
  const counts = names.map(async (name) => [name, await connection.collection(name).countDocuments()] as const);
  return Object.fromEntries(await Promise.all(counts));
};

it("erases one user's runs with all their data, and keeps another user's", async () => {
  const [leaving, staying] = [randomUUID(), randomUUID()];
  const erasedIds = [await insertRun(leaving), await insertRun(leaving)];
  const keptId = await insertRun(staying);
  await stores.queues.change(leaving, (queue) => ({ queue: { ...queue, limit: 1 }, result: null }));
  await eraseAll(leaving);
  await eraseAll(leaving);
  expect(await remainingCounts()).toEqual({ executions: 1, calls: 1, submissions: 1, payloads: 2, lines: 0 });
  expect((await stores.rows.find(keptId))?.userId).toBe(staying);
  expect(deliveries.sort()).toEqual(erasedIds.sort());
});
