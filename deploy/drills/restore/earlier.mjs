import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Adds completed runs before the copies, as many as a platform has after a while. One run is executed; the others are copies of its rows,
 * each with a paid hold and capture.
 * @typedef {Awaited<ReturnType<typeof import("../cluster/cluster.mjs").startCluster>>} Cluster
 * @typedef {ReturnType<typeof import("../support/api.mjs").createApi>} Api
 */

const BATCH = 500;
const MINUTE_MS = 60_000;
const LOOK_MS = 200;
const LOOKS = 300;

/** @param {() => Promise<any>} find */
const untilFound = async (find) => {
  for (let look = 0; look < LOOKS; look += 1) {
    const document = await find();
    if (document) return document;
    await delay(LOOK_MS);
  }
  throw new Error("the run that is copied was not settled");
};

/** @param {any} client @param {string} name */
const databaseOf = async (client, name) => {
  const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
  return client.db(databases.find((/** @type {any} */ one) => one.name.endsWith(name)).name);
};

/**
 * Rows of one more run with the same duration and cost.
 * @param {any} of @param {{ number: number, usageId: number, sequence: number }} at
 */
const copyOf = ({ execution, usage: { counted: _, ...usage }, ledger }, { number, usageId, sequence }) => {
  const _id = randomUUID();
  const [executionId, createdAt] = [`${_id}.1`, new Date(execution.createdAt.getTime() - number * MINUTE_MS)];
  const times = { createdAt, finishedAt: new Date(createdAt.getTime() + execution.durationMs) };
  return {
    execution: { ...execution, _id, holdId: executionId, requestToken: randomUUID(), ...times },
    // The service writes its own totals.
    usage: { ...usage, _id, id: usageId, createdAt, uncounted: usage.userId },
    ledger: ledger.map((/** @type {any} */ row, /** @type {number} */ index) => ({
      ...{ ...row, _id: row._id.replace(row.executionId, executionId), executionId, sequence: sequence + index + 1 },
      ...(row.closed ? { closed: { ...row.closed, executionId } } : {}),
    })),
  };
};

/** @param {{ cluster: Cluster, api: Api, key: string, userId: string, count: number }} options this user must have no other runs */
export const addEarlierRuns = async ({ cluster, api, key, userId, count }) => {
  const { MongoClient } = createRequire(import.meta.url)("mongodb");
  const client = await new MongoClient(cluster.servers.mongoUri()).connect();
  try {
    const [executions, usage, billing] = await Promise.all(["executions", "usage", "billing"].map((name) => databaseOf(client, name)));
    const ledger = billing.collection("ledger");
    await api.call("POST", "/api/models/sandbox-chat/run", { key, body: { inputs: { prompt: "a loom", maxTokens: 20 } } });
    const execution = await untilFound(() => executions.collection("executions").findOne({ userId, status: "completed" }));
    const executionId = execution.holdId;
    /** @type {{ execution: any, usage: any, ledger: any[] }} */
    const rows = {
      execution,
      usage: await untilFound(() => usage.collection("usage").findOne({ _id: execution._id, status: "completed" })),
      ledger: [],
    };
    await untilFound(() => ledger.findOne({ executionId, kind: "capture" }));
    rows.ledger = await ledger.find({ executionId }).sort({ sequence: 1 }).toArray();
    const price = rows.ledger.reduce((sum, { millicredits }) => sum - millicredits, 0);
    const account = await billing.collection("accounts").findOne({ _id: userId });
    const update = await billing
      .collection("accounts")
      .updateOne(
        { _id: userId, revision: account.revision },
        { $inc: { plan: -price * count, sequence: rows.ledger.length * count, revision: 1 } },
      );
    if (update.modifiedCount !== 1) throw new Error("the account has changed meanwhile");
    for (let copied = 0; copied < count; copied += BATCH) {
      const copies = Array.from({ length: Math.min(BATCH, count - copied) }, (_, index) => {
        const number = copied + index;
        return copyOf(rows, {
          number: number + 1,
          usageId: rows.usage.id - 1 - number,
          sequence: account.sequence + rows.ledger.length * number,
        });
      });
      await executions.collection("executions").insertMany(copies.map((copy) => copy.execution));
      await usage.collection("usage").insertMany(copies.map((copy) => copy.usage));
      await ledger.insertMany(copies.flatMap((copy) => copy.ledger));
    }
  } finally {
    await client.close();
  }
};
