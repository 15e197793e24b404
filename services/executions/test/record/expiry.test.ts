import { randomUUID } from "node:crypto";
import type { Connection } from "mongoose";
import { newWebhookState, type DeliveryState } from "../../src/run/delivery";
import type { PendingOf } from "../../src/record/runs/expiry";
import { completedCall } from "../../src/run/call-record";
import type { ExecutionRecord } from "../../src/run/record";
import type { Stores } from "../../src/record/stores";
import { newRecord, openStore } from "../support";

const DAY_MS = 86_400_000;
const NOW = new Date();
const ago = (days: number): Date => new Date(NOW.getTime() - days * DAY_MS);

let stores: Stores;
let connection: Connection;
let stop: () => Promise<void>;
beforeEach(async () => void ({ stores, connection, stop } = await openStore({ retentionDays: 90 })));
afterEach(() => stop());

const webhook = (state: DeliveryState) => ({ ...newWebhookState({ url: "https://a.test", events: [] }), state });
/** A run with all data that can be stored. */
const insert = async (part: Partial<ExecutionRecord>): Promise<string> => {
  const record = newRecord("u", { status: "completed", ...part });
  await stores.rows.insert(record);
  const result = { files: [], text: "x", costMicroUsd: 1, requestId: null };
  await stores.calls.recordEnd(completedCall({ key: `${record._id}:pic:0`, executionId: record._id, nodeId: "pic", item: 0 }, result));
  return record._id;
};
const endedAgo = (days: number): Partial<ExecutionRecord> => ({ createdAt: ago(days), finishedAt: ago(days) });

/** Deletes page by page until nothing is left. */
const removeAll = async (limit = 2, pendingOf: PendingOf = async () => new Set()): Promise<number> => {
  let total = 0;
  for (let cursor = ""; ;) {
    const { removed, next } = await stores.rows.removeExecutions(ago(90), limit, cursor, pendingOf);
    total += removed;
    if (next === "") return total;
    cursor = next;
  }
};
const remainingIds = async (): Promise<Set<string>> => {
  const rows = await connection.collection<{ _id: string }>("executions").find().toArray();
  return new Set(rows.map(({ _id }) => _id));
};
const withCalls = async (): Promise<Set<string>> => {
  const calls = await connection.collection("calls").find().toArray();
  return new Set(calls.map(({ executionId }) => String(executionId)));
};

it("removes runs that ended long enough ago, with their events and calls, and nothing that is still needed", async () => {
  const expired = [
    await insert(endedAgo(91)),
    await insert({ ...endedAgo(200), status: "failed", outbox: [] }),
    await insert({ ...endedAgo(100), status: "cancelled", webhook: webhook("delivered") }),
    await insert({ ...endedAgo(100), webhook: webhook("failed") }),
    await insert({ ...endedAgo(100), webhook: webhook("skipped") }),
  ];
  const keptIds = [
    await insert(endedAgo(89)),
    // Started before the limit and ended after it.
    await insert({ createdAt: ago(91), finishedAt: ago(89.5) }),
    await insert({ ...endedAgo(100), status: "processing", finishedAt: null }),
    await insert({ ...endedAgo(100), status: "cancel_requested", finishedAt: null }),
    await insert({ ...endedAgo(100), status: "queued", finishedAt: null, unsettled: true, outbox: [] }),
    await insert({ ...endedAgo(100), status: "accepted", finishedAt: null, unsettled: true, outbox: [] }),
    await insert({ ...endedAgo(100), unsettled: true, outbox: ["usage"] }),
    await insert({ ...endedAgo(100), unsettled: true, outbox: [] }),
    await insert({ ...endedAgo(100), outbox: ["webhook"] }),
    await insert({ ...endedAgo(100), webhook: webhook("pending") }),
  ];
  expect(await removeAll()).toBe(expired.length);
  expect(await remainingIds()).toEqual(new Set(keptIds));
  expect(await withCalls()).toEqual(new Set(keptIds));
  expect(await removeAll()).toBe(0);
});

it("continues where an interrupted page ended", async () => {
  const id = await insert(endedAgo(100));
  // The process died after deleting the calls.
  await connection.collection("calls").deleteMany({ executionId: id });
  expect(await removeAll()).toBe(1);
  expect(await remainingIds()).toEqual(new Set());
});

it("frees an idempotency key with its execution, and not before", async () => {
  const id = await insert({ ...endedAgo(89), fingerprint: "f" });
  await removeAll();
  expect(await stores.rows.find(id)).toMatchObject({ fingerprint: "f" });
  await connection.collection<{ _id: string }>("executions").updateOne({ _id: id }, { $set: endedAgo(91) });
  await removeAll();
  expect(await stores.rows.find(id)).toBeNull();
});

it("removes refused runs that aren't remembered any more and have no pending work", async () => {
  const refusedPart = { status: "refused" as const, finishedAt: null };
  await insert({ ...refusedPart, expiresAt: ago(1), outbox: [] });
  const keptIds = [
    await insert({ ...refusedPart, expiresAt: ago(-1), outbox: [] }),
    await insert({ ...refusedPart, expiresAt: ago(1), outbox: ["void:1"] }),
  ];
  expect(await stores.rows.removeRefused(NOW, 10)).toBe(1);
  expect(await remainingIds()).toEqual(new Set(keptIds));
});

it("removes submissions from before a time, in small batches", async () => {
  const submissions = connection.collection<{ _id: string; at: Date }>("submissions");
  await submissions.insertMany([31, 40, 50, 29, 0].map((days) => ({ _id: `${days}`, at: ago(days) })));
  expect(await stores.submissions.removeOld(ago(30), 2)).toBe(2);
  expect(await stores.submissions.removeOld(ago(30), 2)).toBe(1);
  expect(await stores.submissions.removeOld(ago(30), 2)).toBe(0);
  expect((await submissions.find().toArray()).map(({ _id }) => _id).sort()).toEqual(["0", "29"]);
});

it("keeps long texts as long as the runs that name them, and a run's payloads for their retention", async () => {
  const text = await stores.payloads.putText("x".repeat(10_000), "u");
  await stores.payloads.put("payload", new Uint8Array(3));
  const inDays = (days: number): Date => ago(-days);
  expect(await stores.payloads.removeExpired(inDays(59), 10)).toBe(0);
  expect(await stores.payloads.removeExpired(inDays(61), 10)).toBe(1);
  expect(await stores.payloads.get("payload")).toBeNull();
  // A run that starts now can take two days, wait 30 more for decisions, and is then kept for 90.
  expect(await stores.payloads.removeExpired(inDays(122), 10)).toBe(0);
  expect(await stores.payloads.getText(text)).toHaveLength(10_000);
  expect(await stores.payloads.removeExpired(inDays(124), 10)).toBe(1);
  expect(await stores.payloads.getText(text)).toBeNull();
});

it("keeps a text for another run that also names it", async () => {
  const json = JSON.stringify(randomUUID().repeat(200));
  const text = await stores.payloads.putText(json, "u");
  const { hash } = text as { hash: string };
  await connection.collection<{ _id: string }>("payloads").updateOne({ _id: hash }, { $set: { expiresAt: ago(-1) } });
  await stores.payloads.putText(json, "u");
  expect(await stores.payloads.removeExpired(ago(-2), 10)).toBe(0);
});
