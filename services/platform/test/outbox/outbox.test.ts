import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type { Connection } from "mongoose";
import { connectMongo, createLease, createLogger, createLook, createOutbox, startRelay } from "../../src";
import { eventually } from "../../../../test-support/eventually";

/** Uses a real database. Rows have pending entries, and processes that die or lose answers deliver them. */

const logger = createLogger("test", "silent");

interface Row {
  _id: string;
  owed: string[];
}

let connection: Connection;
beforeAll(async () => {
  connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `test_${randomUUID().slice(0, 8)}_outbox` });
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

/** A process that can lose its calls to receivers and to the database, and that does nothing after it dies. */
const createProcess = (collection: string, received: Map<string, number>, chances: readonly number[], diesAt = Infinity) => {
  const rows = connection.collection<Row>(collection);
  let count = 0;
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    const mine = count++;
    if (mine >= diesAt) return new Promise<never>(() => undefined);
    const chance = chances[mine % chances.length]!;
    if (chance === 0) throw new Error("lost before it was done");
    const result = await work();
    if (chance === 1) throw new Error("done, and lost");
    return result;
  };
  const outbox = createOutbox<Row, string>({
    entriesOf: ({ owed }) => owed,
    idOf: ({ _id }, entry) => `${_id}:${entry}`,
    send: (_row, _entry, id) => step(async () => void received.set(id, (received.get(id) ?? 0) + 1)),
    clear: (row, sentEntries) =>
      step(async () => void (await rows.updateOne({ _id: row._id }, { $pull: { owed: { $in: [...sentEntries] } } }))),
    logger,
  });
  let time = 0;
  const look = createLook<Row>(
    {
      name: "rows",
      page: (limit, after) =>
        rows.find({ "owed.0": { $exists: true }, _id: { $gt: after?._id ?? "" } }, { sort: { _id: 1 }, limit }).toArray(),
      signatureOf: (row) => JSON.stringify(row),
      settle: async ([row]) => outbox.deliver(row!),
    },
    // Time passes between passes, so that pauses end.
    { logger, pageSize: 3, now: () => (time += 1_000_000) },
  );
  const change = async (row: Row): Promise<void> => {
    await step(async () => void (await rows.insertOne(row as never))).catch(() => undefined);
    if (count <= diesAt) await outbox.deliverLater(row);
  };
  return { change, look };
};

it("delivers every entry of two processes that die and lose answers, under one id, and clears it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uniqueArray(fc.constantFrom("usage", "place", "webhook"), { minLength: 1 }), { minLength: 1, maxLength: 12 }),
      fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 20, maxLength: 20 }),
      fc.integer({ min: 0, max: 30 }),
      async (entriesOfRows, chances, diesAt) => {
        const name = `rows-${randomUUID()}`;
        const received = new Map<string, number>();
        const [one, other] = [createProcess(name, received, chances, diesAt), createProcess(name, received, [...chances].reverse())];
        const all = entriesOfRows.map((entries, index): Row => ({ _id: String(index).padStart(3, "0"), owed: entries }));
        const moment = new Promise((resolve) => setTimeout(resolve, 20));
        await Promise.race([moment, Promise.all(all.map((row, index) => (index % 2 ? one : other).change(row)))]);
        await Promise.race([moment, Promise.all([one.look(), other.look()].map((looked) => looked.catch(() => undefined)))]);
        const survivor = createProcess(name, received, [6]);
        // Other processes can still work on the rows. A row that they change needs one more pass.
        for (let looks = 0; looks < 9; looks += 1) await survivor.look();
        const rows = await connection.collection<Row>(name).find().toArray();
        expect(rows.flatMap((row) => row.owed)).toEqual([]);
        // A row whose insert was lost has no entries.
        for (const { _id } of rows) for (const entry of all[Number(_id)]!.owed) expect(received.get(`${_id}:${entry}`)).toBeGreaterThan(0);
        expect(survivor.look.measure()).toEqual({ entries: 0, since: undefined });
      },
    ),
    { numRuns: 30 },
  );
});

/** A pass over rows in memory with the test's clock. */
const lookOver = (rows: { id: string; group?: string }[], settle: (ids: string[]) => boolean | Promise<boolean>) => {
  const clock = { now: 0 };
  const look = createLook<{ id: string; group?: string }>(
    {
      name: "rows",
      page: async (limit, after) => rows.filter(({ id }) => id > (after?.id ?? "")).slice(0, limit),
      signatureOf: ({ id }) => id,
      groupOf: ({ id, group }) => group ?? id,
      settle: async (some) => settle(some.map(({ id }) => id)),
    },
    { logger, pageSize: 2, now: () => clock.now },
  );
  return { look, clock };
};

it("leaves rows alone until they have been unchanged for ten seconds", async () => {
  const settled: string[] = [];
  const { look, clock } = lookOver([{ id: "a" }, { id: "b" }, { id: "c" }], (ids) => settled.push(...ids) > 0);
  await look();
  clock.now = 9_999;
  await look();
  expect(settled).toEqual([]);
  expect(look.measure()).toEqual({ entries: 3, since: 0 });
  clock.now = 10_000;
  await look();
  expect(settled.sort()).toEqual(["a", "b", "c"]);
});

it("retries failing rows after pauses that grow to five minutes, and delays no others", async () => {
  const tries: number[] = [];
  const { look, clock } = lookOver([{ id: "bad" }, { id: "good" }], ([id]) => {
    if (id === "bad") tries.push(clock.now);
    return id === "bad" ? Promise.reject(new TypeError("broken")) : true;
  });
  for (; clock.now < 3_600_000; clock.now += 5_000) await look();
  const pauses = tries.slice(1).map((time, index) => time - tries[index]!);
  expect(pauses[0]).toBeGreaterThanOrEqual(5_000);
  expect(pauses[0]).toBeLessThanOrEqual(15_000);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(305_000);
  expect(Math.min(...pauses.slice(6))).toBeGreaterThanOrEqual(150_000);
});

it("settles rows at once that no other process works on", async () => {
  const settled: number[] = [];
  const rows = { name: "alerts", page: async () => [1, 2], signatureOf: String, staleMs: 0 };
  await createLook<number>({ ...rows, settle: async (some) => settled.push(...some) > 0 }, { logger })();
  expect(settled).toEqual([1, 2]);
});

it("settles rows of a group together", async () => {
  const groups: string[][] = [];
  const rows = ["a", "b"].map((id) => ({ id, group: "one" }));
  const { look, clock } = lookOver([...rows, { id: "c" }], (ids) => groups.push(ids) > 0);
  await look();
  clock.now = 10_000;
  await look();
  expect(groups).toEqual([["a", "b"], ["c"]]);
});

it("ends a pass soon after its process must stop", async () => {
  const stopping = new AbortController();
  let settled = 0;
  const { look, clock } = lookOver(
    Array.from({ length: 99 }, (_, index) => ({ id: String(index + 100) })),
    () => {
      stopping.abort();
      return (settled += 1) > 0;
    },
  );
  await look(stopping.signal);
  clock.now = 10_000;
  await expect(look(stopping.signal)).rejects.toThrow("aborted");
  expect(settled).toBeLessThan(3);
});

it("gives a lease to one process at a time, and to another once its holder is silent or stops", async () => {
  const leaseMs = 1_000;
  const of = () => createLease({ connection, name: "relay", leaseMs });
  const [one, other] = [of(), of()];
  const first = await Promise.all([one.hold(), other.hold()]);
  expect(first.filter(Boolean)).toHaveLength(1);
  const [holder, waiting] = first[0] ? [one, other] : [other, one];
  expect([await holder.hold(), await waiting.hold()]).toEqual([true, false]);
  await new Promise((resolve) => setTimeout(resolve, leaseMs + 50));
  expect([await holder.hold(), await waiting.hold()]).toEqual([true, false]);
  await new Promise((resolve) => setTimeout(resolve, leaseMs + 50));
  expect([await waiting.hold(), await holder.hold()]).toEqual([true, false]);
  await holder.release();
  expect(await holder.hold()).toBe(false);
  await waiting.release();
  expect(await holder.hold()).toBe(true);
});

it("relays each collection separately, in one process at a time, and in another as soon as that one stops", async () => {
  const settled: string[] = [];
  const relay = (process: string) =>
    startRelay(
      [
        { name: "broken", page: () => Promise.reject(new Error("can't be read")), signatureOf: String, settle: async () => true },
        {
          name: "rows",
          page: async () => [process],
          signatureOf: String,
          staleMs: 0,
          settle: async ([row]) => settled.push(String(row)) > 0,
        },
      ],
      { service: "test", connection, logger },
    );
  const one = relay("one");
  await eventually(() => settled.length > 0);
  const other = relay("other");
  await other.stop();
  expect(settled).toEqual(["one"]);
  await one.stop();
  const third = relay("third");
  await eventually(() => settled.length > 1);
  await third.stop();
  expect(settled).toEqual(["one", "third"]);
});
