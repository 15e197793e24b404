import { randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { mongo, type Connection } from "mongoose";
import { createRunDeletion } from "../../src/erasure/deletion";
import { createRunErasure } from "../../src/erasure/runs";
import { createOutbox } from "../../src/lifecycle/outbox";
import { createKeepGraph, GRAPH_SETTLED_MS } from "../../src/plan/kept-graphs";
import type { Stores } from "../../src/record/stores";
import { completedCall } from "../../src/run/call-record";
import { metadataKeys, type ExecutionRecord, type ExecutionView } from "../../src/run/record";
import { createClaimCheckCodec } from "../../src/workflow/claim-check";
import { newRecord, openStore } from "../support";
import { logger } from "../support/money";

const OWN = "https://platform.test/media/";
const none = (): never => {
  throw new Error("nothing else is owed");
};

let stores: Stores;
let connection: Connection;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ stores, connection, stop } = await openStore());
});
afterAll(() => stop());

interface StoredFile {
  id: string;
  key: string;
  executionId: string;
  kept: boolean;
}

/** Services that erase their part; `fails` says how often the next calls of one of them fail. */
const createServices = (files: StoredFile[] = []) => {
  const fails = { usage: 0, notifications: 0, media: 0, temporal: 0 };
  const erased: string[] = [];
  const step = (name: keyof typeof fails): Promise<void> => {
    if (fails[name] === 0) return Promise.resolve(void erased.push(name));
    fails[name] -= 1;
    return Promise.reject(new Error(`${name} is unavailable`));
  };
  const part = (name: keyof typeof fails) => ({ eraseRuns: () => step(name).then(() => ({})) });
  const erase = createRunErasure({
    stores,
    media: {
      findRunFiles: async ({ executionId, names }) => ({
        files: files.filter((file) => file.id.startsWith(`${executionId}-`) || names.includes(file.key)),
        nextCursor: "",
      }),
      removeFiles: async ({ ids }) => {
        await step("media");
        for (const id of ids)
          files.splice(
            files.findIndex((file) => file.id === id),
            1,
          );
        return {};
      },
    },
    erasures: { usage: part("usage"), notifications: part("notifications") },
    leaver: { removeRun: () => step("temporal"), removeDeliveries: () => Promise.resolve() },
    redis: { forgetRuns: () => Promise.resolve() },
    // Graphs are removed once no process may have them in mind.
    now: () => Date.now() + 2 * GRAPH_SETTLED_MS,
  });
  const outbox = createOutbox({
    ...{ stores, logger, erase },
    holds: { void: none },
    queue: { leave: none },
    reports: { started: none, finished: none },
    webhooks: { end: none, waiting: none },
    starter: { cancel: none, decided: none },
  });
  const remove = createRunDeletion({ stores, outbox, awaitDelivered: () => Promise.resolve() });
  return { fails, erased, files, outbox, remove };
};

const countOf = async (word: string): Promise<Record<string, number>> => {
  const found: Record<string, number> = {};
  for (const { collectionName } of await connection.db!.collections())
    for await (const document of connection.db!.collection(collectionName).find()) {
      const { bytes } = document as { bytes?: { buffer: Uint8Array } };
      const parts = [Buffer.from(mongo.BSON.serialize(document)), ...(bytes ? [Buffer.from(bytes.buffer)] : [])];
      const whole = parts.flatMap((part) => (part[0] === 0x1f && part[1] === 0x8b ? [part, gunzipSync(part)] : [part]));
      if (whole.some((part) => part.includes(word))) found[collectionName] = (found[collectionName] ?? 0) + 1;
    }
  return found;
};

const long = (word: string): string => JSON.stringify({ prompt: `${word} `.repeat(1_000) });

/** A run with a word in everything that is kept of it. */
const insertRun = async (word: string, userId: string, more: Partial<ExecutionRecord> = {}): Promise<ExecutionRecord> => {
  const id = randomUUID();
  const { payloads } = stores;
  const keepGraph = createKeepGraph(payloads);
  const nodesJson = JSON.stringify([{ id: "n", data: { text: long(word) } }]);
  const record: ExecutionRecord = {
    ...newRecord(userId, { status: "completed" }),
    ...{ _id: id, holdId: `${id}.1`, metadata: metadataKeys({ customer: word }), outbox: [], finishedAt: new Date() },
    inputs: await payloads.putText(long(word), id),
    graph: await keepGraph(word, { nodesJson, edgesJson: "[]", pinnedModels: {} }, userId),
    resultJson: long(word),
    ...more,
  };
  delete record.unsettled;
  await stores.rows.insert(record);
  const key = `${id}:pic:0`;
  await stores.calls.ended(
    completedCall({ key, executionId: id, nodeId: "pic", item: 0 }, { files: [], text: word, costMicroUsd: 1, requestId: null }),
  );
  await stores.submissions.claim(key, "process");
  const payload = { metadata: {}, data: Buffer.from(long(word)) };
  await createClaimCheckCodec(payloads).encode([payload], { type: "workflow", namespace: "default", workflowId: id });
  return record;
};

/** Delivers what an erased run owes, as the relay does, until nothing is left. */
const relayed = async ({ outbox }: ReturnType<typeof createServices>, id: string): Promise<void> => {
  await outbox.drain();
  for (let row = await stores.rows.find(id); row && row.outbox.length > 0; row = await stores.rows.find(id)) await outbox.deliver(row);
};

it("leaves nothing of a deleted run but its id, its owner and the time, and all of a like run", async () => {
  const [userId, word] = [randomUUID(), `zq${randomUUID()}`];
  const run = await insertRun(word, userId);
  const before = await countOf(word);
  expect(before).toMatchObject({ executions: 1, calls: 1 });
  expect(before.payloads).toBeGreaterThanOrEqual(3);
  const like = await insertRun(`other${word.slice(2)}`, userId);

  const services = createServices();
  await services.remove(run._id, userId, {});
  expect(await stores.rows.findOwned(run._id, userId)).toBeNull();
  await relayed(services, run._id);

  expect(await countOf(word)).toEqual({});
  const tombstone = (await connection.collection("executions").findOne({ _id: run._id as never })) as Record<string, unknown> | null;
  expect(Object.keys(tombstone ?? {}).sort()).toEqual(["_id", "attempt", "createdAt", "erasedAt", "holdId", "outbox", "status", "userId"]);
  expect(tombstone).toMatchObject({ userId, status: "erased", outbox: [] });
  expect(await stores.calls.of(like._id)).toHaveLength(1);
  expect(await stores.payloads.getText(like.inputs!)).toBe(long(`other${word.slice(2)}`));
});

it("finishes after each service was unavailable, and after its process died", async () => {
  const [userId, word] = [randomUUID(), `zq${randomUUID()}`];
  const run = await insertRun(word, userId);
  const services = createServices([{ id: `${run._id}-0-0-0`, key: "made.png", executionId: run._id, kept: false }]);
  Object.assign(services.fails, { usage: 1, notifications: 1, media: 1, temporal: 1 });
  await services.remove(run._id, userId, {});
  // Another process finds what the row owes.
  await relayed(services, run._id);
  expect(await countOf(word)).toEqual({});
  expect(services.files).toEqual([]);
  expect(new Set(services.erased)).toEqual(new Set(["temporal", "notifications", "usage", "media"]));
});

it("removes the files of a run, but for kept ones and those that another run names", async () => {
  const userId = randomUUID();
  const run = await insertRun("files", userId);
  const file = (key: string, more: Partial<StoredFile> = {}): StoredFile => ({
    ...{ id: `${run._id}-0-0-${key}`, key, executionId: run._id, kept: false },
    ...more,
  });
  const files = [file("plain.png"), file("kept.png", { kept: true }), file("given.png"), file("rerun.png")];
  const user = await insertRun("user", userId, { uses: ["given.png"] });
  const rerun = await insertRun("rerun", userId, {
    rerun: { of: run._id, sources: [run._id] },
    resultJson: JSON.stringify({ image: { url: `${OWN}rerun.png` } }),
  });
  const services = createServices(files);
  const keys = (): string[] => files.map(({ key }) => key);
  await services.remove(run._id, userId, {});
  await relayed(services, run._id);
  expect(keys()).toEqual(["kept.png", "given.png", "rerun.png"]);
  // The last run that names a file of an erased run takes it with it.
  await services.remove(user._id, userId, {});
  await relayed(services, user._id);
  expect(keys()).toEqual(["kept.png", "rerun.png"]);
  expect(await stores.rows.findOwned(rerun._id, userId)).not.toBeNull();
});

it("keeps a graph that another run has", async () => {
  const [userId, word] = [randomUUID(), `zq${randomUUID()}`];
  const [first, second] = [await insertRun(word, userId), await insertRun(word, userId)];
  const services = createServices();
  await services.remove(first._id, userId, {});
  await relayed(services, first._id);
  expect(await stores.payloads.getText(second.graph!)).toContain(word);
  await services.remove(second._id, userId, {});
  await relayed(services, second._id);
  expect(await countOf(word)).toEqual({});
});

it("deletes no run that is under way, that is another's, or that lacks the metadata of the key", async () => {
  const userId = randomUUID();
  const { remove } = createServices();
  const running = newRecord(userId, { status: "processing" });
  await stores.rows.insert(running);
  await expect(remove(running._id, userId, {})).rejects.toMatchObject({ reason: "EXECUTION_NOT_FINAL" });
  const run = await insertRun("mine", userId);
  await expect(remove(run._id, randomUUID(), {})).rejects.toMatchObject({ reason: "EXECUTION_NOT_FOUND" });
  await expect(remove(run._id, userId, { customer: "other" })).rejects.toMatchObject({ reason: "EXECUTION_NOT_FOUND" });
  await remove(run._id, userId, { customer: "mine" });
  await expect(remove(run._id, userId, {})).rejects.toMatchObject({ reason: "EXECUTION_NOT_FOUND" });
});

it("never starts a run under the id of an erased one", async () => {
  const userId = randomUUID();
  const run = await insertRun("again", userId);
  const services = createServices();
  await services.remove(run._id, userId, {});
  await relayed(services, run._id);
  expect(await stores.rows.insert({ ...run, status: "accepted" })).toBe(false);
  expect(
    await stores.rows.claim(run._id, run.attempt, "workflow", { key: "s", type: "started", at: new Date(), data: {} } as never),
  ).toBeNull();
  expect(((await stores.rows.find(run._id)) as ExecutionView).status).toBe("erased");
});
