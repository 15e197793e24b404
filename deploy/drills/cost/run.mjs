import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import ports from "../../local/servers/ports.cjs";
import { zipkinSpans } from "../../local/servers/traces/otlp.mjs";
import { startServers } from "../cluster/servers.mjs";
import { LOG_DIR } from "../../local/paths.mjs";
import { serve } from "../support/serve.mjs";
import { nowMs, readAlong, readCalls, readSpans } from "./wire.mjs";

export const DRILL = {
  sentence: "counts the work of one run: database commands, calls between services, events of its history",
  minutes: 4,
  builds: true,
};

/**
 * Counts the work of one run: commands of MongoDB and Redis, calls of Temporal and between services, and history events. It starts the
 * platform behind proxies that read the traffic, makes runs one after another, and prints the counts without background work, and the waits
 * of the fastest run.
 */

const RUNS = 20;
const WARM_UP = 10;
/** The work that follows a run's end takes less than this. */
const AFTER_MS = 4_000;
/** Keeps the exchanges of two runs apart. */
const APART_MS = 250;
/** Events with fewer than this number per run don't belong to runs. */
const LEAST = 0.2;
const VIDEO_MS = 1_000;
const CREDITS = 100_000;
/** Logs of third-party servers. */
const SERVERS = new Set(["mongodb.log", "redis.log", "temporal.log"]);
/** gRPC status code. */
const NOT_FOUND = 5;

/** @typedef {Map<string, { times: number, bytes: number }>} Counts by kind of exchange */

const bench = createRequire(new URL("../../bench/package.json", import.meta.url));
const { Client, Connection } = bench("@temporalio/client");
const { temporal } = bench("@temporalio/proto");
const { createApiClient } = bench("./dist/http.js");
const { httpWorkflow, imageWorkflow, textWorkflow, videoWorkflow } = bench("./dist/graphs.js");
const { keyOf, launch, ROOT } = bench("./dist/platform.js");
const { submit, waitForAll } = bench("./dist/runs.js");
const { withWorkflow } = bench("./dist/workflow.js");

/** @type {(import("./wire.mjs").Seen & { where: string })[]} */
const accesses = [];
/** @param {string} where @returns {import("./wire.mjs").Tell} */
const tellAt = (where) => (one) => void accesses.push({ where, ...one });
/** Exchanges since the last call. */
const take = () => accesses.splice(0);

/** @param {ReturnType<typeof take>} all @returns {Map<string, Counts>} by the proxy that saw them */
const counted = (all) => {
  /** @type {Map<string, Counts>} */
  const places = new Map();
  for (const { where, what, bytes } of all) {
    const counts = places.get(where) ?? new Map();
    places.set(where, counts);
    const earlier = counts.get(what) ?? { times: 0, bytes: 0 };
    counts.set(what, { times: earlier.times + 1, bytes: earlier.bytes + bytes });
  }
  return places;
};

/** @param {string} address */
const portOf = (address) => Number(address.slice(address.lastIndexOf(":") + 1));

/** @param {string} target */
const kindsOf = (target) => [
  { name: "Text", workflow: textWorkflow(), mode: "sync" },
  { name: "One HTTP node", workflow: httpWorkflow(target), mode: "sync" },
  { name: "Instant image", workflow: imageWorkflow(), mode: "sync" },
  { name: "Video of a second, asynchronous", workflow: videoWorkflow("Cost", VIDEO_MS), mode: "async" },
];

/** @param {string} where @param {Counts} all @param {Counts} anyway */
const rowsOf = (where, all, anyway = new Map()) =>
  [...all]
    .map(([what, { times, bytes }]) => ({ what, times: (times - (anyway.get(what)?.times ?? 0)) / RUNS, bytes: Math.round(bytes / times) }))
    .filter(({ times }) => times >= LEAST)
    .sort((one, other) => other.times - one.times || one.what.localeCompare(other.what))
    .map(({ what, times, bytes }) => `| ${where} | ${what} | ${times.toFixed(1)} | ${bytes || ""} |\n`);

const folder = await mkdtemp(join(tmpdir(), "nodeloom-cost-"));
const servers = await startServers(folder);
const target = await serve((_request, response) => {
  const atMs = nowMs();
  tellAt("Target")({ what: "request", bytes: 0, fromMs: atMs, toMs: atMs });
  response.end("hello");
});
const never = new AbortController().signal;
const platform = await launch(ROOT, never, {
  MONGODB_URI: `mongodb://127.0.0.1:${await readAlong(portOf(servers.mongoUri()), "mongodb", tellAt("MongoDB"))}`,
  REDIS_URL: `redis://127.0.0.1:${await readAlong(portOf(servers.redisUrl()), "redis", tellAt("Redis"))}`,
  TEMPORAL_ADDRESS: `127.0.0.1:${await readCalls(portOf(servers.temporalAddress()), tellAt("Temporal"))}`,
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await readSpans(tellAt("Services"), zipkinSpans)}`,
  // Exports spans early enough to count them with their run.
  OTEL_BSP_SCHEDULE_DELAY: "100",
  TRACES_SHARE: "1",
  EGRESS_ALLOW: target.address,
  PORT: String(await ports.freePort()),
});
const { local } = platform;
const api = createApiClient(local.baseUrl, keyOf(local, "enterprise"), never);
const connection = await Connection.connect({ address: servers.temporalAddress() });

/** @param {string} slug @param {string} mode */
const runOnce = async (slug, mode) => {
  if (mode === "sync") return api.expect(200, "POST", `/api/workflows/${slug}/run`, { inputs: {} });
  await waitForAll(api, [await submit(api, slug)], "completed");
};

/** Number of log lines so far. */
const loggedLines = async () => {
  const files = (await readdir(LOG_DIR)).filter((name) => name.endsWith(".log") && !SERVERS.has(name));
  const texts = await Promise.all(files.map((name) => readFile(join(LOG_DIR, name), "utf8")));
  return texts.reduce((lines, text) => lines + text.split("\n").length - 1, 0);
};

/** Prints the exchanges of the fastest run. @param {string} slug @param {string} mode */
const printMoments = async (slug, mode) => {
  take();
  const runs = [];
  for (let run = 0; run < RUNS; run += 1) {
    const fromMs = nowMs();
    await runOnce(slug, mode);
    runs.push({ fromMs, tookMs: nowMs() - fromMs });
    await delay(APART_MS);
  }
  await delay(AFTER_MS);
  const [fastest] = runs.sort((one, other) => one.tookMs - other.tookMs);
  if (!fastest) return;
  const { fromMs, tookMs } = fastest;
  const moments = take().filter((one) => one.fromMs >= fromMs && one.fromMs < fromMs + tookMs + APART_MS / 2);
  process.stdout.write(`\nThe fastest run, ${tookMs.toFixed(1)} ms:\n\n| ms | took | where | what |\n| ---: | ---: | --- | --- |\n`);
  for (const one of moments.sort((a, b) => a.fromMs - b.fromMs))
    process.stdout.write(
      `| ${(one.fromMs - fromMs).toFixed(1)} | ${one.toMs > one.fromMs ? (one.toMs - one.fromMs).toFixed(1) : ""} | ${one.where} | ${one.what} |\n`,
    );
};

/** @param {string} slug @returns {Promise<string>} id of its newest run */
const lastRun = async (slug) => {
  const listed = await api.expect(200, "GET", `/api/executions?workflowSlug=${slug}&limit=1`);
  return listed.rows[0].executionId;
};

/** @param {string} executionId @returns {Promise<string>} events of its history */
const historyOf = async (executionId) => {
  const { History } = temporal.api.history.v1;
  try {
    const history = await new Client({ connection }).workflow.getHandle(executionId).fetchHistory();
    const names = history.events.map((/** @type {any} */ { eventType }) => temporal.api.enums.v1.EventType[eventType]);
    const short = names.map((/** @type {string} */ name) => name.replace("EVENT_TYPE_", "").toLowerCase().replaceAll("_", " "));
    return `${short.length} events, ${History.encode(history).finish().length} bytes: ${short.join(", ")}`;
  } catch (error) {
    if (/** @type {any} */ (error).code === NOT_FOUND) return "none: nothing is left to be called";
    throw error;
  }
};

try {
  const admin = createApiClient(local.baseUrl, keyOf(local, "admin"), never);
  const credits = { kind: "topup", amount: CREDITS, note: "cost" };
  await admin.expect(200, "POST", `/api/admin/users/${local.accounts.enterprise.userId}/credits`, credits);
  admin.close();
  for (const { name, workflow, mode } of kindsOf(`${target.url}/`))
    await withWorkflow(api, workflow, async (/** @type {string} */ slug) => {
      for (let run = 0; run < WARM_UP; run += 1) await runOnce(slug, mode);
      await delay(AFTER_MS);
      take();
      const startedAt = performance.now();
      const lines = await loggedLines();
      for (let run = 0; run < RUNS; run += 1) await runOnce(slug, mode);
      await delay(AFTER_MS);
      const tookMs = performance.now() - startedAt;
      const logged = (await loggedLines()) - lines;
      const all = counted(take());
      await delay(tookMs);
      const anyway = counted(take());
      process.stdout.write(
        `\n## ${name}\n\nHistory: ${await historyOf(await lastRun(slug))}\n\n| where | what | times | bytes |\n| --- | --- | ---: | ---: |\n`,
      );
      for (const [where, counts] of all) process.stdout.write(rowsOf(where, counts, anyway.get(where)).join(""));
      process.stdout.write(`| Logs | lines | ${(logged / RUNS).toFixed(1)} | |\n`);
      await printMoments(slug, mode);
    });
} finally {
  api.close();
  await connection.close();
  await platform.stop();
  target.close();
  await servers.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);
