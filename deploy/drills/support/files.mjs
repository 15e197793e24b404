import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Paths of all remaining files in a folder. @param {string} folder @returns {Promise<string[]>} */
export const filesIn = async (folder) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sized = await Promise.all(files.map(async (path) => ((await stat(path).catch(() => undefined)) ? [path] : [])));
  return sized.flat().sort();
};
