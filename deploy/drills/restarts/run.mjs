/**
 * `npm run restarts`: two replicas of every service under load, each stopped and started again twice, as a rolling update does;
 * with RESTART_TOGETHER=true then one of each at the same time.
 * No request may fail, no connection be reset, and every process must exit with 0. Then: a replica that joins gets calls, one that
 * vanishes without a word is left alone soon, and a service that is killed harms nobody else. Linux only; touches only what it started.
 */
import { setTimeout as delay } from "node:timers/promises";
import { startCluster } from "../cluster/cluster.mjs";
import { createConnection } from "./http.mjs";
import { createLoad } from "./load.mjs";
import { tryJoin, tryKilled, tryVanished } from "./lost.mjs";

const ROUNDS = Number(process.env.RESTART_ROUNDS ?? 2);
/** Whether one replica of every service is restarted at the same time as well: two processors start eight processes slowly. */
const TOGETHER = process.env.RESTART_TOGETHER === "true";
/** What production asks of 200 requests a second; less where a machine can't do more than thrice that. */
const WANTED_PER_SECOND = 200;
const SHARE_OF_CAPACITY = 0.3;
const CAPACITY_MS = 6_000;
/** As the chart's, but shorter: endpoints are looked at every half second here. */
const DRAIN_MS = "3000";
const SETTLE_MS = 3_000;
/** Until the load is steady. */
const WARM_UP_MS = 20_000;
/** Failures that are told of each restart. */
const SHOWN = 8;

const started = Date.now();
const say = (/** @type {string} */ line) => process.stdout.write(`${((Date.now() - started) / 1_000).toFixed(1).padStart(6)} s  ${line}\n`);

/** A file and a workflow to be read. @param {Awaited<ReturnType<typeof startCluster>>} cluster */
const prepare = async (cluster) => {
  const key = cluster.accounts.enterprise.apiKey ?? "";
  const connection = createConnection({ baseUrl: cluster.baseUrl, key });
  const run = await connection.send({ method: "POST", path: "/api/models/sandbox-image/run", body: { inputs: { prompt: "a loom" } } });
  const url = JSON.parse(run.body).result?.images?.[0]?.url;
  if (typeof url !== "string") throw new Error(`no picture: ${run.status} ${run.body}`);
  const nodes = [
    { id: "in", type: "request-input", position: { x: 0, y: 0 }, data: { fields: [] } },
    { id: "out", type: "response-output", position: { x: 1, y: 0 }, data: {} },
  ];
  const saved = await connection.send({ method: "POST", path: "/api/workflows", body: { name: "Restarts", nodes, edges: [] } });
  const { slug } = JSON.parse(saved.body);
  if (saved.status !== 201) throw new Error(`no workflow: ${saved.status} ${saved.body}`);
  const { email, password } = cluster.accounts.enterprise;
  const login = await connection.send({
    method: "POST",
    path: "/api/auth/login",
    body: { email, password },
    headers: { origin: cluster.baseUrl },
  });
  const cookie = (login.headers["set-cookie"] ?? []).map((line) => line.split(";")[0]).join("; ");
  connection.close();
  return { baseUrl: cluster.baseUrl, key, cookie, mediaPath: new URL(url).pathname, slug };
};

/** @param {Awaited<ReturnType<typeof startCluster>>} cluster @param {import("./load.mjs").Failure[]} failures */
const restartAll = async (cluster, failures) => {
  /** @type {string[]} */
  const badExits = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const replica of cluster.replicas.filter(({ service }) => service !== "sandbox")) {
      const [from, before] = [Date.now(), failures.length];
      const { code, signal } = await replica.stop();
      const stoppedMs = Date.now() - from;
      if (code !== 0) badExits.push(`${replica.name}: ${code ?? signal}`);
      await replica.start();
      await delay(SETTLE_MS);
      const times = `stopped in ${(stoppedMs / 1_000).toFixed(1)} s, ready ${((Date.now() - from - stoppedMs - SETTLE_MS) / 1_000).toFixed(1)} s later`;
      for (const { at, kind, what } of failures.slice(before, before + SHOWN))
        say(`   failed ${((at - from) / 1_000).toFixed(1)} s after the signal: ${kind}: ${what}`);
      say(`${round}  ${replica.name}: ${times}; exit ${code ?? signal}, ${failures.length - before} failures`);
    }
  }
  return badExits;
};

/**
 * One replica of every service at the same time, as when a release is upgraded: what a process hands over, it hands to others that
 * may be stopping, too. @param {Awaited<ReturnType<typeof startCluster>>} cluster @param {import("./load.mjs").Failure[]} failures
 */
const restartTogether = async (cluster, failures) => {
  /** @type {string[]} */
  const badExits = [];
  for (const number of ["1", "2"]) {
    const chosen = cluster.replicas.filter(({ service, name }) => service !== "sandbox" && name.endsWith(number));
    const [from, before] = [Date.now(), failures.length];
    const exits = await Promise.all(chosen.map(async (replica) => ({ name: replica.name, ...(await replica.stop()) })));
    badExits.push(...exits.filter(({ code }) => code !== 0).map(({ name, code, signal }) => `${name}: ${code ?? signal}`));
    const stoppedMs = Date.now() - from;
    for (const replica of chosen) await replica.start();
    await delay(SETTLE_MS);
    for (const { at, kind, what } of failures.slice(before, before + SHOWN))
      say(`   failed ${((at - from) / 1_000).toFixed(1)} s after the signal: ${kind}: ${what}`);
    say(`every ${number}: stopped in ${(stoppedMs / 1_000).toFixed(1)} s, ${failures.length - before} failures`);
  }
  return badExits;
};

/** @type {Awaited<ReturnType<typeof startCluster>> | undefined} */
let cluster;
/** @type {[string, boolean, string][]} */
const checks = [];
try {
  cluster = await startCluster({ env: { DRAIN_MS }, say });
  const target = await prepare(cluster);
  const load = createLoad(target);
  const capacity = await load.measureCapacity(CAPACITY_MS);
  const perSecond = Math.min(WANTED_PER_SECOND, Math.round(capacity * SHARE_OF_CAPACITY));
  say(`this machine answers ${Math.round(capacity)} reads a second; ${perSecond} a second, 20 synchronous runs and 8 event streams go on`);
  const from = Date.now();
  const end = load.start(perSecond);
  await delay(WARM_UP_MS);
  const badExits = await restartAll(cluster, load.failures);
  if (TOGETHER) badExits.push(...(await restartTogether(cluster, load.failures)));
  await end();
  const total = [...load.answered.values()].reduce((sum, each) => sum + each, 0);
  say([...load.answered].map(([kind, times]) => `${kind} × ${times}`).join(", "));
  for (const { at, kind, what } of load.failures.slice(0, SHOWN))
    say(`failed at ${((at - started) / 1_000).toFixed(1)} s: ${kind}: ${what}`);
  checks.push(
    [
      "no request failed, no connection was reset",
      load.failures.length === 0,
      `${load.failures.length} of ${total} in ${Math.round((Date.now() - from) / 1_000)} s`,
    ],
    [
      "every process exited with 0",
      badExits.length === 0,
      badExits.join("; ") || `${(ROUNDS + Number(TOGETHER)) * (cluster.replicas.length - 1)} restarts`,
    ],
  );
  for (const attempt of [tryJoin, tryVanished, tryKilled]) checks.push(...(await attempt(cluster, target, say)));
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  checks.push(["the drill came to its end", false, ""]);
} finally {
  await cluster?.stop();
}
for (const [name, ok, detail] of checks) say(`${ok ? "ok    " : "FAILED"}  ${name}: ${detail}`);
const passed = checks.every(([, ok]) => ok);
process.stdout.write(passed ? "\nrestarts: passed\n" : "\nrestarts: FAILED\n");
process.exit(passed ? 0 : 1);
