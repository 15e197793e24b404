import { pathToFileURL } from "node:url";
import { bundleWorkflows } from "./build/bundle.mjs";
import { buildConsole } from "./build/console.mjs";
import { declareTypes } from "./build/declarations.mjs";
import { generateProto } from "./build/generate.mjs";
import { installDependencies } from "./build/install.mjs";
import { transpile } from "./build/transpile.mjs";
import { createProgress } from "./run/progress.mjs";

/**
 * Installs and builds only missing or changed parts.
 * @param {import("./run/progress.mjs").Progress} progress
 * @returns {Promise<Set<string>>} workspaces with changed JavaScript
 */
export const build = async (progress) => {
  await progress.step("dependencies", async () => ((await installDependencies()) ? "installed" : "up to date"));
  await progress.step("protocol", async () => ((await generateProto()) ? "generated" : "up to date"));
  /** @type {Set<string>} */
  let workspaces = new Set();
  await progress.step("services", async () => {
    const result = await transpile();
    workspaces = result.workspaces;
    return result.files === 0 ? "up to date" : `${result.files} files built`;
  });
  await progress.step("client", async () => ((await declareTypes()) ? "written" : "up to date"));
  await progress.step("workflow code", async () => ((await bundleWorkflows()) ? "bundled" : "up to date"));
  await progress.step("console", async () => ((await buildConsole()) ? "built" : "up to date"));
  return workspaces;
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const progress = createProgress();
  try {
    await build(progress);
  } catch (error) {
    progress.fail(error);
    process.exit(1);
  }
}
