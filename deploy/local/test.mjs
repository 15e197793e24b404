import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.mjs";
import { CHECKS, runChecks } from "./checks/checks.mjs";
import { ROOT } from "./paths.mjs";
import { createProgress } from "./run/progress.mjs";
import { runToEnd } from "./run/to-end.mjs";

/**
 * `npm test`: everything that must hold, on a machine that has nothing but Node and npm (and what the local servers
 * need). Arguments are passed on to jest, whose tests then run alone.
 *
 * Suites run beside the checks, one more at a time than a small machine has cores: half of them mostly wait for servers.
 */

/** @typedef {import("./checks/checks.mjs").Counts} Counts */

const AT_ONCE = 3;

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
  // Jest may also fail for a reason that no test shows, such as a broken set-up.
  return { passed: numPassedTests, failed: code !== 0 && failed === 0 ? 1 : failed };
};

const progress = createProgress();
const args = process.argv.slice(2);
try {
  await build(progress);
  const counts =
    args.length === 0 ? await Promise.all([runChecks(CHECKS, progress), runJest([`--maxWorkers=${AT_ONCE}`])]) : [await runJest(args)];
  const sum = (/** @type {keyof Counts} */ which) => counts.reduce((total, each) => total + each[which], 0);
  process.stdout.write(`\n${sum("passed")} passed, ${sum("failed")} failed\n`);
  process.exitCode = sum("failed") === 0 && counts.every(({ passed }) => passed > 0) ? 0 : 1;
} catch (error) {
  progress.fail(error);
  process.stdout.write("\n0 passed, 1 failed\n");
  process.exitCode = 1;
}
