import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, stat, truncate } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { defaultCacheDir } from "../servers/programs/cache.mjs";
import { startMongodb } from "../servers/mongodb.mjs";

/* Checks documents and their unique keys after a restart of the server that tests run on. */

const { MongoClient, Decimal128, Long, MaxKey, MinKey, ObjectId, UUID } = createRequire(import.meta.url)("mongodb");
const { MONGODB_URI: _mongo, ...env } = process.env;
const cacheDir = defaultCacheDir(process.env);
const DUPLICATE_KEY = 11_000;
const WRITERS = 4;
/** More than a megabyte. */
const LONG = 1_200_000;
/** Minimum writes per client before the server is killed. */
const LEAST_WRITES = 12;
/** Every journal except the first follows a commit, so the store already has some of the writes. */
const LEAST_JOURNAL = 2;
const LOOK_MS = 20;
/** Long enough for a write to happen while a document is sent. In one test, five of 360 answers mixed two writes. */
const PADDING = 250;
const READS = 40;

/** @type {string} */
let root;
before(async () => {
  root = await mkdtemp(join(tmpdir(), "nodeloom-documents-"));
});
after(() => rm(root, { recursive: true, force: true }));

/** @template T @param {string} dataDir @param {(collection: any) => Promise<T>} work */
const onServer = async (dataDir, work) => {
  const server = await startMongodb({ dataDir, cacheDir, env });
  const client = await MongoClient.connect(server.uri, { promoteLongs: false });
  try {
    return await work(client.db("kept").collection("things"));
  } finally {
    await client.close();
    await server.stop();
  }
};

/** @param {Promise<unknown>} write */
const isRefused = (write) => assert.rejects(write, { code: DUPLICATE_KEY });

test("a document is unchanged after a restart of the server, whatever it contains", async () => {
  const dataDir = join(root, "kinds");
  const document = {
    _id: "all",
    ...{ text: "Ünïcode \u0000 and all", empty: "", yes: true, no: false, nothing: null, at: new Date(1_234_567_890_123) },
    ...{ int: 7, negative: -1, fraction: 0.1, large: 1e300, long: Long.fromString("9007199254740993"), decimal: new Decimal128("1.10") },
    ...{
      id: new ObjectId(),
      uuid: new UUID(),
      bytes: Buffer.from([0, 1, 255]),
      pattern: /^a.*b$/i,
      least: new MinKey(),
      most: new MaxKey(),
    },
    ...{ list: [1, "two", null, [], [[3]], {}], inner: { b: { "with.dot": 1 }, a: {} } },
  };
  const big = { _id: "big", text: "x".repeat(1_000_000) };
  const read = () => onServer(dataDir, (all) => all.find().sort({ _id: 1 }).toArray());
  const before = await onServer(dataDir, async (all) => {
    await all.insertMany([document, big]);
    return all.find().sort({ _id: 1 }).toArray();
  });
  assert.equal(before[0].text, document.text);
  assert.deepEqual(Object.keys(before[0]), Object.keys(document));
  assert.deepEqual(await read(), before);
});

test("a unique key stays unique after a restart of the server, with ids of every kind", async () => {
  const dataDir = join(root, "keys");
  const ids = ["a", 1, new ObjectId("0123456789abcdef01234567"), { n: 1 }, new Date(5), true];
  await onServer(dataDir, async (all) => {
    await all.createIndex({ sequence: 1 }, { unique: true });
    await all.insertMany(ids.map((_id, sequence) => ({ _id, sequence })));
  });
  await onServer(dataDir, async (all) => {
    for (const [sequence, _id] of ids.entries()) {
      await isRefused(all.insertOne({ _id, sequence: 100 }));
      await isRefused(all.insertOne({ _id: `new ${sequence}`, sequence }));
      assert.equal((await all.findOne({ _id }))?.sequence, sequence);
    }
    assert.equal((await all.findOne({ _id: Long.fromNumber(1) }))?.sequence, 1);
    await isRefused(all.updateOne({ _id: "a" }, { $set: { sequence: 1 } }));
    await all.deleteOne({ _id: 1 });
    await all.insertOne({ _id: 1, sequence: 1 });
    assert.equal(await all.countDocuments({ _id: { $in: ids.slice(0, 3) } }), 3);
  });
});

/**
 * Lets several clients write until the server is killed.
 * @param {string} dataDir
 * @param {(collection: any, number: number) => Promise<void>} write called repeatedly, in order for each client
 */
const untilKilled = async (dataDir, write) => {
  const server = await startMongodb({ dataDir, cacheDir, env });
  const client = await MongoClient.connect(server.uri, { serverSelectionTimeoutMS: 500, retryWrites: false });
  const collection = client.db("kept").collection("things");
  await collection.createIndex({ n: 1 }, { unique: true });
  /** @type {Map<number, number>} */
  const lastNumbers = new Map();
  let isOver = false;
  const writer = async (/** @type {number} */ id) => {
    for (let number = 0; !isOver; number += 1) {
      await write(collection, number * WRITERS + id);
      lastNumbers.set(id, number);
    }
  };
  /** @type {unknown} */
  let failure;
  const writers = Array.from({ length: WRITERS }, (_, id) => writer(id).catch((error) => (failure ??= error)));
  const journals = async () =>
    (await readdir(join(dataDir, "mongodb-embedded"))).map((name) => Number(/\.journal\.(\d+)$/.exec(name)?.[1] ?? 0));
  const isEnough = async () =>
    lastNumbers.size === WRITERS && Math.min(...lastNumbers.values()) >= LEAST_WRITES && Math.max(...(await journals())) >= LEAST_JOURNAL;
  while (!(await isEnough())) {
    // Before the kill no write may fail.
    if (failure !== undefined) throw failure;
    await delay(LOOK_MS);
  }
  process.kill(/** @type {number} */ (server.pid), "SIGKILL");
  await server.exited;
  isOver = true;
  await Promise.all(writers);
  await client.close();
  return [...lastNumbers].map(([id, number]) => ({ id, number }));
};

/** Ids of every type, and sometimes a long document. @param {number} n */
const documentOf = (n) => ({
  _id: [`${n}`, ObjectId.createFromTime(n), { n }, new UUID(n.toString(16).padStart(32, "0"))][n % 4],
  n,
  text: "x".repeat(n % 40 === 0 ? LONG : 1),
});

test("acknowledged inserts, changes and removals survive a kill of the server", async () => {
  const dataDir = join(root, "killed");
  const writes = await untilKilled(dataDir, async (all, n) => {
    const { _id } = documentOf(n);
    await all.insertOne(documentOf(n));
    await all.updateOne({ _id }, { $set: { changed: true }, $push: { list: n } });
    await all.insertOne({ _id: `gone ${n}`, n: -1 - n });
    await all.deleteOne({ _id: `gone ${n}` });
  });
  assert.ok(writes.every(({ number }) => number > 10));
  await onServer(dataDir, async (all) => {
    for (const { id, number } of writes) {
      const numbers = Array.from({ length: number + 1 }, (_, index) => index * WRITERS + id);
      const documents = await all
        .find({ n: { $in: numbers } })
        .sort({ n: 1 })
        .toArray();
      assert.deepEqual(
        documents,
        numbers.map((n) => ({ ...documentOf(n), changed: true, list: [n] })),
      );
      assert.equal(await all.countDocuments({ n: { $in: numbers.map((n) => -1 - n) } }), 0);
      await isRefused(all.insertOne({ _id: "again", n: numbers[0] }));
    }
  });
});

test("a server that stops normally leaves an empty journal", async () => {
  const dataDir = join(root, "stopped");
  await onServer(dataDir, (all) => all.insertOne({ _id: "a" }));
  assert.deepEqual(await readdir(join(dataDir, "mongodb-embedded")), ["documents.h2"]);
});

test("a dropped collection stays dropped after a kill of the server, and keeps its later documents", async () => {
  const dataDir = join(root, "dropped");
  const writes = await untilKilled(dataDir, async (all, n) => {
    if (n % WRITERS !== 0) return void (await delay(10));
    await all.insertOne({ _id: `old ${n}`, n });
    await all.drop();
    await all.insertOne({ _id: `new ${n}`, n });
  });
  const last = WRITERS * (writes.find(({ id }) => id === 0)?.number ?? 0);
  assert.ok(last > 0);
  await onServer(dataDir, async (all) => {
    const ids = /** @type {string[]} */ (await all.distinct("_id"));
    // The write in progress can have reached any step.
    assert.ok(ids.every((id) => [`new ${last}`, `old ${last + WRITERS}`, `new ${last + WRITERS}`].includes(id)));
    assert.ok(ids.includes(`new ${last}`) || !ids.includes(`old ${last + WRITERS}`));
  });
});

test("a journal whose last entry is incomplete keeps the entries before it", async () => {
  const dataDir = join(root, "torn");
  const writes = await untilKilled(dataDir, (all, n) => all.insertOne({ _id: `${n}`, n }));
  const folder = join(dataDir, "mongodb-embedded");
  const journals = await Promise.all(
    (await readdir(folder))
      .filter((name) => name.includes(".journal."))
      .map(async (name) => ({ path: join(folder, name), size: (await stat(join(folder, name))).size })),
  );
  const { path, size } =
    journals
      .filter(({ size }) => size > 0)
      .sort((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }))
      .at(-1) ?? assert.fail("no journal");
  await truncate(path, size - 1);
  const writeCount = writes.reduce((sum, { number }) => sum + number + 1, 0);
  await onServer(dataDir, async (all) => assert.ok((await all.countDocuments()) >= writeCount - 1));
});

test("a collection requested by many clients at once is created once, and keeps their writes", async () => {
  const NAMESPACE_EXISTS = 48;
  const AT_ONCE = 10;
  const server = await startMongodb({ dataDir: join(root, "made"), cacheDir, env });
  const client = await MongoClient.connect(server.uri);
  try {
    for (let round = 0; round < AT_ONCE; round += 1) {
      const db = client.db(`made${round}`);
      const requests = Array.from({ length: AT_ONCE }, (_, n) => [
        db.createCollection("things").catch((/** @type {{ code: number }} */ { code }) => code),
        db.collection("things").insertOne({ _id: n, n }),
        db.collection("things").createIndex({ n: 1 }, { unique: true }),
      ]);
      const answers = await Promise.all(requests.flat());
      assert.ok(answers.filter((answer) => typeof answer === "number").every((code) => code === NAMESPACE_EXISTS));
      assert.equal(await db.collection("things").countDocuments(), AT_ONCE);
      assert.equal((await db.collection("things").indexes()).length, 2);
      await isRefused(db.collection("things").insertOne({ _id: "other", n: 0 }));
    }
  } finally {
    await client.close();
    await server.stop();
  }
});

test("a read returns a document between two writes, never a mix of both", async () => {
  await onServer(join(root, "torn"), async (things) => {
    const padding = Array.from({ length: PADDING }, (_, at) => ({ at, text: "x".repeat(PADDING) }));
    await things.insertOne({ _id: 1, first: 0, padding, last: 0 });
    let isOver = false;
    const writer = (async () => {
      for (let at = 1; !isOver; at += 1) await things.updateOne({ _id: 1 }, { $set: { first: at, last: at } });
    })();
    const isWhole = (/** @type {{ first: number, last: number }} */ { first, last }) => assert.equal(first, last);
    const reader = async () => {
      for (let reads = 0; reads < READS; reads += 1) {
        isWhole(await things.findOne({ _id: 1 }));
        isWhole(await things.findOneAndUpdate({ _id: 1 }, { $inc: { reads: 1 } }, { returnDocument: "after" }));
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, reader)).finally(() => {
      isOver = true;
    });
    await writer;
  });
});
