import { randomUUID } from "node:crypto";
import type { Connection, Model } from "mongoose";
import { Schema } from "mongoose";
import { connectMongo, isDatabaseUnavailable, isDuplicateKey, unary } from "../../src";
import { startJsonService } from "../support/json-service";
import { startRelay, type Relay } from "../../../../test-support/relay";

interface Note {
  _id: string;
  text: string;
}
const schema = new Schema<Note>({ _id: String, text: String });
const database = `test_${randomUUID().slice(0, 8)}_platform`;
const UNAVAILABLE = { kind: "unavailable", reason: "SERVICE_UNAVAILABLE", message: "the database is away" };

let relay: Relay;
let connection: Connection;
let notes: Model<Note>;
beforeAll(async () => {
  relay = await startRelay(process.env.MONGODB_URI!);
  connection = await connectMongo({ uri: relay.url, database });
  notes = connection.model<Note>("note", schema);
});
afterAll(async () => {
  await relay.mend();
  await connection.dropDatabase();
  await connection.close();
  await relay.stop();
});

const failureOf = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => {
      throw new Error("it succeeded");
    },
    (error: unknown) => error,
  );

/** True if the database answers. */
const answers = async (): Promise<boolean> =>
  notes.findById("x").then(
    () => true,
    () => false,
  );

describe("a database connection", () => {
  it("writes and reads its own database", async () => {
    await notes.create({ _id: "a", text: "one" });
    expect(await notes.findById("a").lean()).toMatchObject({ text: "one" });
    expect(connection.name).toBe(database);
  });

  it("distinguishes a violated unique index from other errors", async () => {
    await notes.create({ _id: "b", text: "one" });
    expect(isDuplicateKey(await failureOf(notes.create({ _id: "b", text: "two" })))).toBe(true);
    expect(isDuplicateKey(await failureOf(notes.collection.updateOne({}, { $nonsense: 1 })))).toBe(false);
    for (const other of [undefined, null, "11000", new Error("E11000"), { code: "11000" }]) expect(isDuplicateKey(other)).toBe(false);
  });

  it("reads and writes at the primary, whatever the address says", async () => {
    const uri = `${relay.url}/?readPreference=secondary&readConcernLevel=available&w=1&retryWrites=false&retryReads=false`;
    const other = await connectMongo({ uri, database });
    const { readPreference, readConcern, writeConcern, retryReads, retryWrites } = other.getClient().options;
    await other.close();
    expect([readPreference.mode, readConcern.level, writeConcern?.w]).toEqual(["primary", "local", "majority"]);
    expect([retryReads, retryWrites]).toEqual([true, true]);
  });

  it.each([91, 189, 10_107, 11_600, 11_602, 13_435, 13_436])("is unavailable while a member of its replica set answers %d", (code) => {
    expect(isDatabaseUnavailable(Object.assign(new Error("not primary"), { name: "MongoServerError", code }))).toBe(true);
  });

  it("is SERVICE_UNAVAILABLE to callers while the server is unavailable, and then serves them again", async () => {
    const service = await startJsonService({ unary: unary(async () => (await notes.findById("a").lean())?.text) });
    expect(await service.client.unary({})).toBe("one");
    await relay.cut();
    // First while the driver detects the failure, and then after it has.
    for (let time = 0; time < 2; time += 1)
      await expect(service.client.unary({}, { deadlineMs: 60_000 })).rejects.toMatchObject(UNAVAILABLE);
    await relay.mend();
    while (!(await answers()));
    expect(await service.client.unary({})).toBe("one");
    await service.stop();
  });

  it("is also unavailable for writes", async () => {
    await relay.cut();
    const errors = await Promise.all([
      failureOf(notes.create({ _id: "c", text: "three" })),
      failureOf(notes.updateOne({ _id: "a" }, { text: "two" })),
      failureOf(notes.bulkWrite([{ insertOne: { document: { _id: "d", text: "four" } } }])),
      failureOf(notes.aggregate([{ $match: {} }])),
    ]);
    for (const error of errors) expect([isDatabaseUnavailable(error), (error as Error).name]).toEqual([true, expect.anything()]);
    await relay.mend();
    while (!(await answers()));
  });

  it("can't be opened while the server is unavailable, and reports that after its deadline", async () => {
    const nobody = await startRelay(process.env.MONGODB_URI!);
    await nobody.cut();
    expect(isDatabaseUnavailable(await failureOf(connectMongo({ uri: nobody.url, database, patienceMs: 0 })))).toBe(true);
  });
});

it("an error unrelated to the connection isn't reported as unavailability", () => {
  for (const error of [
    undefined,
    null,
    "MongoNetworkError",
    new Error("x"),
    Object.assign(new Error("dup"), { code: 11_000 }),
    new TypeError("x"),
  ])
    expect(isDatabaseUnavailable(error)).toBe(false);
});
