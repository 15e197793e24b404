import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire, SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import ports from "../../local/servers/ports.cjs";
import { ROOT } from "../../local/paths.mjs";
import { serve } from "../support/serve.mjs";

const bench = createRequire(new URL("../../bench/package.json", import.meta.url));
const { createApiClient } = bench("./dist/http.js");
const { httpWorkflow } = bench("./dist/graphs.js");
const { keyOf, launch } = bench("./dist/platform.js");
const { withWorkflow } = bench("./dist/workflow.js");

const PROBE = fileURLToPath(new URL("probe.cjs", import.meta.url));
const EXECUTIONS = join(ROOT, "services", "executions");
const BUNDLE = join(EXECUTIONS, "dist", "workflow-bundle.js");
const WARM_UP = 20;
const RUNS = 5;
/** Number of windows without a run, the same as with one, to recognise background work. */
const IDLE = 5;
/** Work after the response takes less than this. */
const AFTER_MS = 2_000;

/** @typedef {Map<string, number>} Counts number of calls by file and function */

/** Source map of the workflow bundle. */
const readBundle = async () => {
  const text = await readFile(BUNDLE, "utf8");
  const [, encoded = ""] = /sourceMappingURL=data:application\/json;[^,]*base64,(\S+)/.exec(text) ?? [];
  const map = new SourceMap(JSON.parse(Buffer.from(encoded, "base64").toString("utf8")));
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  /** @param {number} offset @returns {string} path of the source, as named by the bundler */
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    const entry = map.findEntry(line, offset - Number(starts[line]));
    return "originalSource" in entry ? entry.originalSource : "";
  };
};

/** Source file of a build path; undefined for other packages. @param {string} path */
const sourceOf = (path) => /services\/executions\/(?:src|dist)\/(.+)\.[jt]s$/.exec(path)?.[1]?.concat(".ts");

/** @param {string} address @param {(offset: number) => string} inBundle @returns {Promise<Counts>} */
const takeCounts = async (address, inBundle) => {
  const scripts = /** @type {import("./probe.cjs").Script[]} */ (await (await fetch(`http://${address}/`)).json());
  /** @type {Counts} */
  const counts = new Map();
  for (const { url, functions } of scripts)
    for (const { name, offset, count } of functions) {
      const file = sourceOf(url.includes("workflow-bundle") ? inBundle(offset) : url);
      if (file === undefined) continue;
      const place = `${file} ${name} ${offset}`;
      counts.set(place, (counts.get(place) ?? 0) + count);
    }
  return counts;
};

/** Calls made in each window with a run, if no idle window has as many. @param {Counts[]} runs @param {Counts[]} idle */
const ofRuns = (runs, idle) => {
  const places = [...(runs[0]?.keys() ?? [])];
  const times = (/** @type {Counts[]} */ windows, /** @type {string} */ place) => windows.map((counts) => counts.get(place) ?? 0);
  return places.filter((place) => Math.min(...times(runs, place)) > Math.max(...times(idle, place)));
};

/** Files of executions entered by one synchronous run of an HTTP node on a warm platform. @returns {Promise<string[]>} paths below src */
export const visitedByHttpRun = async () => {
  const target = await serve((_request, response) => void response.end("hello"));
  const probe = `127.0.0.1:${await ports.freePort()}`;
  const state = await mkdtemp(join(tmpdir(), "nodeloom-size-"));
  const platform = await launch(ROOT, new AbortController().signal, {
    NODELOOM_STATE_DIR: state,
    NODELOOM_HOSTING: "separate",
    NODELOOM_PROBE: probe,
    NODE_OPTIONS: `--require ${PROBE}`,
    EGRESS_ALLOW: target.address,
    PORT: String(await ports.freePort()),
  });
  const api = createApiClient(platform.local.baseUrl, keyOf(platform.local, "enterprise"), new AbortController().signal);
  try {
    return await withWorkflow(api, httpWorkflow(`${target.url}/`), async (/** @type {string} */ slug) => {
      const inBundle = await readBundle();
      const run = () => api.expect(200, "POST", `/api/workflows/${slug}/run`, { inputs: {} });
      for (let passCount = 0; passCount < WARM_UP; passCount += 1) await run();
      /** Calls during the work and shortly after. @param {() => Promise<unknown>} work */
      const window = async (work) => {
        await takeCounts(probe, inBundle);
        await work();
        await delay(AFTER_MS);
        return takeCounts(probe, inBundle);
      };
      const [idle, runs] = [/** @type {Counts[]} */ ([]), /** @type {Counts[]} */ ([])];
      await delay(AFTER_MS);
      for (let windowCount = 0; windowCount < IDLE; windowCount += 1) idle.push(await window(async () => {}));
      for (let runCount = 0; runCount < RUNS; runCount += 1) runs.push(await window(run));
      return [...new Set(ofRuns(runs, idle).map((place) => place.split(" ", 1)[0] ?? ""))].sort();
    });
  } finally {
    api.close();
    await platform.stop();
    target.close();
    await rm(state, { recursive: true, force: true });
  }
};
