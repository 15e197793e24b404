/**
 * `npm run drill restarts`: runs two replicas of every service under load and restarts each twice, as in a rolling update. With
 * RESTART_TOGETHER=true it then restarts one of each at the same time. No request may fail, no connection may be reset, and every process
 * must exit with 0. Then it checks that a joining replica gets calls, a vanished one is soon avoided, and a killed service affects no
 * other. Linux only. The drill affects only processes that it started.
 */
import { setTimeout as delay } from "node:timers/promises";
import { startCluster } from "../cluster/cluster.mjs";
import { runDrill, seconds } from "../support/run-drill.mjs";
import { createConnection } from "./http.mjs";
import { createLoad } from "./load.mjs";
import { tryJoin, tryKilled, tryVanished } from "./lost.mjs";

export const DRILL = {
  sentence: "stops and starts every process, two replicas each, under load: no request may fail",
  minutes: 10,
  builds: true,
};

const ROUNDS = Number(process.env.RESTART_ROUNDS ?? 2);
/** Also restarts one replica of every service at the same time. On two cores, eight processes start slowly. */
const TOGETHER = process.env.RESTART_TOGETHER === "true";
/** Production's 200 requests per second, or less if the machine can't handle three times as many. */
const WANTED_PER_SECOND = 200;
const SHARE_OF_CAPACITY = 0.3;
const CAPACITY_MS = 6_000;
/** Shorter than in the chart, because endpoints are probed every half second here. */
const DRAIN_MS = "3000";
const SETTLE_MS = 3_000;
/** Time until the load is steady. */
const WARM_UP_MS = 20_000;
/** Maximum failures printed per restart. */
const SHOWN = 8;

/** @typedef {import("../cluster/replica.mjs").Replica} Replica */

/** Creates a file and a workflow to read. @param {Awaited<ReturnType<typeof startCluster>>} cluster */
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
  const { pathname, search } = new URL(url);
  return { baseUrl: cluster.baseUrl, key, cookie, mediaPath: pathname + search, slug };
};

/**
 * Order of restarts: every process in each round. If requested, one process of every service at the same time follows, as in a release
 * upgrade, in which a process can hand work to others that also stop.
 * @param {readonly Replica[]} all @returns {{ name: string, replicas: readonly Replica[] }[]}
 */
const stepsOf = (all) => {
  const replicas = all.filter(({ service }) => service !== "sandbox");
  const rounds = Array.from({ length: ROUNDS }, (_, index) => index + 1);
  const alone = rounds.flatMap((round) => replicas.map((replica) => ({ name: `${round}  ${replica.name}`, replicas: [replica] })));
  const together = ["1", "2"].map((number) => ({
    name: `every ${number}`,
    replicas: replicas.filter(({ name }) => name.endsWith(number)),
  }));
  return TOGETHER ? [...alone, ...together] : alone;
};

/**
 * Restarts replicas and prints failures that occur meanwhile.
 * @param {ReturnType<typeof stepsOf>[number]} step @param {import("./load.mjs").Failure[]} failures @param {(line: string) => void} say
 * @returns {Promise<string[]>} replicas that didn't exit with 0
 */
const restart = async ({ name, replicas }, failures, say) => {
  const [from, before] = [Date.now(), failures.length];
  const exits = await Promise.all(replicas.map(async (replica) => ({ replica, ...(await replica.stop()) })));
  const stoppedAt = Date.now();
  for (const replica of replicas) await replica.start();
  const readyMs = Date.now() - stoppedAt;
  await delay(SETTLE_MS);
  for (const { at, kind, what } of failures.slice(before, before + SHOWN))
    say(`   failed ${seconds(at - from)} s after the signal: ${kind}: ${what}`);
  const times = `stopped in ${seconds(stoppedAt - from)} s, ready ${seconds(readyMs)} s later`;
  say(`${name}: ${times}, ${failures.length - before} failures`);
  return exits.filter(({ code }) => code !== 0).map(({ replica, code, signal }) => `${replica.name}: ${code ?? signal}`);
};

await runDrill("restarts", async ({ startedAt, say, check, atEnd }) => {
  const cluster = await startCluster({ env: { DRAIN_MS }, say });
  atEnd(cluster.stop);
  const target = await prepare(cluster);
  const load = createLoad(target);
  const capacity = await load.measureCapacity(CAPACITY_MS);
  const perSecond = Math.min(WANTED_PER_SECOND, Math.round(capacity * SHARE_OF_CAPACITY));
  say(`this machine answers ${Math.round(capacity)} reads a second; ${perSecond} a second, 20 synchronous runs and 8 event streams go on`);
  const from = Date.now();
  const end = load.start(perSecond);
  await delay(WARM_UP_MS);
  const steps = stepsOf(cluster.replicas);
  const badExits = [];
  for (const step of steps) badExits.push(...(await restart(step, load.failures, say)));
  await end();
  const total = [...load.answered.values()].reduce((sum, each) => sum + each, 0);
  say([...load.answered].map(([kind, times]) => `${kind} × ${times}`).join(", "));
  for (const { at, kind, what } of load.failures.slice(0, SHOWN)) say(`failed at ${seconds(at - startedAt)} s: ${kind}: ${what}`);
  check(
    [
      "no request failed, no connection was reset",
      load.failures.length === 0,
      `${load.failures.length} of ${total} in ${Math.round((Date.now() - from) / 1_000)} s`,
    ],
    [
      "every process exited with 0",
      badExits.length === 0,
      badExits.join("; ") || `${steps.flatMap(({ replicas }) => replicas).length} restarts`,
    ],
  );
  for (const attempt of [tryJoin, tryVanished, tryKilled]) check(...(await attempt(cluster, target, say)));
});
