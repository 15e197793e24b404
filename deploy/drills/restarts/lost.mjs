import { setTimeout as delay } from "node:timers/promises";
import { opsUrl } from "../cluster/services.mjs";
import { createConnection } from "./http.mjs";
import { readsOf } from "./load.mjs";

/**
 * Behaviour of calls when a replica joins, vanishes, or a whole service is unavailable.
 * @typedef {Awaited<ReturnType<typeof import("../cluster/cluster.mjs").startCluster>>} Cluster
 * @typedef {import("./load.mjs").Target} Target
 * @typedef {[name: string, ok: boolean, detail: string][]} Checks
 */

const CALLERS = 10;
const PAUSE_MS = 50;
const LOOK_MS = 3_000;
const JOIN_MS = 90_000;
const JOIN_SHARE = 0.25;
const VANISH_MS = 30_000;
/** Errors have ended if none occurs for this time. */
const CALM_MS = 20_000;
const KILLED_MS = 10_000;

/** Requests paths repeatedly and records the time of each failure. @param {Target} target @param {readonly string[]} kinds of reads */
const keepAsking = (target, kinds) => {
  const reads = readsOf(target).filter(({ kind }) => kinds.includes(kind));
  /** @type {{ at: number, kind: string, what: string }[]} */
  const failures = [];
  let askedCount = 0;
  let isOver = false;
  const caller = async (/** @type {number} */ number) => {
    const connection = createConnection(target);
    for (let turn = number; !isOver; turn += 1) {
      const { kind, ...options } = /** @type {import("./load.mjs").Read} */ (reads[turn % reads.length]);
      askedCount += 1;
      const what = await connection.send(options).then(
        ({ status }) => (status === 200 ? "" : String(status)),
        (error) => error.code ?? error.message,
      );
      if (what !== "") failures.push({ at: Date.now(), kind, what });
      await delay(PAUSE_MS);
    }
    connection.close();
  };
  const callers = Array.from({ length: CALLERS }, (_, number) => caller(number));
  return {
    failures,
    asked: () => askedCount,
    end: async () => {
      isOver = true;
      await Promise.all(callers);
    },
  };
};

/** Number of calls that a process has answered, from its own counter. @param {import("../cluster/replica.mjs").Replica} replica */
const callsOf = async ({ ip }) => {
  const metrics = await (await fetch(`${opsUrl(ip)}/metrics`)).text();
  const counts = [...metrics.matchAll(/^nodeloom_grpc_server_duration(?:_seconds)?_count\{.*\} (\d+)/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
};

/** @param {Cluster} cluster @param {Target} target @param {(line: string) => void} say @returns {Promise<Checks>} */
export const tryJoin = async (cluster, target, say) => {
  const asking = keepAsking(target, ["billing"]);
  await delay(LOOK_MS);
  const joined = await cluster.join("billing");
  const from = Date.now();
  say(`${joined.name} joined`);
  let [share, ms] = [0, 0];
  for (; share < JOIN_SHARE && ms < JOIN_MS; ms = Date.now() - from) {
    const before = await Promise.all(cluster.of("billing").map(callsOf));
    await delay(LOOK_MS);
    const after = await Promise.all(cluster.of("billing").map(callsOf));
    const own = after.map((count, index) => count - /** @type {number} */ (before[index]));
    share =
      /** @type {number} */ (own.at(-1)) /
      Math.max(
        1,
        own.reduce((sum, count) => sum + count, 0),
      );
  }
  await asking.end();
  return [
    [
      "a replica that joins takes a quarter of the calls within 90 s",
      share >= JOIN_SHARE,
      `${Math.round(share * 100)} % after ${Math.round(ms / 1_000)} s`,
    ],
    ["and no call fails meanwhile", asking.failures.length === 0, `${asking.failures.length} of ${asking.asked()}`],
  ];
};

/** @param {Cluster} cluster @param {Target} target @param {(line: string) => void} say @returns {Promise<Checks>} */
export const tryVanished = async (cluster, target, say) => {
  const asking = keepAsking(target, ["usage"]);
  const [vanished] = cluster.of("usage");
  if (vanished === undefined) throw new Error("usage does not run");
  await delay(LOOK_MS);
  // Its connections stay open without responses, as after a network partition.
  process.kill(vanished.pid(), "SIGSTOP");
  const from = Date.now();
  say(`${vanished.name} answers nobody any more`);
  const lastFailure = () => asking.failures.at(-1)?.at ?? from;
  try {
    while (Date.now() - from < VANISH_MS + CALM_MS && Date.now() - lastFailure() < CALM_MS) await delay(PAUSE_MS);
  } finally {
    process.kill(vanished.pid(), "SIGCONT");
  }
  await asking.end();
  const ms = lastFailure() - from;
  return [
    [
      "errors end within 30 s after a peer vanished",
      ms <= VANISH_MS,
      `${asking.failures.length} of ${asking.asked()} failed, the last after ${(ms / 1_000).toFixed(1)} s`,
    ],
  ];
};

/** @param {Cluster} cluster @param {Target} target @param {(line: string) => void} say @returns {Promise<Checks>} */
export const tryKilled = async (cluster, target, say) => {
  const own = "/api/usage?limit=5";
  const others = ["identity", "models", "workflows", "executions", "media", "billing"];
  const killed = cluster.of("usage");
  await Promise.all(killed.map((replica) => replica.kill()));
  say("every replica of usage is killed");
  const asking = keepAsking(target, others);
  const connection = createConnection(target);
  const answers = new Set();
  let readyTimes = 0;
  let looks = 0;
  for (const end = Date.now() + KILLED_MS; Date.now() < end; await delay(PAUSE_MS * 10)) {
    const { status } = await connection.send({ path: own });
    answers.add(status);
    const ready = await Promise.all(cluster.of("gateway").map((replica) => replica.isReady()));
    const { status: outside } = await connection.send({ path: "/readyz" });
    looks += 1;
    if (ready.every(Boolean) && outside === 200) readyTimes += 1;
  }
  await asking.end();
  await Promise.all(killed.map((replica) => replica.start()));
  await cluster.endpoints.look();
  const comeback = keepAsking(target, ["usage"]);
  await delay(LOOK_MS);
  await comeback.end();
  connection.close();
  return [
    ["gateways stay ready while a service is away", readyTimes === looks, `${readyTimes} of ${looks} looks`],
    ["its own routes say so", [...answers].every((status) => status === 503), [...answers].join(", ")],
    ["no other route is harmed", asking.failures.length === 0, `${asking.failures.length} of ${asking.asked()}`],
    ["its routes answer again when it is back", comeback.failures.length === 0, `${comeback.failures.length} of ${comeback.asked()}`],
  ];
};
