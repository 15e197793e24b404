import { randomUUID } from "node:crypto";
import type { Connection } from "mongoose";
import type { Stores } from "../../src/record/stores";
import type { ExecutionView } from "../../src/run/record";
import { newRecord, openStore } from "../support";
import { createErasedRuns, long, type StoredFile } from "../support/erased-runs";

const OWN = "https://platform.test/media/";
let stores: Stores;
let connection: Connection;
let stop: () => Promise<void>;
let createServices: ReturnType<typeof createErasedRuns>["createServices"];
let countOf: ReturnType<typeof createErasedRuns>["countOf"];
let insertRun: ReturnType<typeof createErasedRuns>["insertRun"];
let relayed: ReturnType<typeof createErasedRuns>["relayed"];
beforeAll(async () => {
  ({ stores, connection, stop } = await openStore());
  ({ createServices, countOf, insertRun, relayed } = createErasedRuns({ stores, connection }));
});
afterAll(() => stop());

it("leaves only the id, the owner and the time of a deleted run, and all of a similar run", async () => {
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
  // Another process finds the row's pending work.
  await relayed(services, run._id);
  expect(await countOf(word)).toEqual({});
  expect(services.files).toEqual([]);
  expect(new Set(services.erased)).toEqual(new Set(["temporal", "notifications", "usage", "media"]));
});

it("removes the files of a run, except kept ones and those that another run names", async () => {
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
  // If the last run that names a file is deleted, the file of the erased run is deleted too.
  await services.remove(user._id, userId, {});
  await relayed(services, user._id);
  expect(keys()).toEqual(["kept.png", "rerun.png"]);
  expect(await stores.rows.findOwned(rerun._id, userId)).not.toBeNull();
});

it("keeps a graph that another run uses", async () => {
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

it("deletes no run that is in progress, belongs to another user, or lacks the key's metadata", async () => {
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
