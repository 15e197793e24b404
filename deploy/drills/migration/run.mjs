/**
 * `npm run drill migration`: starts with a hundred thousand executions without two indexes, as before a release that declares new ones.
 * `node services/migrate` creates the indexes while the platform serves requests, and then runs again with nothing to do. Every process
 * must stay ready, no request may fail, and the second run may take at most five seconds. Linux only. The drill affects only processes that
 * it started.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { startCluster } from "../cluster/cluster.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { createConnection } from "../restarts/http.mjs";

export const DRILL = {
  sentence: "creates the indexes of a hundred thousand executions while the platform serves",
  minutes: 10,
  builds: true,
};

const ROWS = Number(process.env.MIGRATION_ROWS ?? 100_000);
const BATCH = 500;
const SAID = 20_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
const DAYS = 80;
const LOOK_MS = 500;
const PAUSE_MS = 250;
const SECOND_MS = 5_000;
/** Writing the rows can keep the server busy. */
const CONNECT_MS = 60_000;
const OK = 200;
/** Fields of /proc/<pid>/stat, in hundredths of a second. */
const [CUTIME, CSTIME] = [13, 14];
const TICK_MS = 10;

/** @typedef {Awaited<ReturnType<typeof startCluster>>} Cluster */
/** @typedef {ReturnType<typeof createConnection>} Connection */

/** @param {Connection} connection */
const runOnce = async (connection) => {
  const { status, body } = await connection.send({
    method: "POST",
    path: "/api/models/sandbox-image/run",
    body: { inputs: { prompt: "a loom" } },
  });
  if (status !== OK) throw new Error(`no run: ${status} ${body}`);
};

/** CPU of ended children in milliseconds. This is a migration's CPU if no other child ends meanwhile. */
const endedCpuMs = async () => {
  const fields = (await readFile("/proc/self/stat", "utf8")).replace(/^.*\) /, "").split(" ");
  return (Number(fields[CUTIME]) + Number(fields[CSTIME])) * TICK_MS;
};

/** Copies a run to earlier days. @param {any} collection @param {number} count @param {(line: string) => void} say */
const multiply = async (collection, count, say) => {
  // The copies have nothing to settle; otherwise settling would dominate the measurement.
  const { _id, unsettled: _owes, ...row } = await collection.findOne({ status: "completed" });
  for (let copied = 0; copied < count; copied += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - copied) }, (_, index) => {
      const number = copied + index;
      const createdAt = new Date(Date.now() - ((number % DAYS) + 1) * DAY_MS - number);
      return { ...row, outbox: [], _id: `${_id}-${number}`, holdId: `${row.holdId}-${number}`, createdAt, finishedAt: createdAt };
    });
    await collection.insertMany(rows, { ordered: false });
    if ((copied + BATCH) % SAID === 0) say(`${copied + BATCH} rows`);
  }
};

/** Indexes that no request of the drill needs. During a real upgrade existing queries keep their indexes. */
const NEW = [/^createdAt/, /metadata/];

/** Drops the indexes that the migration creates. @param {any} collection */
const dropIndexes = async (collection) => {
  const dropped = (await collection.indexes()).filter((/** @type {any} */ { name }) => NEW.some((one) => one.test(name)));
  for (const { name } of dropped) await collection.dropIndex(name);
  return dropped.map((/** @type {any} */ { name }) => name);
};

/** Reads, runs, and checks all probes until stopped. @param {Cluster} cluster @param {Connection} connection @param {string} executionId */
const keepUsing = (cluster, connection, executionId) => {
  /** @type {string[]} */
  const failures = [];
  let [requestCount, looks, ready, isOver] = [0, 0, 0, false];
  const ask = async () => {
    for (; !isOver; await delay(PAUSE_MS)) {
      for (const path of ["/api/whoami", "/api/models", "/api/usage?limit=5", `/api/executions/${executionId}`]) {
        const { status } = await connection.send({ path });
        requestCount += 1;
        if (status !== OK) failures.push(`${path} ${status}`);
      }
      requestCount += 1;
      await runOnce(connection).catch((error) => failures.push(error.message));
    }
  };
  const look = async () => {
    for (; !isOver; await delay(LOOK_MS)) {
      const all = await Promise.all(cluster.replicas.map((replica) => replica.isReady()));
      looks += 1;
      if (all.every(Boolean)) ready += 1;
    }
  };
  const both = Promise.all([ask(), look()]);
  return async () => {
    isOver = true;
    await both;
    return { failures, requestCount, looks, ready };
  };
};

await runDrill("migration", async ({ say, check, atEnd }) => {
  const cluster = await startCluster({ replicas: 1, say });
  atEnd(cluster.stop);
  const connection = createConnection({ baseUrl: cluster.baseUrl, key: cluster.accounts.enterprise.apiKey ?? "" });
  await runOnce(connection);
  const { MongoClient } = createRequire(import.meta.url)("mongodb");
  const client = await new MongoClient(cluster.servers.mongoUri(), { connectTimeoutMS: CONNECT_MS }).connect();
  const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
  const { name } = databases.find((/** @type {any} */ one) => one.name.endsWith("executions"));
  const collection = client.db(name).collection("executions");
  const { _id } = await collection.findOne({ status: "completed" });
  const indexes = await dropIndexes(collection);
  await multiply(collection, ROWS, say);
  say(`${await collection.estimatedDocumentCount()} executions without ${indexes.length} indexes: ${indexes.join(", ")}`);
  const end = keepUsing(cluster, connection, _id);
  await delay(PAUSE_MS);
  const times = [];
  for (let time = 0; time < 2; time += 1) {
    const [from, cpu] = [Date.now(), await endedCpuMs()];
    await cluster.migrate();
    times.push(Date.now() - from);
    say(`migrated in ${times.at(-1)} ms, with ${(await endedCpuMs()) - cpu} ms of CPU in its process`);
  }
  const { failures, requestCount, looks, ready } = await end();
  const indexNames = (await collection.indexes()).map((/** @type {any} */ one) => one.name);
  check(
    ["every index is there", indexes.every((/** @type {string} */ index) => indexNames.includes(index)), `made in ${times[0]} ms`],
    ["every process was ready throughout", ready === looks, `${ready} of ${looks} looks`],
    ["no request failed", failures.length === 0, `${failures.length} of ${requestCount} ${failures.slice(0, 3).join("; ")}`],
    ["a second run has nothing to do, in 5 s", /** @type {number} */ (times[1]) <= SECOND_MS, `${times[1]} ms`],
  );
  connection.close();
  await client.close();
});
