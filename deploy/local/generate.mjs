import { join } from "node:path";
import { build } from "./build.mjs";
import { ROOT } from "./paths.mjs";
import { createProgress } from "./run/progress.mjs";
import { runToEnd } from "./run/to-end.mjs";

/**
 * `npm run generate`: builds, then runs every generator. Commit the generated files with the change that causes them. With `--check`, which
 * `npm test` runs after the build, it writes nothing and lists outdated files.
 * @typedef {object} Generator
 * @property {string} writes description of the files
 * @property {string} script relative to the repository
 */

/** @type {readonly Generator[]} in order of their dependencies */
const GENERATORS = [
  { writes: "types of the TypeScript client", script: "gateway/client/generate.cjs" },
  { writes: "types of the Python client", script: "gateway/python/generate.cjs" },
  { writes: "reference of the TypeScript client", script: "docs/reference/typescript.mjs" },
  { writes: "reference of the Python client", script: "docs/reference/python.py" },
  { writes: "reference of the command line", script: "docs/reference/command-line.mjs" },
  { writes: "table and pages of errors", script: "docs/reference/errors.mjs" },
  { writes: "table of media operations", script: "docs/guide/operations-table.mjs" },
  { writes: "tables of services and variables", script: "docs/operations/service-tables.mjs" },
  { writes: "table of drills", script: "docs/operations/drill-table.mjs" },
  { writes: "docker-compose.yml and its settings", script: "deploy/local/generate/compose.mjs" },
  { writes: "settings and services of the chart", script: "deploy/local/generate/chart.mjs" },
  { writes: "schema of the chart's values", script: "deploy/helm/values-schema.mjs" },
  { writes: "dashboard of the chart", script: "deploy/helm/dashboard.mjs" },
];

const isCheck = process.argv.includes("--check");
const progress = createProgress();

/** @param {Generator} generator */
const run = async ({ writes, script }) => {
  const program = script.endsWith(".py") ? "python3" : process.execPath;
  const env = { ...process.env, ...(isCheck ? { GENERATED: "check" } : {}) };
  const { code, output } = await runToEnd(program, [join(ROOT, script)], { cwd: ROOT, env });
  if (code === 0) return progress.note(isCheck ? "up to date" : "written", writes);
  if (!isCheck) throw new Error(`${script} failed:\n${output}`);
  progress.line(output);
  process.exitCode = 1;
};

try {
  // A new service or protocol file must be wired before the build.
  await run({ writes: "wiring of services", script: "deploy/local/generate/wiring.mjs" });
  await run({ writes: "types of nodes", script: "deploy/local/generate/node-kinds.mjs" });
  if (!isCheck) await build(progress);
  for (const generator of GENERATORS) await run(generator);
} catch (error) {
  progress.fail(error);
  process.exit(1);
}
