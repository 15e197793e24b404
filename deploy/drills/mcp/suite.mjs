import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs the protocol's conformance suite and compares its results with the scenarios that don't apply. */

const SUITE_MS = 240_000;

const ASKS_CLIENT = "asks the client during a call. Any gateway can get the client's answer, and none stores calls (ADR 24)";
const NO_LOGS = "Nodeloom sends no log messages to clients";
const NO_SUBSCRIPTIONS = "resources are pages and schemas of a release: they don't change, and there is nothing to subscribe to";

/** Scenarios that must fail, with the reason. @type {Readonly<Record<string, string>>} */
export const NOT_APPLICABLE = {
  "tools-call-sampling": ASKS_CLIENT,
  "tools-call-elicitation": ASKS_CLIENT,
  "elicitation-sep1034-defaults": ASKS_CLIENT,
  "elicitation-sep1330-enums": ASKS_CLIENT,
  "logging-set-level": NO_LOGS,
  "tools-call-with-logging": NO_LOGS,
  "resources-subscribe": NO_SUBSCRIPTIONS,
  "resources-unsubscribe": NO_SUBSCRIPTIONS,
  "server-sse-polling": "closes a stream that the client resumes. Clients of Nodeloom poll `get_execution` instead",
};

/** Results by scenario: the folder is `server-<scenario>-<time>`. @param {string} folder */
const readResults = (folder) =>
  new Map(
    readdirSync(folder).map((name) => {
      const scenario = /^server-(.+?)-\d{4}-\d\d-\d\dT/.exec(name)?.[1] ?? name;
      /** @type {{ status: string, errorMessage?: string, name: string }[]} */
      const checks = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8"));
      const failed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
      const passes = failed.length === 0 && checks.some(({ status }) => status === "SUCCESS");
      return [scenario, { passes, detail: failed.map(({ name: check, errorMessage = "" }) => `${check}: ${errorMessage}`).join("; ") }];
    }),
  );

/**
 * @param {{ node: string, packages: string, url: string }} options
 * @returns {Promise<Map<string, { passes: boolean, detail: string }>>} results by scenario
 */
export const runSuite = async ({ node, packages, url }) => {
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-mcp-suite-"));
  try {
    const program = join(packages, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js");
    const child = spawn(node, [program, "server", "--url", url, "--suite", "all", "--output-dir", folder], {
      stdio: ["ignore", "ignore", "inherit"],
      timeout: SUITE_MS,
    });
    await once(child, "close");
    return readResults(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
