/** `npm run drill`: lists the drills. `npm run drill -- <name> [options]`: runs one and returns its exit code. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "../local/build.mjs";
import { ROOT } from "../local/paths.mjs";
import { createProgress } from "../local/run/progress.mjs";
import { DRILLS, nearest } from "./table.mjs";

/** @typedef {import("./table.mjs").Drill} Drill */

const HERE = fileURLToPath(new URL(".", import.meta.url));
const TYPESCRIPT = join(HERE, "support", "typescript.cjs");
const JEST = join(ROOT, "node_modules", "jest", "bin", "jest.js");
const USAGE_EXIT_CODE = 2;
const NAME_WIDTH = 14;

/** Node's arguments by kind of drill. @type {Record<Drill["kind"], (name: string) => string[]>} */
const ARGUMENTS = {
  program: (name) => [join(HERE, name, "run.mjs")],
  typescript: (name) => ["--require", TYPESCRIPT, join(HERE, name, "run.ts")],
  suites: (name) => [JEST, `--testMatch=<rootDir>/deploy/drills/${name}/**/*.test.ts`, "--runInBand"],
};

const list = () => {
  const rows = DRILLS.map(({ name, minutes, sentence }) => `  ${name.padEnd(NAME_WIDTH)} ${`${minutes} min`.padStart(6)}   ${sentence}\n`);
  process.stdout.write(`npm run drill -- <name> [options]\n\n${rows.join("")}`);
};

/**
 * Runs a drill to its end. Ctrl-C reaches the drill directly; a SIGTERM is forwarded. @param {string[]} args @returns {Promise<number>} its
 * exit code
 */
const runToExit = (args) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
    process.on("SIGINT", () => {});
    process.on("SIGTERM", () => child.kill("SIGTERM"));
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });

const [name, ...options] = process.argv.slice(2);
const drill = DRILLS.find((one) => one.name === name);
if (name === undefined) {
  list();
} else if (drill === undefined) {
  process.stderr.write(`there is no drill ${name}; the nearest is: npm run drill -- ${nearest(name)}\n`);
  process.exitCode = USAGE_EXIT_CODE;
} else {
  const progress = createProgress();
  try {
    if (drill.builds) await build(progress);
    process.exitCode = await runToExit([...ARGUMENTS[drill.kind](drill.name), ...options]);
  } catch (error) {
    progress.fail(error);
    process.exitCode = 1;
  }
}
