/**
 * `npm run drill restore`: copies databases and files of a platform during runs, deletes everything, and restores the copies twice: once
 * with Temporal's copy older than MongoDB's, and once the other way round. Every run must end, nothing may be charged twice, no credit may
 * be lost, and every webhook must be sent. The restored processes' clocks are a quarter of an hour ahead, as if the copies were that old.
 * Linux only. The drill affects only processes that it started.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createApi } from "../support/api.mjs";
import { createReceiver } from "../support/receiver.mjs";
import { startCluster } from "../cluster/cluster.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { addEarlierRuns } from "./earlier.mjs";
import { createLoad } from "./load.mjs";
import { createSchedule, verifySchedule } from "./schedules.mjs";
import { copyMedia, copyServer, loseAndRestore } from "./snapshots.mjs";
import { verify } from "./verify.mjs";

export const DRILL = { sentence: "loses a platform and restores it from copies made during runs", minutes: 10, builds: true };

/** Time for starting runs before the first copy, and between the copies. */
const PHASE_MS = Number(process.env.DRILL_PHASE_MS ?? 30_000);
/** Number of earlier runs, whose rows are written without executing them. */
const EARLIER_RUNS = Number(process.env.DRILL_EARLIER_RUNS ?? 10_000);
const LATER_MS = 16 * 60_000;
const SETTLE_MS = 8 * 60_000;
/** Services to start last: callers, and Temporal's worker. */
const LAST = ["executions", "triggers", "gateway"];
const SCHEDULES = ["nodeloom-reconcile-runs", "nodeloom-triggers-reconcile-schedules"];
const LATER = fileURLToPath(new URL("../cluster/later.cjs", import.meta.url));

/** @typedef {Awaited<ReturnType<typeof startCluster>>} Cluster */

/** Triggers the reconciliation of orphaned runs. @param {Cluster} cluster */
const createReconcile = (cluster) => {
  const { Connection, ScheduleClient } = createRequire(import.meta.url)("@temporalio/client");
  return async () => {
    const connection = await Connection.connect({ address: cluster.servers.temporalAddress() });
    try {
      const schedules = new ScheduleClient({ connection });
      await Promise.all(SCHEDULES.map((id) => schedules.getHandle(id).trigger()));
    } finally {
      await connection.close();
    }
  };
};

/** @param {Cluster} cluster */
const startAgain = async (cluster) => {
  await cluster.servers.start();
  cluster.change({ NODE_OPTIONS: `--require ${LATER}`, NODELOOM_LATER_MS: String(LATER_MS) });
  await cluster.migrate();
  const last = cluster.replicas.filter(({ service }) => LAST.includes(service));
  for (const replica of cluster.replicas.filter(({ service }) => !LAST.includes(service))) await replica.start();
  for (const replica of last) await replica.start();
  await cluster.endpoints.look();
};

await runDrill("restore", async ({ say, check, atEnd }) => {
  const receiver = await createReceiver();
  atEnd(() => receiver.close());
  const cluster = await startCluster({ replicas: 1, env: { USER_EGRESS_ALLOW: receiver.address }, say });
  atEnd(cluster.stop);
  const { baseUrl, folder } = cluster;
  const api = createApi(() => baseUrl);
  const user = await api.enterprise(cluster.accounts, receiver.url);
  const [older, newer] = [join(folder, "copies", "older"), join(folder, "copies", "newer")];
  await addEarlierRuns({ cluster, api, key: user.key, userId: user.userId, count: EARLIER_RUNS });
  say(`${EARLIER_RUNS} runs are over already`);
  const schedule = await createSchedule({ api, key: user.key });
  const loadedFromMs = Date.now();
  const load = createLoad({ api, key: user.key });
  let olderAt = 0;
  for (const copy of [older, newer]) {
    await delay(PHASE_MS);
    const from = Date.now();
    olderAt ||= from;
    await copyServer(cluster, "temporal", copy);
    await copyServer(cluster, "mongodb", copy);
    await copyMedia(cluster, copy);
    say(`copied while runs go on, ${load.count()} so far: ${Date.now() - from} ms`);
  }
  await delay(PHASE_MS / 3);
  await load.end();
  const cases = [
    { name: "Temporal older than MongoDB", copies: { temporal: older, mongodb: newer, media: newer }, filesUntilMs: Infinity },
    { name: "MongoDB older than Temporal", copies: { temporal: newer, mongodb: older, media: newer }, filesUntilMs: olderAt },
  ];
  for (const { name, copies, filesUntilMs } of cases) {
    const from = Date.now();
    await loseAndRestore(cluster, copies);
    await startAgain(cluster);
    say(`${name}: everything was lost, and is up again after ${((Date.now() - from) / 1_000).toFixed(0)} s`);
    // Sessions aren't restored.
    const results = await verify({
      ...{
        api,
        baseUrl,
        key: user.key,
        cookie: await api.signIn(cluster.accounts.enterprise),
        adminKey: cluster.accounts.admin.apiKey ?? "",
        receiver,
      },
      ...{ loadedFromMs, filesUntilMs, deadlineMs: SETTLE_MS, reconcile: createReconcile(cluster) },
    });
    say(`${name}: settled ${((Date.now() - from) / 1_000).toFixed(0)} s after the loss`);
    const scheduled = await verifySchedule({ api, key: user.key, schedule });
    for (const [what, ok, detail] of [...results, ...scheduled]) check([`${name}: ${what}`, ok, detail]);
  }
});
