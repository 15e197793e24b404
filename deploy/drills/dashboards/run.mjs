/**
 * `npm run drill dashboards`: runs promtool's tests of every alert. Then a real Prometheus scrapes a platform under load for some minutes,
 * during which billing is unavailable for a while. Every panel of the chart's dashboard must have data, every rule must evaluate without an
 * error, and unrelated alerts must not fire. A picture of the dashboard with Prometheus's data is stored in .nodeloom/dashboard.png. Linux
 * only. The drill affects only processes that it started.
 */
import { execFileSync } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createApi } from "../support/api.mjs";
import { node } from "../support/graph.mjs";
import { createReceiver } from "../support/receiver.mjs";
import { ROOT, STATE_DIR } from "../../local/paths.mjs";
import { startCluster } from "../cluster/cluster.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { opsUrl } from "../cluster/services.mjs";
import { createLoad } from "../restore/load.mjs";
import { linesOf, page } from "./drawing.mjs";
import { checkRules, startPrometheus } from "./prometheus.mjs";

export const DRILL = {
  sentence: "lets a real Prometheus read a platform, and draws the chart's dashboard from its data",
  minutes: 7,
  builds: true,
};

const WATCHED_MS = Number(process.env.DASHBOARD_MS ?? 300_000);
const AWAY_MS = 20_000;
const EVERY_SECONDS = 5;
const PAUSE_MS = 1_500;
const CHART = join(ROOT, "deploy", "helm", "nodeloom", "files");
/** Alerts about faults that the drill doesn't cause. */
const QUIET = ["NodeloomProcessDown", "NodeloomProviderAway", "NodeloomWebhooksLate", "NodeloomWebhooksGivenUp"];
const VIEW = { width: 1_510, height: 900 };

/** @typedef {Awaited<ReturnType<typeof startCluster>>} Cluster */

/**
 * Adds kinds of load that `createLoad` lacks: failing runs, calls to users' servers, and reads.
 * @param {{ cluster: Cluster, key: string, url: string }} options
 */
const keepAsking = ({ cluster, key, url }) => {
  const graph = {
    name: "Watched",
    nodes: [node("fetch", "http-request", { method: "GET", url }), node("out", "response-output")],
    edges: [{ id: "e", source: "fetch", sourceHandle: "status", target: "out", targetHandle: "status" }],
  };
  /** @param {string} method @param {string} path @param {unknown} [body] */
  const ask = async (method, path, body) => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const response = await fetch(cluster.baseUrl + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return /** @type {any} */ (await response.json());
  };
  const failing = { inputs: { prompt: "a loom", seconds: 1, sandbox: { fail: "job", latencyMs: 500 } } };
  let isOver = false;
  const loop = async () => {
    const { slug } = await ask("POST", "/api/workflows", graph);
    for (; !isOver; await delay(PAUSE_MS)) {
      // Some requests fail while billing is unavailable, which is part of the test.
      const requests = [
        ask("GET", "/api/executions?limit=5"),
        ask("GET", "/api/usage?limit=5"),
        ask("POST", `/api/workflows/${slug}/run`, { inputs: {} }),
        ask("POST", "/api/models/sandbox-video/run?async=true", failing),
      ];
      await Promise.allSettled(requests);
    }
  };
  const looping = loop();
  return async () => {
    isOver = true;
    await looping;
  };
};

/** @param {string} html @param {string} file */
const takePicture = async (html, file) => {
  const { chromium } = createRequire(join(ROOT, "gateway", "console", "package.json"))("playwright-core");
  const helper = join(ROOT, "gateway", "test", "e2e", "support", "chromium.mjs");
  const executablePath = process.env.CHROMIUM_PATH ?? execFileSync(process.execPath, [helper], { encoding: "utf8" });
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--headless=shell", "--disable-gpu", "--no-zygote"] });
  const tab = await browser.newPage({ viewport: VIEW });
  await tab.setContent(html);
  await tab.screenshot({ path: file, fullPage: true });
  await browser.close();
};

/** @typedef {import("./prometheus.mjs").Prometheus} Prometheus */

/** Data of every panel. @param {Prometheus} prometheus @param {{ from: number, to: number }} span */
const readPanels = async (prometheus, span) => {
  /** @type {{ panels: import("./drawing.mjs").Panel[] }} */
  const { panels } = JSON.parse(await readFile(join(CHART, "dashboards", "nodeloom.json"), "utf8"));
  return Promise.all(
    panels.map(async (panel) => {
      const queries = (panel.targets ?? []).map(async ({ expr, legendFormat }) =>
        linesOf(legendFormat, await prometheus.range(expr, { ...span, stepSeconds: EVERY_SECONDS })),
      );
      const ofEach = await Promise.all(queries);
      return { panel, lines: ofEach.flat(), isWhole: ofEach.every((lines) => lines.length > 0) };
    }),
  );
};

/** @param {Awaited<ReturnType<typeof readPanels>>} panelLines @returns {import("../support/run-drill.mjs").Check} */
const panelsCheck = (panelLines) => {
  const panels = panelLines.filter(({ panel }) => panel.type !== "row");
  const empty = panels.filter(({ isWhole }) => !isWhole).map(({ panel }) => panel.title);
  return ["every query of every panel has data", empty.length === 0, `${panels.length} panels; without: ${empty.join(", ") || "none"}`];
};

/** @param {Prometheus} prometheus @returns {Promise<import("../support/run-drill.mjs").Check[]>} */
const rulesChecks = async (prometheus) => {
  const rules = await prometheus.rules();
  const broken = rules.filter(({ health }) => health !== "ok").map(({ name, lastError }) => `${name}: ${lastError ?? "not evaluated"}`);
  const recorded = rules.filter(({ type }) => type === "recording");
  const without = [];
  for (const { name } of recorded) if ((await prometheus.now(name)).length === 0) without.push(name);
  const stirred = rules.filter(({ type, state }) => type === "alerting" && state !== "inactive");
  const loud = stirred.filter(({ name }) => QUIET.includes(name)).map(({ name }) => name);
  const states = stirred.map(({ name, state }) => `${name} ${state}`).join(", ") || "none";
  return [
    ["every rule is evaluated", broken.length === 0, `${rules.length} rules; ${broken.join("; ") || "no error"}`],
    ["every ratio that is recorded has a value", without.length === 0, `${recorded.length}; without: ${without.join(", ") || "none"}`],
    ["alerts about what was not done are quiet", loud.length === 0, `stirred: ${states}`],
  ];
};

await runDrill("dashboards", async ({ say, check, atEnd }) => {
  const rules = join(CHART, "alerts.yaml");
  await checkRules({ rules, tests: join(ROOT, "deploy", "helm", "test", "alerts.yaml") });
  say("every alert fires and keeps still when it should");
  const receiver = await createReceiver();
  atEnd(() => receiver.close());
  const cluster = await startCluster({ replicas: 1, env: { USER_EGRESS_ALLOW: receiver.address }, say });
  atEnd(cluster.stop);
  const targets = cluster.replicas.map(({ service, ip }) => ({ component: service, address: new URL(opsUrl(ip)).host }));
  const prometheus = await startPrometheus({ folder: join(cluster.folder, "prometheus"), rules, everySeconds: EVERY_SECONDS, targets });
  atEnd(prometheus.stop);
  const api = createApi(() => cluster.baseUrl);
  const { key } = await api.enterprise(cluster.accounts, receiver.url);
  const from = Date.now() / 1_000;
  const load = createLoad({ api, key });
  const endAsking = keepAsking({ cluster, key, url: receiver.url });
  await delay(WATCHED_MS / 2);
  const billing = cluster.of("billing");
  await Promise.all(billing.map((replica) => replica.kill()));
  say("billing is away");
  await delay(AWAY_MS);
  await Promise.all(billing.map((replica) => replica.start()));
  await cluster.endpoints.look();
  say("billing is back");
  await delay(WATCHED_MS / 2 - AWAY_MS);
  await Promise.all([load.end(), endAsking()]);

  const span = { from, to: Date.now() / 1_000 };
  const panelLines = await readPanels(prometheus, span);
  check(panelsCheck(panelLines), ...(await rulesChecks(prometheus)));
  await mkdir(STATE_DIR, { recursive: true });
  const file = join(STATE_DIR, "dashboard.png");
  await takePicture(page(panelLines, span), file);
  say(`picture: ${file}`);
});
