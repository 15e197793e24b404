import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "../run/files.mjs";
import { ROOT } from "../paths.mjs";
import { exists } from "../servers/programs/cache.mjs";

/** Folders of all workspaces relative to the root, from package.json. @returns {Promise<string[]>} */
export const listWorkspaces = async () => {
  /** @type {{ workspaces: string[] }} */
  const { workspaces } = await readJson(join(ROOT, "package.json"));
  const folders = [];
  for (const pattern of workspaces) {
    if (!pattern.endsWith("/*")) {
      folders.push(pattern);
      continue;
    }
    const parent = pattern.slice(0, -2);
    const names = await readdir(join(ROOT, parent));
    folders.push(...names.sort().map((name) => `${parent}/${name}`));
  }
  const present = await Promise.all(folders.map((folder) => exists(join(ROOT, folder, "package.json"))));
  return folders.filter((_, index) => present[index]);
};

/** Workspaces built by a bundler instead of file by file. @returns {Promise<Set<string>>} */
export const bundledWorkspaces = async () => {
  const folders = await listWorkspaces();
  const bundled = await Promise.all(folders.map((folder) => exists(join(ROOT, folder, "vite.config.mjs"))));
  return new Set(folders.filter((_, index) => bundled[index]));
};
