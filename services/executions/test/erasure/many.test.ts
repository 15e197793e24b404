import { randomUUID } from "node:crypto";
import type { Connection } from "mongoose";
import { createBurying } from "../../src/erasure/burying";
import { createManyErasures } from "../../src/erasure/many";
import type { Stores } from "../../src/record/stores";
import { metadataKeys } from "../../src/run/record";
import { createRelayedManyErasures } from "../../src/upkeep/many-erasures";
import { newRecord, openStore } from "../support";
import { createErasedRuns, long } from "../support/erased-runs";

let stores: Stores;
let connection: Connection;
let stop: () => Promise<void>;
let runs: ReturnType<typeof createErasedRuns>;
beforeAll(async () => {
  ({ stores, connection, stop } = await openStore());
  runs = createErasedRuns({ stores, connection });
});
afterAll(() => stop());

const NOTHING = { schedules: [], hooks: [], keys: [] };
const metadata = (value: string) => ({ $case: "metadata", value: { name: "customer", value } }) as const;

/** An account whose erasures one process carries out. `fails` is the number of next calls of a part that fail. */
const world = () => {
  const userId = randomUUID();
  const services = runs.createServices();
  const fails = { usage: 0, billing: 0, identity: 0, temporal: 0 };
  const values: string[] = [];
  const step = async (name: keyof typeof fails, value: string): Promise<void> => {
    await Promise.resolve();
    if (fails[name] === 0) return void values.push(value);
    fails[name] -= 1;
    throw new Error(`${name} is unavailable`);
  };
  const part = (name: "usage" | "billing" | "identity") => ({
    eraseMetadata: ({ value, within }: { value: string; within: object }) =>
      step(name, `${name} ${value}${Object.keys(within).length > 0 ? " within" : ""}`).then(() => ({})),
  });
  const carriersOf = () => Promise.resolve(NOTHING);
  const burying = createBurying({
    ...{ stores, outbox: services.outbox },
    erasures: { notifications: { eraseRuns: () => Promise.resolve({}) } },
    leaver: { removeDeliveries: () => Promise.resolve(), removeBatch: () => step("temporal", "batch") },
  });
  const relay = createRelayedManyErasures({
    ...{ stores, carriersOf, burying },
    erasures: { usage: part("usage"), billing: part("billing"), identity: part("identity") },
  });
  const many = createManyErasures({ stores, carriersOf });
  const create = async (by: Parameters<typeof many.create>[0]["by"], within: Record<string, string> = {}): Promise<string> => {
    const erasureId = randomUUID();
    const soon = new Date(Date.now() + 1_000);
    await many.create({ erasureId, userId, by, before: soon, dryRun: false, within, fingerprint: "" });
    return erasureId;
  };
  const get = (erasureId: string) => many.get({ erasureId, userId, within: {} });
  /** One pass of the relay, which continues after failures. */
  const turn = async (erasureId: string): Promise<void> => {
    const rows = (await relay.page(100, undefined)).filter(({ _id }) => _id === erasureId);
    for (const row of rows) await relay.settle([row]).catch(() => false);
  };
  return { userId, services, fails, values, many, create, get, turn };
};

const insertBatch = async (userId: string, word: string, status: "completed" | "paused"): Promise<string> => {
  const _id = randomUUID();
  const record = { _id, userId, status, metadata: metadataKeys({ customer: word }), total: 1, createdAt: new Date() };
  await connection.collection("batches").insertOne(record as never);
  const input = await stores.payloads.putText(long(word), _id);
  await connection.collection("batchrows").insertOne({ _id: `${_id}.0`, batchId: _id, index: 0, input } as never);
  return _id;
};

it("leaves nothing of a customer despite unavailable services, and all of another", async () => {
  const { userId, services, fails, values, create, get, turn } = world();
  const [word, other] = [`zq${randomUUID()}`, `zx${randomUUID()}`];
  const batchId = await insertBatch(userId, word, "completed");
  for (const more of [{}, {}, { batchId, index: 0 }]) await runs.insertRun(word, userId, more);
  await runs.insertRun(other, userId);
  const like = await runs.countOf(other);
  const refusedRow = { ...newRecord(userId, { status: "refused" }), metadata: metadataKeys({ customer: word }), outbox: [] };
  await stores.rows.insert(refusedRow);
  expect(Object.keys(await runs.countOf(word)).sort()).toEqual(expect.arrayContaining(["batches", "executions", "payloads"]));

  Object.assign(services.fails, { usage: 1, notifications: 1, media: 0, temporal: 1 });
  Object.assign(fails, { usage: 1, billing: 1, identity: 1, temporal: 1 });
  const id = await create(metadata(word));
  expect(await get(id)).toMatchObject({ state: "running", matched: 3, erased: 0, remaining: 5 });
  for (let turns = 0; turns < 8; turns += 1) {
    await turn(id);
    // The relay of runs delivers the entries left in their outboxes.
    for (const { _id } of await stores.rows.unsettled(100, undefined)) {
      const row = await stores.rows.find(_id);
      if (row?.userId === userId && row.status === "erased") await services.outbox.deliver(row);
    }
  }
  expect(await get(id)).toMatchObject({ state: "completed", matched: 3, erased: 3, remaining: 0, metadataName: "customer" });
  expect(await runs.countOf(word)).toEqual({});
  expect(await runs.countOf(other)).toEqual(like);
  expect(new Set(values)).toEqual(new Set(["batch", `usage ${word}`, `billing ${word}`, `identity ${word}`]));
});

it("waits for running runs and batches, and erases them after their end", async () => {
  const { userId, create, get, turn } = world();
  const word = `zq${randomUUID()}`;
  const running = { ...newRecord(userId, { status: "processing" }), metadata: metadataKeys({ customer: word }) };
  await stores.rows.insert(running);
  const batchId = await insertBatch(userId, word, "paused");
  const id = await create(metadata(word));
  await turn(id);
  expect(await get(id)).toMatchObject({ state: "running", matched: 1, erased: 0, remaining: 2 });
  await connection.collection("executions").updateOne({ _id: running._id as never }, { $set: { status: "completed", outbox: [] } });
  await connection.collection("batches").updateOne({ _id: batchId as never }, { $set: { status: "cancelled" } });
  for (let turns = 0; turns < 3; turns += 1) await turn(id);
  expect(await get(id)).toMatchObject({ state: "completed", erased: 1, remaining: 0 });
});

it("covers only runs of the account, from before its time, with the key's metadata", async () => {
  const { userId, values, create, get, turn } = world();
  const [mine, later, theirs] = [
    await runs.insertRun("mine", userId, { metadata: metadataKeys({ customer: "a", team: "x" }) }),
    await runs.insertRun("later", userId, {
      metadata: metadataKeys({ customer: "a", team: "x" }),
      createdAt: new Date(Date.now() + 60_000),
    }),
    await runs.insertRun("theirs", randomUUID(), { metadata: metadataKeys({ customer: "a", team: "x" }) }),
  ];
  const outside = await runs.insertRun("outside", userId, { metadata: metadataKeys({ customer: "a", team: "y" }) });
  const id = await create(metadata("a"), { team: "x" });
  for (let turns = 0; turns < 3; turns += 1) await turn(id);
  expect(await get(id)).toMatchObject({ state: "completed", matched: 1, erased: 1 });
  expect((await stores.rows.find(mine._id))?.status).toBe("erased");
  for (const { _id } of [later, theirs, outside]) expect((await stores.rows.find(_id))?.status).toBe("completed");
  // The account's budget and audit don't belong to that key.
  expect(new Set(values)).toEqual(new Set(["usage a within"]));
});

it("runs at most 20 erasures of an account at once", async () => {
  const { many, create, userId } = world();
  await stores.rows.insert({ ...newRecord(userId, { status: "processing" }), metadata: metadataKeys({ customer: "a" }) });
  for (let count = 0; count < 20; count += 1) await create(metadata("a"));
  await expect(create(metadata("a"))).rejects.toMatchObject({ reason: "CONCURRENCY_LIMIT_EXCEEDED" });
  const dry = { erasureId: randomUUID(), userId, by: metadata("a"), before: new Date(), dryRun: true, within: {}, fingerprint: "" };
  expect(await many.create(dry)).toMatchObject({ matched: 1 });
});
