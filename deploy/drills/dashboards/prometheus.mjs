import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startChild } from "../../local/run/child.mjs";
import { findOnPath } from "../../local/servers/programs/cache.mjs";
import { Unavailable } from "../../local/servers/programs/packages.mjs";
import ports from "../../local/servers/ports.cjs";
import { answersHttp, waitUntil } from "../../local/servers/probe.mjs";

const READY_MS = 60_000;
const QUERY_MS = 20_000;
const RULES_MS = 60_000;

/**
 * A series as Prometheus returns it: seconds since the epoch, and the value as text.
 * @typedef {{ metric: Record<string, string>, values: [number, string][] }} Series
 * @typedef {{ name: string, type: "alerting" | "recording", health: string, lastError?: string, state?: string, query: string }} Rule
 * @typedef {Awaited<ReturnType<typeof startPrometheus>>} Prometheus
 */

/** @param {string} name a program of Debian's package `prometheus` */
const programOf = async (name) => {
  const program = await findOnPath(process.env, name);
  if (program === undefined) throw new Unavailable(`${name} is not on PATH (Debian: prometheus)`);
  return program;
};

/**
 * Checks rules with promtool and runs their tests, which define when each alert fires.
 * @param {{ rules: string, tests: string }} files
 */
export const checkRules = async ({ rules, tests }) => {
  const promtool = await programOf("promtool");
  for (const args of [
    ["check", "rules", rules],
    ["test", "rules", tests],
  ])
    await promisify(execFile)(promtool, args, { timeout: RULES_MS });
};

/**
 * A local Prometheus (Debian's `prometheus`) that scrapes metrics and evaluates rules.
 * @param {{ folder: string, rules: string, everySeconds: number, targets: { component: string, address: string }[] }} options `component`
 *   as in the chart's ServiceMonitor
 */
export const startPrometheus = async ({ folder, rules, everySeconds, targets }) => {
  const program = await programOf("prometheus");
  const port = await ports.freePort();
  const config = {
    global: { scrape_interval: `${everySeconds}s`, evaluation_interval: `${everySeconds}s` },
    rule_files: [rules],
    scrape_configs: [
      { job_name: "nodeloom", static_configs: targets.map(({ component, address }) => ({ targets: [address], labels: { component } })) },
    ],
  };
  await mkdir(folder, { recursive: true });
  // JSON is valid YAML.
  await writeFile(join(folder, "prometheus.yml"), JSON.stringify(config));
  const args = [`--config.file=${join(folder, "prometheus.yml")}`, `--storage.tsdb.path=${join(folder, "data")}`];
  const child = await startChild({ command: program, args: [...args, `--web.listen-address=127.0.0.1:${port}`, "--log.level=warn"] });
  const url = `http://127.0.0.1:${port}`;
  if (!(await waitUntil(() => answersHttp(`${url}/-/ready`), { deadlineMs: READY_MS }))) throw new Error(`no Prometheus: ${child.tail()}`);
  /** @param {string} path @param {Record<string, string>} query */
  const ask = async (path, query = {}) => {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(query)}`, { signal: AbortSignal.timeout(QUERY_MS) });
    const { status, error, data } = /** @type {any} */ (await response.json());
    if (status !== "success") throw new Error(`${error}: ${query.query ?? path}`);
    return data;
  };
  return {
    /** @param {string} query @param {{ from: number, to: number, stepSeconds: number }} span in seconds since the epoch @returns {Promise<Series[]>} */
    range: async (query, { from, to, stepSeconds }) =>
      (await ask("query_range", { query, start: String(from), end: String(to), step: String(stepSeconds) })).result,
    /** @param {string} query @returns {Promise<{ metric: Record<string, string>, value: [number, string] }[]>} values at this moment */
    now: async (query) => (await ask("query", { query })).result,
    /** @returns {Promise<Rule[]>} */
    rules: async () => (await ask("rules")).groups.flatMap((/** @type {{ rules: Rule[] }} */ group) => group.rules),
    stop: () => child.stop(),
  };
};
