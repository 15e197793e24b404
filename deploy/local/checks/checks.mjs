import { join } from "node:path";
import { ROOT } from "../paths.mjs";
import { runToEnd } from "../run/to-end.mjs";

/**
 * @typedef {object} Check
 * @property {string} name
 * @property {string} command
 * @property {string[]} args
 * @property {string} [cwd] the repository by default
 * @property {NodeJS.ProcessEnv} [env] additional variables
 *
 * @typedef {{ passed: number, failed: number }} Counts
 */

const bin = (/** @type {string} */ name) => join(ROOT, "node_modules", ".bin", name);
/**
 * Runs a compiler, whose objects are mostly long-lived. V8's default young generation would copy them repeatedly.
 * @param {string} name @param {...string} args
 */
const compiler = (name, ...args) => ({ command: process.execPath, args: ["--max-semi-space-size=64", bin(name), ...args] });

/** @type {readonly Check[]} Checks besides the tests, each with a line in the report; the longest first. */
export const CHECKS = [
  // One thread infers all types. Several threads would each infer the types that their files share.
  { name: "lint and types", command: bin("oxlint"), args: ["--type-check"], env: { GOMAXPROCS: "1", GOGC: "400", GOMEMLIMIT: "4GiB" } },
  // The lint skips generated code.
  { name: "protocol types", ...compiler("tsc", "-p", "proto", "--noEmit") },
  { name: "boundaries", command: process.execPath, args: ["--single-threaded-gc", bin("eslint"), "."] },
  {
    name: "no circles among files",
    command: bin("depcruise"),
    args: ["--no-progress", "--output-type", "err", "gateway", "services", "proto/src", "deploy"],
  },
  { name: "imports between floors", command: process.execPath, args: [join(ROOT, "deploy", "local", "checks", "imports.mjs")] },
  { name: "formatting", command: bin("prettier"), args: ["--check", "--log-level", "warn", "."] },
  { name: "words of the documentation", command: process.execPath, args: [join(ROOT, "deploy", "local", "checks", "words.mjs")] },
  { name: "notice of licences", command: process.execPath, args: [join(ROOT, "deploy", "local", "checks", "notice.mjs")] },
  { name: "generated files", command: process.execPath, args: [join(ROOT, "deploy", "local", "generate.mjs"), "--check"] },
  { name: "launcher types", ...compiler("tsc", "-p", "deploy/local") },
  { name: "the Python client", command: process.execPath, args: [join(ROOT, "gateway", "python", "test.mjs")] },
  { name: "protocol style", command: bin("buf"), args: ["lint"], cwd: join(ROOT, "proto") },
  { name: "protocol compatibility", command: bin("buf"), args: ["breaking", "--against", "released.binpb"], cwd: join(ROOT, "proto") },
];

/**
 * Runs checks one after another and prints the output of failing ones.
 * @param {readonly Check[]} checks
 * @param {Pick<import("../run/progress.mjs").Progress, "note" | "line">} progress
 * @returns {Promise<Counts>}
 */
export const runChecks = async (checks, progress) => {
  let failed = 0;
  for (const { name, command, args, cwd = ROOT, env } of checks) {
    const { code, output } = await runToEnd(command, args, { cwd, env: { ...process.env, ...env } });
    progress.note(code === 0 ? "passed" : "FAILED", name);
    if (code === 0) continue;
    failed += 1;
    progress.line(output);
  }
  return { passed: checks.length - failed, failed };
};
