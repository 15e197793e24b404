import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { configOf, operationsOf, wayOf } from "./config.mjs";

const HOOKS = fileURLToPath(new URL("hooks.py", import.meta.url));
/** Extra time for schemathesis to finish. */
const MARGIN_MS = 60_000;
const ONCE_SECONDS = 120;
const REQUEST_SECONDS = 30;
/** Phases that every pass must run. */
const PHASES = ["coverage", "fuzzing"];

/**
 * @typedef {object} Pass
 * @property {string} python a Python with schemathesis
 * @property {string} baseUrl
 * @property {any} document the OpenAPI document
 * @property {import("./callers.ts").Caller} caller
 * @property {import("./config.mjs").Way} by
 * @property {ReadonlySet<string>} excluded operation ids
 * @property {number | undefined} seconds duration; undefined until each operation was tried once
 * @property {number} examples generated requests per operation and phase
 * @property {string | undefined} seed
 *
 * @typedef {object} Outcome
 * @property {boolean} passed
 * @property {string} summary
 * @property {string} output complete output of schemathesis
 */

/** @param {Pass} pass @param {string} folder @param {string} report */
const runSchemathesis = async ({ python, baseUrl, seconds, seed }, folder, report) => {
  const args = ["-m", "schemathesis.cli", "--config-file", join(folder, "schemathesis.toml"), "run", `${baseUrl}/api/openapi.json`];
  args.push("--checks", "all", "--workers", "1", "--no-color", "--report-json-path", report);
  args.push("--request-timeout", String(REQUEST_SECONDS));
  if (seconds !== undefined) args.push("--max-time", String(seconds));
  if (seed !== undefined) args.push("--seed", seed);
  const child = spawn(python, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: (seconds ?? ONCE_SECONDS) * 1_000 + MARGIN_MS,
    killSignal: "SIGKILL",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  await once(child, "close");
  return output;
};

/** The seed exceeds JSON's range of exact numbers. @param {string} output */
const seedOf = (output) => /^Seed: (\d+)$/m.exec(output)?.[1] ?? "unknown";

/** @param {any} report @param {number} expected operations @param {string} output */
const judge = ({ exit_code, complete, operations, phases, test_cases, failures }, expected, output) => {
  const missed = PHASES.filter((phase) => phases?.[phase]?.status !== "success");
  const tested = operations?.tested ?? 0;
  const findings = failures.reduce((/** @type {number} */ sum, /** @type {{ count: number }} */ { count }) => sum + count, 0);
  const passed = exit_code === 0 && complete && tested === expected && missed.length === 0;
  const parts = [
    `${tested} of ${expected} operations`,
    `${test_cases.generated} requests`,
    `${findings} findings`,
    `seed ${seedOf(output)}`,
  ];
  if (missed.length > 0) parts.push(`without success: ${missed.join(", ")}`);
  return { passed, summary: parts.join(", ") };
};

/** Runs every operation of one kind as one caller. @param {Pass} pass @returns {Promise<Outcome>} */
export const runPass = async (pass) => {
  const { baseUrl, document, caller, by, excluded, examples } = pass;
  const operationIds = operationsOf(document)
    .filter((operation) => wayOf(operation) === by && !excluded.has(operation.operationId))
    .map(({ operationId }) => operationId);
  const cookie = by === "session" ? caller.cookie : caller.endingCookie;
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-fuzz-"));
  try {
    const settings = {
      baseUrl,
      auth: by === "key" ? { apiKey: caller.key } : { session: cookie.slice(cookie.indexOf("=") + 1) },
      // A short wait, because slow runs aren't the subject. Sessions can write only from their own origin.
      headers: { Prefer: "wait=1", ...(by === "key" ? {} : { Origin: baseUrl }) },
      operationIds,
      known: caller.knownValues,
      maxExamples: examples,
      hooks: HOOKS,
    };
    await writeFile(join(folder, "schemathesis.toml"), configOf(document, settings));
    const path = join(folder, "report.json");
    const output = await runSchemathesis(pass, folder, path);
    const report = await readFile(path, "utf8").then(JSON.parse, () => undefined);
    if (report === undefined) return { passed: false, summary: "schemathesis did not finish", output };
    return { ...judge(report, operationIds.length, output), output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
