import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.mjs";
import { CHECKS, runChecks } from "./checks/checks.mjs";
import { ROOT } from "./paths.mjs";
import { createProgress } from "./run/progress.mjs";
import { runToEnd } from "./run/to-end.mjs";
import { startTestServers, stopTestServers } from "./servers/test-servers.mjs";

/**
 * `npm test`: runs all checks and tests on a machine with Node and npm, and the requirements of the local servers. With arguments, only
 * jest runs, with these arguments.
 *
 * Most suites run two at a time, in parallel with the checks. Suites that start whole platforms follow without the checks, because each
 * uses half of a small machine.
 */

/** @typedef {import("./checks/checks.mjs").Counts} Counts */

const WHOLE_PLATFORMS = "gateway/test/(e2e|conformance|abuse)/";
const AT_ONCE = 2;

/** @param {readonly string[]} args @returns {Promise<Counts>} */
const runJest = async (args) => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-jest-"));
  const report = join(folder, "report.json");
  const jest = join(ROOT, "node_modules", "jest", "bin", "jest.js");
  const { code } = await runToEnd(process.execPath, [jest, "--json", `--outputFile=${report}`, ...args], { cwd: ROOT, inherit: true });
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(report, "utf8"));
  await rm(folder, { recursive: true });
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  // Jest can fail without a failing test, for example in its set-up.
  return { passed: numPassedTests, failed: code !== 0 && failed === 0 ? 1 : failed };
};

/** @param {import("./run/progress.mjs").Progress} progress @returns {Promise<Counts[]>} */
const runEverything = async (progress) => {
  // Both rounds use one set of servers through the environment.
  await startTestServers();
  try {
    const others = runJest([`^(?!.*${WHOLE_PLATFORMS})`, `--maxWorkers=${AT_ONCE}`]);
    const [checks, small] = await Promise.all([runChecks(CHECKS, progress), others]);
    return [checks, small, await runJest([WHOLE_PLATFORMS, `--maxWorkers=${AT_ONCE}`])];
  } finally {
    await stopTestServers();
  }
};

const progress = createProgress();
const args = process.argv.slice(2);
try {
  await build(progress);
  const counts = args.length === 0 ? await runEverything(progress) : [await runJest(args)];
  const sum = (/** @type {keyof Counts} */ which) => counts.reduce((total, each) => total + each[which], 0);
  process.stdout.write(`\n${sum("passed")} passed, ${sum("failed")} failed\n`);
  process.exitCode = sum("failed") === 0 && counts.every(({ passed }) => passed > 0) ? 0 : 1;
} catch (error) {
  progress.fail(error);
  process.stdout.write("\n0 passed, 1 failed\n");
  process.exitCode = 1;
}
