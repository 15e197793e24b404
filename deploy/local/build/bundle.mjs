import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { SERVICES } from "../../services.cjs";
import { filesBelow, hashFiles } from "../run/files.mjs";
import { ROOT } from "../paths.mjs";
import { exists } from "../servers/programs/cache.mjs";
import { runCommand } from "../run/child.mjs";
import { readStamps, writeStamp } from "./stamps.mjs";

const TEMPORAL = join(ROOT, "services", "platform", "src", "temporal");
const BUNDLER = join(ROOT, "services", "platform", "dist", "temporal", "bundle.js");

/** Workflow folder of a service with a worker, below `src` and `dist`. @param {string} name */
const workflowsOf = (name) => (name === "executions" ? "workflow/workflows" : "workflows");

/** Relative imports of values. Types aren't bundled. */
const IMPORT = /(?:^|\n)\s*(?:import|export)\s+(?!type\b)[^;]*?from\s+"(\.[^"]+)"/g;

/** Workflow code of a service, with all files that it imports. @param {string} folder */
const workflowSources = async (folder) => {
  const pending = await filesBelow(folder);
  pending.push(...["bundle", "converter", "interceptors"].map((name) => join(TEMPORAL, `${name}.ts`)));
  const paths = new Set();
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (paths.has(path)) continue;
    paths.add(path);
    for (const [, specifier] of (await readFile(path, "utf8")).matchAll(IMPORT)) {
      const target = resolve(dirname(path), /** @type {string} */ (specifier));
      for (const candidate of [`${target}.ts`, join(target, "index.ts")]) if (await exists(candidate)) pending.push(candidate);
    }
  }
  return [...paths].sort();
};

/** @param {string} service @param {string} workflows @returns {Promise<boolean>} true if anything had changed */
const bundleService = async (service, workflows) => {
  const [root, step] = [join(ROOT, "services", service), `workflow-bundle of ${service}`];
  const bundle = join(root, "dist", "workflow-bundle.js");
  const kernel = await filesBelow(join(ROOT, "services", "kernel", "src"));
  const sources = await workflowSources(join(root, "src", workflows));
  const hash = await hashFiles([...sources, ...kernel, join(ROOT, "package-lock.json")]);
  if ((await readStamps())[step] === hash && (await exists(bundle))) return false;
  const { ok, tail } = await runCommand(process.execPath, [BUNDLER, join("dist", workflows, "index.js"), bundle], { cwd: root });
  if (!ok) throw new Error(`the workflow bundle of ${service} could not be made:\n${tail}`);
  await writeStamp(step, hash);
  return true;
};

/**
 * Bundles Temporal workflow code ahead of time, so that workers don't bundle it at every start.
 * @returns {Promise<boolean>} true if anything had changed
 */
export const bundleWorkflows = async () => {
  if (!(await exists(BUNDLER))) return false;
  let isChanged = false;
  for (const { name, queue } of SERVICES) if (queue !== undefined) isChanged = (await bundleService(name, workflowsOf(name))) || isChanged;
  return isChanged;
};
