import { randomUUID } from "node:crypto";
import type { Connection } from "mongoose";
import { connectMongo, createUpdater, type OneUpdate } from "../../src";

let connection: Connection;
beforeAll(async () => {
  connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `test_${randomUUID().slice(0, 8)}_updater` });
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

const updating = async () => {
  const rows = connection.collection<{ _id: string; n?: number }>(`rows_${randomUUID().slice(0, 8)}`);
  await rows.insertMany([{ _id: "a" }, { _id: "b" }]);
  return { rows, update: createUpdater(rows as never, { w: "majority" }) };
};
const setting = (_id: string, upsert = false): OneUpdate => ({ filter: { _id }, update: { $set: { n: 1 } }, upsert });

describe("an updater", () => {
  it("reports for one update whether it found its document or inserted one", async () => {
    const { update } = await updating();
    expect(await update(setting("a"))).toBe(true);
    expect(await update(setting("gone"))).toBe(false);
    expect(await update(setting("new", true))).toBe(true);
  });

  it("reports the same for several at once if all of them found theirs, or none did", async () => {
    const { rows, update } = await updating();
    expect(await Promise.all(["a", "b"].map((id) => update(setting(id))))).toEqual([true, true]);
    expect(await rows.countDocuments({ n: 1 })).toBe(2);
    expect(await Promise.all(["x", "y"].map((id) => update(setting(id))))).toEqual([false, false]);
  });

  it("reports it as unknown for each if some found theirs, and makes those", async () => {
    const { rows, update } = await updating();
    expect(await Promise.all(["a", "gone"].map((id) => update(setting(id))))).toEqual([undefined, undefined]);
    expect(await rows.countDocuments({ n: 1 })).toBe(1);
  });

  it("fails only the update that fails", async () => {
    const { rows, update } = await updating();
    await rows.createIndex({ n: 1 }, { unique: true, sparse: true });
    const outcomes = await Promise.allSettled(["a", "b"].map((id) => update(setting(id))));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});
