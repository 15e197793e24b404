import { randomUUID } from "node:crypto";
import { connectMongo, createLogger, makeCollections } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { createMovedTriggers, type MovedTriggers } from "../../executions/src/record/earlier/moved-triggers";
import { createArrivals, type Arrivals } from "../src/arrivals-store";
import { database } from "../src/database";
import { createHookStore, type HookStore } from "../src/hooks/hook-store";
import { createScheduleStore, type ScheduleStore } from "../src/schedules/schedule-store";

const prefix = `test_${randomUUID().slice(0, 8)}_`;
const uri = process.env.MONGODB_URI!;
let [old, own]: Connection[] = [];
let moved: MovedTriggers;
let schedules: ScheduleStore;
let hooks: HookStore;

beforeAll(async () => {
  [old, own] = [await connectMongo({ uri, database: `${prefix}executions` }), await connectMongo({ uri, database: `${prefix}triggers` })];
  moved = createMovedTriggers(old!);
  [schedules, hooks] = [createScheduleStore(own!), createHookStore(own!)];
  await Promise.all([makeCollections(old!), makeCollections(own!)]);
});
afterAll(async () => {
  for (const connection of [old!, own!]) {
    await connection.dropDatabase();
    await connection.close();
  }
});

/**
 * One process of triggers.
 * @param fails true for calls to executions whose answer is lost after they take effect
 */
const arrivals = (fails: () => boolean = () => false): Arrivals =>
  createArrivals(own!, {
    findUnmoved: (which: never) => moved.find(which),
    moveTrigger: async ({ collection, id, moveId }: { collection: string; id: string; moveId: string }) => {
      const document = await moved.move(collection, id, moveId);
      if (fails()) throw new Error("the answer was lost");
      return { document };
    },
  } as never);

const scheduleOf = (userId: string, slot: number) => ({
  ...{ _id: randomUUID(), userId, slot, workflowSlug: "flow", keyId: null, cron: "@daily", timezone: "UTC", inputsJson: "{}" },
  ...{ maxMillicredits: null, paused: false, stopped: null, revision: 3, timedAt: new Date(5), unpaid: 0, lastExecutionId: null },
  ...{ history: [], createdAt: new Date(1), updatedAt: new Date(2) },
});
const store = async (collection: "schedules" | "hooks", ...rows: { _id: string }[]): Promise<void> =>
  void (await old!.collection<{ _id: string }>(collection).insertMany(rows));

it("finds a schedule of 1.0.0 by its id and a hook by its address, unchanged", async () => {
  const schedule = scheduleOf("u1", 0);
  const hook = { _id: randomUUID(), userId: "u1", slot: 0, workflowSlug: "flow", secretHash: "hash", createdAt: new Date(3) };
  await store("schedules", schedule);
  await store("hooks", hook);
  const { find } = arrivals();
  expect(await find({ id: schedule._id }, () => schedules.find(schedule._id))).toEqual(schedule);
  expect(await find({ secretHash: "hash" }, () => hooks.findByHash("hash"))).toEqual(hook);
  expect(await find({ secretHash: "unknown" }, () => hooks.findByHash("unknown"))).toBeNull();
});

it("moves each row of an account once, however many processes request it at once, even if responses are lost", async () => {
  const rows = Array.from({ length: 12 }, (_, slot) => scheduleOf("u2", slot));
  await store("schedules", ...rows);
  for (let round = 0; (await schedules.list("u2", undefined)).length < rows.length; round += 1) {
    expect(round).toBeLessThan(100);
    await Promise.allSettled([1, 2, 3].map(() => arrivals(() => Math.random() < 0.3).ofOwner("u2")));
  }
  await arrivals().ofOwner("u2");
  expect((await schedules.list("u2", undefined)).sort((a, b) => a.slot - b.slot)).toEqual(rows);
});

it("never restores a row that was removed after it had moved", async () => {
  const row = scheduleOf("u3", 0);
  await store("schedules", row);
  // The answer is lost: triggers is the owner, but hasn't stored anything yet.
  await expect(arrivals(() => true).ofOwner("u3")).rejects.toThrow("lost");
  expect(await schedules.find(row._id)).toBeNull();
  await arrivals().ofOwner("u3");
  expect(await schedules.remove("u3", "flow", row._id)).not.toBeNull();
  await Promise.all([arrivals().ofOwner("u3"), arrivals().ofOwner("u3")]);
  expect(await schedules.list("u3", undefined)).toEqual([]);
  expect(await own!.collection<{ _id: string }>("schedules").findOne({ _id: row._id })).toBeNull();
});

it("keeps a row whose id is already taken here", async () => {
  const [before, here] = [scheduleOf("u4", 0), scheduleOf("u4", 0)];
  await store("schedules", before);
  await schedules.insert(here);
  await arrivals().ofOwner("u4");
  expect((await schedules.list("u4", undefined)).map(({ _id }) => _id).sort()).toEqual([before._id, here._id].sort());
});

it("is filled by migrate from its second run on, by id, and resumes after an interruption", async () => {
  const env = { MONGODB_URI: uri, MONGODB_DATABASE_PREFIX: prefix, TEMPORAL_ADDRESS: process.env.TEMPORAL_ADDRESS! };
  const queue = { TEMPORAL_TASK_QUEUE: `fill-${prefix.slice(5, 13)}` };
  const rows = Array.from({ length: 5 }, (_, slot) => scheduleOf("u5", slot));
  await store("schedules", ...rows);
  await database.migrate({ ...env, ...queue }, createLogger("test", "silent"));
  expect(await schedules.list("u5", undefined)).toEqual([]);
  await database.migrate({ ...env, ...queue }, createLogger("test", "silent"));
  await database.migrate({ ...env, ...queue }, createLogger("test", "silent"));
  expect((await schedules.list("u5", undefined)).map(({ slot }) => slot).sort()).toEqual([0, 1, 2, 3, 4]);
});
