import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { filesBelow, hashFiles } from "../run/files.mjs";
import { ROOT } from "../paths.mjs";
import { exists } from "../servers/programs/cache.mjs";
import { runCommand } from "../run/child.mjs";
import { readStamps, writeStamp } from "./stamps.mjs";

const EXECUTIONS = join(ROOT, "services", "executions");
const BUNDLE = join(EXECUTIONS, "dist", "workflow-bundle.js");
const BUNDLER = join(EXECUTIONS, "dist", "carry", "bundle.js");
const STEP = "workflow-bundle";

/** Relative imports of values; types don't reach the bundle. */
const IMPORT = /(?:^|\n)\s*(?:import|export)\s+(?!type\b)[^;]*?from\s+"(\.[^"]+)"/g;

/** The workflow code and every file of the service it imports, however indirectly. */
const workflowSources = async () => {
  const pending = await filesBelow(join(EXECUTIONS, "src", "carry", "workflows"));
  pending.push(...["bundle.ts", "payloads/converter.ts"].map((name) => join(EXECUTIONS, "src", "carry", name)));
  const found = new Set();
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    for (const [, specifier] of (await readFile(path, "utf8")).matchAll(IMPORT)) {
      const target = resolve(dirname(path), /** @type {string} */ (specifier));
      for (const candidate of [`${target}.ts`, join(target, "index.ts")]) if (await exists(candidate)) pending.push(candidate);
    }
  }
  return [...found].sort();
};

/**
 * Bundles the Temporal workflow code, so that workers don't have to at every start.
 * @returns {Promise<boolean>} whether anything had changed
 */
export const bundleWorkflows = async () => {
  if (!(await exists(BUNDLER))) return false;
  const kernel = await filesBelow(join(ROOT, "services", "kernel", "src"));
  const hash = await hashFiles([...(await workflowSources()), ...kernel, join(ROOT, "package-lock.json")]);
  if ((await readStamps())[STEP] === hash && (await exists(BUNDLE))) return false;
  const { ok, tail } = await runCommand(process.execPath, [BUNDLER], { cwd: EXECUTIONS });
  if (!ok) throw new Error(`the workflow bundle could not be made:\n${tail}`);
  await writeStamp(STEP, hash);
  return true;
};
