import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { defaultCacheDir } from "../servers/programs/cache.mjs";
import { startMongodb } from "../servers/mongodb.mjs";

/* What the server that tests run on keeps of documents and their unique keys when it is started again. */

const { MongoClient, Decimal128, Long, MaxKey, MinKey, ObjectId, UUID } = createRequire(import.meta.url)("mongodb");
const { MONGODB_URI: _mongo, ...env } = process.env;
const cacheDir = defaultCacheDir(process.env);
const EARLIER_STORE = fileURLToPath(new URL("fixtures/earlier-store.h2.gz", import.meta.url));
const DUPLICATE_KEY = 11_000;

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

test("a document comes back as it was written, whatever is in it, after the server was started again", async () => {
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

test("a key that is unique stays so when the server was started again, ids of every kind among them", async () => {
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

test("a store of an earlier version is read, and written on", async () => {
  const dataDir = join(root, "earlier");
  await mkdir(join(dataDir, "mongodb-embedded"), { recursive: true });
  await writeFile(join(dataDir, "mongodb-embedded", "store.h2"), gunzipSync(await readFile(EARLIER_STORE)));
  await onServer(dataDir, async (all) => {
    const [a, b] = await all.find({ user: "u" }).sort({ n: 1 }).toArray();
    assert.deepEqual(a, { _id: "a", sequence: 1, user: "u", n: 1, inner: { list: [1, "two", null], at: new Date(5) } });
    assert.equal(b.bytes.toString(), "bytes");
    await isRefused(all.insertOne({ _id: "a", sequence: 3 }));
    await isRefused(all.insertOne({ _id: "c", sequence: 2 }));
    await all.updateOne({ _id: "a" }, { $set: { n: 3 } });
    await all.insertOne({ _id: "c", sequence: 3, user: "u", n: 0 });
  });
  await onServer(dataDir, async (all) => {
    const found = await all.find({ user: "u" }).sort({ n: 1 }).toArray();
    assert.deepEqual(
      found.map((/** @type {any} */ { _id }) => _id),
      ["c", "b", "a"],
    );
    await isRefused(all.insertOne({ _id: "d", sequence: 3 }));
  });
});
