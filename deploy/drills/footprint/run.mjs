/**
 * `npm run drill footprint`: measures the CPU of a run and of a request per process, and the memory of each process, for docs/operations.
 * The kernel counts CPU per process, so other work on the machine hardly affects the result. Linux only.
 */
import { readFile } from "node:fs/promises";
import { startCluster } from "../cluster/cluster.mjs";
import { createConnection } from "../restarts/http.mjs";

export const DRILL = {
  sentence: "measures the CPU of runs and requests in each process, and the memory of each process",
  minutes: 3,
  builds: true,
};

const RUNS = 100;
const WARM_UP = 60;
const AT_ONCE = 4;
/** Fields of /proc/<pid>/stat: user and system time in hundredths of a second. */
const [UTIME, STIME] = [11, 12];
const TICK_MS = 10;
const KILOBYTES = 1_024;

const run = (/** @type {string} */ model, /** @type {object} */ inputs, isAsync = false) => ({
  method: "POST",
  path: `/api/models/${model}/run${isAsync ? "?async=true" : ""}`,
  body: { inputs: { prompt: "a loom", ...inputs } },
});
/** @type {Record<string, import("../restarts/http.mjs").Asked>} */
const CASES = {
  "a text": run("sandbox-chat", { maxTokens: 20 }),
  "a picture": run("sandbox-image", {}),
  "a video, asynchronous": run("sandbox-video", { seconds: 1 }, true),
  "reading a list": { path: "/api/executions?limit=5" },
};
const VIDEO_MS = 10_000;

/** @param {number} pid */
const cpuOf = async (pid) => {
  const stat = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
  return (Number(stat[UTIME]) + Number(stat[STIME])) * TICK_MS;
};
/** @param {number} pid */
const memoryOf = async (pid) => Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) / KILOBYTES);

/** @param {Awaited<ReturnType<typeof startCluster>>} cluster @returns {Record<string, number>} process ids by name */
const processesOf = ({ replicas, servers }) => ({
  ...Object.fromEntries(replicas.map(({ service, pid }) => [service, pid()])),
  ...Object.fromEntries(/** @type {const} */ (["mongodb", "redis", "temporal"]).map((name) => [name, servers.pidOf(name) ?? process.pid])),
});

/** @param {Record<string, number>} pids @param {(pid: number) => Promise<number>} measure */
const ofAll = async (pids, measure) =>
  Object.fromEntries(await Promise.all(Object.entries(pids).map(async ([name, pid]) => [name, await measure(pid)])));

/** @param {{ baseUrl: string, key: string }} target @param {import("../restarts/http.mjs").Asked} requestParts @param {number} times */
const repeat = async (target, requestParts, times) => {
  let remaining = times;
  const caller = async () => {
    const connection = createConnection(target);
    while ((remaining -= 1) >= 0) {
      const { status, body } = await connection.send(requestParts);
      if (status !== 200 && status !== 202) throw new Error(`${requestParts.path}: ${status} ${body.slice(0, 200)}`);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  if (requestParts.path.includes("async=true")) await new Promise((resolve) => setTimeout(resolve, VIDEO_MS));
};

const cluster = await startCluster({ replicas: 1, say: (line) => process.stderr.write(`${line}\n`) });
try {
  const target = { baseUrl: cluster.baseUrl, key: cluster.accounts.enterprise.apiKey ?? "" };
  const pids = processesOf(cluster);
  const idle = await ofAll(pids, memoryOf);
  /** @type {Record<string, Record<string, number>>} */
  const costs = {};
  for (const [name, requestParts] of Object.entries(CASES)) {
    await repeat(target, requestParts, WARM_UP);
    const before = await ofAll(pids, cpuOf);
    await repeat(target, requestParts, RUNS);
    const after = await ofAll(pids, cpuOf);
    costs[name] = Object.fromEntries(Object.keys(pids).map((one) => [one, (after[one] - before[one]) / RUNS]));
  }
  const busy = await ofAll(pids, memoryOf);
  const columns = Object.keys(costs);
  process.stdout.write(`| process | ${columns.map((name) => `${name}, ms of CPU`).join(" | ")} | MB started | MB after these |\n`);
  process.stdout.write(`|${"---|".repeat(columns.length + 3)}\n`);
  for (const name of Object.keys(pids)) {
    const cells = columns.map((column) => (costs[column]?.[name] ?? 0).toFixed(1));
    process.stdout.write(`| ${name} | ${cells.join(" | ")} | ${idle[name]} | ${busy[name]} |\n`);
  }
} finally {
  await cluster.stop();
}
process.exit();
