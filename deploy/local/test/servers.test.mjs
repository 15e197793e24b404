import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, readlink, rm, truncate, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { identityOf } from "../run/identity.mjs";
import { defaultCacheDir } from "../servers/programs/cache.mjs";
import { startMongodb } from "../servers/mongodb.mjs";
import { answersRedisPing, servesTemporalNamespace, waitUntil } from "../servers/probe.mjs";
import { startRedis } from "../servers/redis.mjs";
import { readyMsWith } from "../servers/run-server.mjs";
import { startTemporal } from "../servers/temporal.mjs";

const { MongoClient } = createRequire(import.meta.url)("mongodb");

/** Environment of this machine without the test run's servers. */
const { MONGODB_URI: _mongo, REDIS_URL: _redis, TEMPORAL_ADDRESS: _temporal, ...env } = process.env;
const cacheDir = defaultCacheDir(process.env);
/** @type {string} */
let dataDir;
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nodeloom-servers-"));
});
after(() => rm(dataDir, { recursive: true, force: true }));

/** @param {string} address */
const portOf = (address) => Number(address.slice(address.lastIndexOf(":") + 1));

test("MongoDB keeps journaled writes when it is killed, on the same port", async () => {
  const first = await startMongodb({ dataDir, cacheDir, env });
  const client = await MongoClient.connect(first.uri);
  await client
    .db("t")
    .collection("things")
    .insertOne({ _id: "a", n: 1 }, { writeConcern: { j: true } });
  await client.close();
  process.kill(/** @type {number} */ (first.pid), "SIGKILL");
  await first.exited;
  const second = await startMongodb({ dataDir, cacheDir, env, port: portOf(first.uri) });
  assert.equal(second.uri, first.uri);
  const again = await MongoClient.connect(second.uri);
  assert.deepEqual(await again.db("t").collection("things").findOne({ _id: "a" }), { _id: "a", n: 1 });
  await again.close();
  await second.stop();
});

test("a server with more data has more time to start", async () => {
  const folder = await mkdtemp(join(dataDir, "large-"));
  const least = await readyMsWith(folder);
  await writeFile(join(folder, "documents"), "");
  await truncate(join(folder, "documents"), 1_000_000_000);
  // A hundred thousand runs, nearly a gigabyte, took 36 s on a machine with eighteen other jobs.
  assert.ok((await readyMsWith(folder)) >= least + 300_000);
});

test("MongoDB returns the same with and without an index, for all writes, and after a restart", async () => {
  const texts = ["a", "b", null, undefined, 1, ["a", "b"], [], true, false, [true, "a"]];
  const inner = [{ s: "a" }, { s: "b" }, {}, null, "a", [{ s: "a" }, { s: "b" }]];
  const queries = [
    { s: "a" },
    { s: { $in: ["a", "b"] } },
    { s: { $eq: "b" }, n: { $gte: 20 } },
    { s: null },
    { s: { $ne: "a" } },
    { s: { $in: ["a", null] } },
    { s: ["a", "b"] },
    { s: true },
    { s: { $in: [false, "b"] }, n: { $gte: 20 } },
    { s: { $ne: true } },
    { "d.s": "a" },
    { "d.s": { $in: ["b"] }, s: "a" },
  ];
  /** @type {Record<string, unknown>[]} */
  const documents = Array.from({ length: 60 }, (_, n) => ({ _id: `${n}`, n, s: texts[n % texts.length], d: inner[n % inner.length] }));
  let server = await startMongodb({ dataDir, cacheDir, env });
  let client = await MongoClient.connect(server.uri, { ignoreUndefined: true });
  /** @param {string} name */
  const collection = (name) => client.db("indexes").collection(name);
  const compare = async () => {
    for (const query of queries) {
      const [actual, expected] = await Promise.all(
        ["indexed", "plain"].map((name) => collection(name).find(query).sort({ n: 1 }).toArray()),
      );
      assert.deepEqual(actual, expected, JSON.stringify(query));
    }
  };
  // Inserts half of the documents before the indexes exist.
  for (const name of ["plain", "indexed"]) await collection(name).insertMany(documents.slice(0, 30));
  await collection("indexed").createIndexes([{ key: { s: 1, n: -1 } }, { key: { "d.s": 1 } }]);
  for (const name of ["plain", "indexed"]) {
    await collection(name).insertMany(documents.slice(30));
    await collection(name).updateMany({ n: { $mod: [4, 0] } }, { $set: { s: "a", d: { s: "b" } } });
    await collection(name).updateMany({ s: "a", n: { $gt: 40 } }, { $set: { s: "b" } });
    await collection(name).updateMany({ n: { $mod: [9, 1] } }, { $unset: { s: 1 } });
    await collection(name).deleteMany({ s: "b", n: { $lt: 20 } });
    await collection(name).replaceOne({ _id: "1" }, { n: 1, s: "b", d: { s: "a" } }, { upsert: true });
  }
  await compare();
  await client.close();
  await server.stop();
  server = await startMongodb({ dataDir, cacheDir, env });
  client = await MongoClient.connect(server.uri);
  await compare();
  await collection("indexed").drop();
  await collection("plain").drop();
  await compare();
  await client.close();
  await server.stop();
});

test("Redis starts, answers and stops", async () => {
  const server = await startRedis({ dataDir, cacheDir, env });
  const port = portOf(server.url);
  assert.equal(await answersRedisPing("127.0.0.1", port), true);
  await server.stop();
  assert.equal(await answersRedisPing("127.0.0.1", port), false);
});

test("Temporal serves its namespace and its UI under /temporal", async () => {
  const server = await startTemporal({ dataDir, cacheDir, env });
  assert.equal(await servesTemporalNamespace(server.address, "default"), true);
  assert.equal(await servesTemporalNamespace(server.address, "unknown-namespace"), false);
  assert.ok(server.uiUrl?.endsWith("/temporal"));
  assert.equal((await fetch(server.uiUrl ?? "")).status, 200);
  await server.stop();
});

/** Sends a request with a given Host header. @param {string} url @param {string} host @returns {Promise<number | undefined>} the status */
const statusUnder = async (url, host) => {
  const outgoing = httpRequest(url, { headers: { host }, agent: false }).end();
  const [answer] = await once(outgoing, "response");
  answer.resume();
  return answer.statusCode;
};

/** @param {number | null} pid @returns {Promise<string[]>} host:port of everything that a process listens on */
const listensOf = async (pid) => {
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(descriptors.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  const sockets = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]));
  const rows = (await readFile(`/proc/${pid}/net/tcp`, "utf8")).split("\n").map((line) => line.trim().split(/\s+/));
  return rows.flatMap(([, local = "", , state, , , , , , inode]) => {
    const [host = "", port = ""] = local.split(":");
    if (state !== "0A" || !sockets.has(inode)) return [];
    return [
      `${(host.match(/../g) ?? [])
        .reverse()
        .map((octet) => parseInt(octet, 16))
        .join(".")}:${parseInt(port, 16)}`,
    ];
  });
};

test("Temporal's UI and HTTP API reject pages of a foreign name that resolves here", { skip: process.platform !== "linux" }, async () => {
  const server = await startTemporal({ dataDir, cacheDir, env });
  const url = server.uiUrl ?? "";
  const { port } = new URL(url);
  for (const path of ["", "/api/v1/namespaces"]) {
    assert.equal(await statusUnder(url + path, `pages.example:${port}`), 421);
    for (const host of ["127.0.0.1", "localhost"]) {
      const answers = async () => (await statusUnder(url + path, `${host}:${port}`)) === 200;
      assert.ok(await waitUntil(answers, { deadlineMs: 30_000 }), `${host}${path}`);
    }
  }
  // Every listener that a page could reach either uses gRPC or rejects the page.
  for (const listen of (await listensOf(server.pid)).filter((one) => one.startsWith("127.0.0.1:"))) {
    for (const path of ["/temporal", "/temporal/api/v1/namespaces", "/api/v1/namespaces"]) {
      const status = await statusUnder(`http://${listen}${path}`, "pages.example").catch(() => 0);
      assert.ok(status === undefined || status === 0 || status >= 400, `${listen}${path}: ${status}`);
    }
  }
  await server.stop();
  await assert.rejects(fetch(url));
});

test("a configured server is used unchanged, and one that doesn't respond is named", async () => {
  const started = await startRedis({ dataDir, cacheDir, env });
  const external = await startRedis({ dataDir, cacheDir, env: { ...env, REDIS_URL: started.url } });
  assert.deepEqual([external.source, external.url, external.pid], ["given", started.url, null]);
  // One of several is enough.
  const { host } = new URL(started.url);
  for (const url of [`redis+sentinel://:a%40b@127.0.0.1:1,${host}/main`, `redis+cluster://${host},127.0.0.1:1`])
    assert.equal((await startRedis({ dataDir, cacheDir, env: { ...env, REDIS_URL: url } })).url, url);
  await started.stop();
  await assert.rejects(startRedis({ dataDir, cacheDir, env: { ...env, REDIS_URL: "localhost" } }), /REDIS_URL must be redis:\/\//);
  await assert.rejects(startMongodb({ dataDir, cacheDir, env: { ...env, MONGODB_URI: "localhost" } }), /MONGODB_URI must start with/);
});

test("the error for a missing server explains three ways to get it", async () => {
  const bare = { PATH: "/nonexistent" };
  const emptyCache = join(dataDir, "empty-cache");
  await assert.rejects(
    startRedis({ dataDir, cacheDir: emptyCache, env: bare }),
    /python3[\s\S]*1\. set REDIS_URL[\s\S]*2\. put[\s\S]*3\. install/,
  );
  await assert.rejects(
    startMongodb({ dataDir, cacheDir: emptyCache, env: bare }),
    /JDK[\s\S]*1\. set MONGODB_URI[\s\S]*2\. put[\s\S]*3\. install/,
  );
});

test("servers end when their launcher is killed", async () => {
  const redis = new URL("../servers/redis.mjs", import.meta.url).href;
  const script = `
    const { startRedis } = await import(${JSON.stringify(redis)});
    const server = await startRedis({ dataDir: ${JSON.stringify(join(dataDir, "killed"))}, cacheDir: ${JSON.stringify(cacheDir)} });
    process.stdout.write(String(server.pid));
    setInterval(() => {}, 1000);`;
  const launcher = spawn(process.execPath, ["--input-type=module", "-e", script], { env, stdio: ["ignore", "pipe", "inherit"] });
  const [output] = await once(/** @type {import("node:stream").Readable} */ (launcher.stdout), "data");
  const pid = Number(output);
  assert.notEqual(await identityOf(pid), undefined);
  launcher.kill("SIGKILL");
  assert.equal(await waitUntil(async () => (await identityOf(pid)) === undefined, { deadlineMs: 10_000 }), true);
});
