import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { defaultCacheDir } from "../servers/programs/cache.mjs";
import { startMongodb } from "../servers/mongodb.mjs";

/*
 * The server that tests run on must give the same answers with and without indexes. Two collections get the same documents and changes. One
 * has the indexes that services declare, and both get the same queries.
 */

const { MongoClient } = createRequire(import.meta.url)("mongodb");
const { MONGODB_URI: _mongo, ...env } = process.env;
const cacheDir = defaultCacheDir(process.env);

const INDEXES = [
  { key: { user: 1, n: -1 } },
  { key: { user: 1, status: 1, n: -1 } },
  { key: { user: 1, tags: 1, at: -1, _id: -1 } },
  { key: { user: 1, at: -1, _id: -1 } },
  { key: { at: -1, _id: -1 } },
  { key: { status: 1, at: 1 } },
  { key: { owes: 1, at: -1, _id: -1 }, partialFilterExpression: { owes: true } },
  { key: { "hook.state": 1, at: 1 } },
];
const UNIQUE = { key: { user: 1, sequence: -1 }, unique: true };

/** Deterministic whole numbers below a bound. */
const createRandom = () => {
  let state = 9;
  /** @param {number} bound */
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
};
const random = createRandom();

/** @template T @param {readonly T[]} values @returns {T} */
const pick = (values) => /** @type {T} */ (values[random(values.length)]);

const ODD = [null, undefined, "a", 1, true, new Date(5), { x: 1 }, { x: 2 }];
let sequence = 0;

/** @param {number} n @param {boolean} isOdd adds values that no service writes */
const documentOf = (n, isOdd) => {
  /** @param {unknown} usual */
  const orOdd = (usual) => (isOdd && random(8) === 0 ? pick(ODD) : usual);
  return {
    _id: `${n}`.padStart(4, "0"),
    user: orOdd(pick(["u1", "u1", "u1", "u2", "u3"])),
    n: orOdd(random(40)),
    status: random(20) === 0 ? ["running", "failed"] : pick(["running", "completed", "failed"]),
    tags: pick([[], ["a"], ["a", "b"], ["b", "c"], ["a", "c"], undefined]),
    at: orOdd(new Date(1_000 + random(60))),
    owes: pick([undefined, undefined, true]),
    hook: pick([undefined, null, { state: "pending" }, { state: "done" }, ...(isOdd ? [[{ state: "pending" }], "none"] : [])]),
    sequence: sequence++,
    z: random(5),
  };
};

/** @param {unknown} value */
const comparison = (value) => pick([{ $lt: value }, { $lte: value }, { $gt: value }, { $gte: value }, { $gt: value, $lt: value }, value]);

/** Filter of a list that continues after a document. */
const behind = () => {
  const [at, _id] = [new Date(1_000 + random(60)), `${random(400)}`.padStart(4, "0")];
  const operator = pick(["$lt", "$gt"]);
  return { $or: [{ at: { [operator]: at } }, { at, _id: { [operator]: _id } }] };
};

/** @type {(() => object)[]} */
const CONDITIONS = [
  () => ({ user: pick(["u1", "u2", "nobody", { $in: ["u1", "u2"] }, { $eq: "u1" }, { $ne: "u1" }, null]) }),
  () => ({ status: pick(["running", { $in: ["running", "failed"] }, { $ne: "failed" }]) }),
  () => ({ tags: pick(["a", { $all: ["a", "b"] }, { $in: ["a", "c"] }, { $gt: "a", $lt: "c" }, ["a"]]) }),
  () => ({ owes: pick([true, { $ne: true }, null]) }),
  () => ({ "hook.state": pick(["pending", null, { $in: ["done", "pending"] }]) }),
  () => ({ z: random(5) }),
  () => ({ n: comparison(random(40)) }),
  () => ({ sequence: comparison(random(sequence)) }),
  behind,
  () => ({
    $or: [
      { user: "u1", sequence: comparison(random(sequence)) },
      { user: "u2", n: random(40) },
    ],
  }),
  () => ({ $or: [{ n: comparison(random(40)) }, { n: comparison(random(40)) }] }),
  () => ({ $and: [{ at: comparison(new Date(1_000 + random(60))) }, { n: comparison(random(40)) }] }),
];

const SORTS = [
  undefined,
  ...[1, -1].flatMap((way) => [
    { n: way, _id: -way },
    { n: way, _id: way },
    { at: way, _id: way },
    { at: way, _id: -way },
    { sequence: way, _id: 1 },
    { user: way, n: -way, _id: 1 },
    { status: way, at: way, _id: way },
  ]),
];

/** Queries that return wrong results if an index misses one type of value. */
const ALWAYS = [
  // Sorts by a field without values.
  { filter: {}, sort: { at: 1, _id: 1 }, limit: 50, skip: 0 },
  { filter: {}, sort: { at: -1, _id: -1 }, limit: 0, skip: 30 },
  // Sorts by a field with values that have no order.
  { filter: { user: "u2" }, sort: { n: -1, _id: 1 }, limit: 100, skip: 0 },
  { filter: { user: "u2" }, sort: undefined, limit: 0, skip: 0 },
  // Sorts by a field with lists of values.
  { filter: { user: "u1" }, sort: { status: 1, n: -1, _id: 1 }, limit: 150, skip: 0 },
  { filter: { user: "u2", tags: { $gt: "a", $lt: "c" } }, sort: undefined, limit: 0, skip: 0 },
];

const ask = () => ({
  filter: Object.assign(random(2) ? { user: "u1" } : {}, ...Array.from({ length: random(3) }, () => pick(CONDITIONS)())),
  sort: pick(SORTS),
  limit: pick([0, 1, 20, 50, 50, 50]),
  skip: pick([0, 0, 3, 30]),
});

/** @type {((collection: import("mongodb").Collection<{ _id: string }>, given: ReturnType<typeof documentOf>) => Promise<unknown>)[]} */
const CHANGES = [
  (all, { _id, user: _user, sequence: _sequence, ...rest }) => all.updateOne({ _id }, { $set: rest }),
  (all, { _id }) => all.updateOne({ _id }, { $unset: { n: 1, tags: 1, owes: 1, at: 1 } }),
  (all, { _id }) => all.updateOne({ _id, user: "u1" }, { $set: { status: "failed" }, $push: { tags: "c" } }),
  (all, { z, at }) => all.updateMany({ user: "u2", n: { $lt: 9 }, z }, { $set: { at } }),
  (all, { z }) => all.deleteMany({ status: "running", n: z }),
  (all) => all.findOneAndDelete({ user: "u1" }, { sort: { sequence: -1 } }),
  (all, replacement) => all.replaceOne({ _id: replacement._id }, replacement, { upsert: true }),
];

/** @type {string} */
let dataDir;
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nodeloom-indexes-"));
});
after(() => rm(dataDir, { recursive: true, force: true }));

test("lists are the same with and without an index, for all values, and after a restart of the server", async () => {
  let server = await startMongodb({ dataDir, cacheDir, env });
  let client = await MongoClient.connect(server.uri, { ignoreUndefined: true });
  /** @param {boolean} isOdd @param {string} name */
  const collection = (isOdd, name) => client.db(isOdd ? "odd" : "usual").collection(name);
  /** @template T @param {boolean} isOdd @param {(all: any) => Promise<T>} action */
  const both = (isOdd, action) => Promise.all(["indexed", "plain"].map((name) => action(collection(isOdd, name))));
  /** @param {boolean} isOdd */
  const compare = async (isOdd) => {
    let foundCount = 0;
    for (let i = 0; i < 50; i++) {
      const { filter, sort, limit, skip } = ALWAYS[i] ?? ask();
      const order = sort ? { sort, limit, skip } : {};
      const answers = await both(isOdd, (all) => all.find(filter, order).toArray());
      if (!sort)
        for (const documents of answers)
          documents.sort((/** @type {any} */ one, /** @type {any} */ other) => (one._id < other._id ? -1 : 1));
      assert.deepEqual(answers[0], answers[1], JSON.stringify({ filter, sort, limit, skip }));
      foundCount += answers[0].length;
      if (i % 4 > 0) continue;
      const counts = await both(isOdd, (all) => all.countDocuments(filter));
      assert.equal(counts[0], counts[1], JSON.stringify(filter));
    }
    assert.ok(foundCount > 500, `only ${foundCount} documents were found in all`);
  };
  for (const isOdd of [false, true]) {
    const documents = Array.from({ length: 400 }, (_, n) => documentOf(n, isOdd));
    // Inserts half of the documents before the indexes exist.
    await both(isOdd, (all) => all.insertMany(documents.slice(0, 200)));
    await collection(isOdd, "indexed").createIndexes([...INDEXES, UNIQUE]);
    await collection(isOdd, "plain").createIndexes([{ key: { sequence: 1 }, unique: true }]);
    await both(isOdd, (all) => all.insertMany(documents.slice(200)));
    await compare(isOdd);
    for (let i = 0; i < 140; i++) {
      const change = /** @type {(typeof CHANGES)[number]} */ (CHANGES[i % CHANGES.length]);
      const replacement = documentOf(random(400), isOdd);
      await both(isOdd, (all) => change(all, replacement));
    }
    await compare(isOdd);
  }
  await client.close();
  await server.stop();
  server = await startMongodb({ dataDir, cacheDir, env });
  client = await MongoClient.connect(server.uri);
  for (const isOdd of [false, true]) await compare(isOdd);
  await client.close();
  await server.stop();
});
