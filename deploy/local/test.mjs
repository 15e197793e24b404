import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.mjs";
import { ROOT } from "./paths.mjs";
import { createProgress } from "./progress.mjs";

/**
 * `npm test`: everything that must hold, on a machine that has nothing but Node and npm (and what the local servers
 * need). Arguments are passed on to jest, whose checks then run alone.
 */

const bin = (/** @type {string} */ name) => join(ROOT, "node_modules", ".bin", name);

/**
 * @param {string} command @param {string[]} args @param {{ cwd?: string, inherit?: boolean }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
const run = (command, args, { cwd = ROOT, inherit = false } = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", inherit ? "inherit" : "pipe", inherit ? "inherit" : "pipe"] });
    /** @type {Buffer[]} */
    const output = [];
    child.stdout?.on("data", (chunk) => output.push(chunk));
    child.stderr?.on("data", (chunk) => output.push(chunk));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(output).toString("utf8") }));
  });

/** What is checked besides the tests, each a line of the report. */
const CHECKS = [
  { name: "types", command: bin("tsc"), args: ["-b"] },
  { name: "launcher types", command: bin("tsc"), args: ["-p", "deploy/local"] },
  { name: "lint and boundaries", command: bin("eslint"), args: ["."] },
  { name: "formatting", command: bin("prettier"), args: ["--check", "--log-level", "warn", "."] },
  { name: "protocol style", command: bin("buf"), args: ["lint"], cwd: join(ROOT, "proto") },
  { name: "protocol compatibility", command: bin("buf"), args: ["breaking", "--against", "released.binpb"], cwd: join(ROOT, "proto") },
];

/** @param {import("./progress.mjs").Progress} progress */
const runChecks = async (progress) => {
  let failed = 0;
  for (const { name, command, args, cwd } of CHECKS) {
    const { code, output } = await run(command, args, cwd === undefined ? {} : { cwd });
    if (code === 0) {
      progress.note("passed", name);
      continue;
    }
    failed += 1;
    progress.note("FAILED", name);
    process.stdout.write(`${output}\n`);
  }
  return { passed: CHECKS.length - failed, failed };
};

/** @param {string[]} args */
const runJest = async (args) => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-jest-"));
  const report = join(folder, "report.json");
  const { code } = await run(process.execPath, [bin("jest"), "--json", `--outputFile=${report}`, ...args], { inherit: true });
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
  const checks = args.length === 0 ? await runChecks(progress) : { passed: 0, failed: 0 };
  const tests = await runJest(args);
  const failed = checks.failed + tests.failed;
  process.stdout.write(`\n${checks.passed + tests.passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 && tests.passed > 0 ? 0 : 1;
} catch (error) {
  progress.fail(error);
  process.stdout.write("\n0 passed, 1 failed\n");
  process.exitCode = 1;
}
