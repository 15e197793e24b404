import { watch } from "node:fs";
import { join } from "node:path";
import { folderOf, SERVICES } from "../../services.cjs";
import { build } from "../build.mjs";
import { bundledWorkspaces, listWorkspaces } from "../build/workspaces.mjs";
import { exists } from "../servers/programs/cache.mjs";
import { ROOT } from "../paths.mjs";
import { groupOf, processGroups } from "../run/processes.mjs";

/** @typedef {import("../run/progress.mjs").Progress} Progress */

/** Editors write several files at once, and one build handles them together. */
const SETTLE_MS = 150;
/** Folders that a service reads at its start, without a build. */
const READ_AT_START = ["services/models/registry"];

/** Process groups that run code of these workspaces. @param {NodeJS.ProcessEnv} env @param {ReadonlySet<string>} workspaces */
const affectedGroups = (env, workspaces) => {
  const affected = new Set();
  for (const workspace of workspaces) {
    const service = SERVICES.find((one) => folderOf(one) === workspace)?.name;
    // Other workspaces are libraries of all services.
    if (service === undefined) return workspace === "deploy/bench" ? [] : Object.keys(processGroups(env));
    affected.add(groupOf(env, service));
  }
  return [...affected];
};

/**
 * Rebuilds changed sources and restarts their processes.
 * @param {{ supervisor: import("./supervisor.mjs").Supervisor, progress: Progress, env: NodeJS.ProcessEnv, migrate: (quiet: Progress) => Promise<unknown> }} options
 */
export const watchSources = async ({ supervisor, progress, env, migrate }) => {
  /** @type {Set<string>} */
  const touched = new Set();
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<void>} */
  let working = Promise.resolve();
  const quiet = {
    ...progress,
    step: async (/** @type {string} */ _name, /** @type {() => Promise<string>} */ work) => void (await work()),
  };

  const rebuild = async () => {
    const direct = new Set(touched);
    touched.clear();
    try {
      const start = Date.now();
      const changed = new Set([...(await build(quiet)), ...direct]);
      const groups = affectedGroups(env, changed);
      if (groups.length === 0) return;
      await Promise.all([migrate(quiet), ...groups.map((group) => supervisor.restart(/** @type {string} */ (group)))]);
      progress.note(
        "changed",
        `${[...changed].join(", ")}: restarted ${groups.join(", ")} in ${((Date.now() - start) / 1000).toFixed(1)} s`,
      );
    } catch (error) {
      progress.note("changed", `not restarted: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  /** @param {string} [workspace] workspace to restart even if no file must be built */
  const noteChange = (workspace) => {
    if (workspace !== undefined) touched.add(workspace);
    clearTimeout(timer);
    timer = setTimeout(() => (working = working.then(rebuild)), SETTLE_MS);
  };

  const bundled = await bundledWorkspaces();
  // Bundled workspaces have their own reloading server.
  for (const workspace of (await listWorkspaces()).filter((one) => !bundled.has(one))) {
    const source = join(ROOT, workspace, "src");
    if (await exists(source)) {
      watch(source, { recursive: true }, (_event, file) => {
        if (!file?.startsWith("gen")) noteChange();
      });
    }
  }
  watch(join(ROOT, "proto", "nodeloom"), { recursive: true }, () => noteChange());
  for (const folder of READ_AT_START) {
    const workspace = folder.split("/").slice(0, 2).join("/");
    if (await exists(join(ROOT, folder))) watch(join(ROOT, folder), { recursive: true }, () => noteChange(workspace));
  }
};
