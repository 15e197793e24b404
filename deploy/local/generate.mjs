import { join } from "node:path";
import { build } from "./build.mjs";
import { ROOT } from "./paths.mjs";
import { createProgress } from "./run/progress.mjs";
import { runToEnd } from "./run/to-end.mjs";

/**
 * `npm run generate`: builds, then runs every generator. Commit its files with the change that causes them; a test of each one compares them.
 *
 * @typedef {object} Generator
 * @property {string} writes the files, in words
 * @property {string} script relative to the repository
 */

/** @type {readonly Generator[]} in the order in which they depend on each other */
const GENERATORS = [
  { writes: "types of the TypeScript client", script: "gateway/client/generate.cjs" },
  { writes: "types of the Python client", script: "gateway/python/generate.cjs" },
  { writes: "reference of the TypeScript client", script: "docs/reference/typescript.mjs" },
  { writes: "reference of the Python client", script: "docs/reference/python.py" },
  { writes: "table and pages of errors", script: "docs/reference/errors.mjs" },
  { writes: "table of media operations", script: "docs/guide/operations-table.mjs" },
  { writes: "tables of environment variables", script: "docs/operations/environment-table.mjs" },
  { writes: "schema of the chart's values", script: "deploy/helm/values-schema.mjs" },
  { writes: "dashboard of the chart", script: "deploy/helm/dashboard.mjs" },
];

/** @param {Generator} generator */
const run = async ({ writes, script }) => {
  const program = script.endsWith(".py") ? "python3" : process.execPath;
  const { code, output } = await runToEnd(program, [join(ROOT, script)], { cwd: ROOT });
  if (code !== 0) throw new Error(`${script} failed:\n${output}`);
  progress.note("written", writes);
};

const progress = createProgress();
try {
  // A new service or a new file of the protocol must be wired before it can be built.
  await run({ writes: "wiring of services", script: "deploy/local/generate/wiring.mjs" });
  await build(progress);
  for (const generator of GENERATORS) await run(generator);
} catch (error) {
  progress.fail(error);
  process.exit(1);
}
