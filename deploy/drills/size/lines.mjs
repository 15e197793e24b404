import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { ROOT } from "../../local/paths.mjs";
import { filesBelow } from "../../local/run/files.mjs";

/**
 * Counts the lines of every TypeScript file in a folder, as formatted by prettier.
 * @param {string} folder relative to the root @returns {Promise<{ path: string, lines: number }[]>}
 */
export const linesIn = async (folder) => {
  const files = await filesBelow(join(ROOT, folder), (path) => /\.tsx?$/.test(path));
  return Promise.all(
    files.map(async (path) => ({ path: relative(ROOT, path), lines: (await readFile(path, "utf8")).split("\n").length - 1 })),
  );
};
