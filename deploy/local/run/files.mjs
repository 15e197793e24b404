import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const PRIVATE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** Creates a folder that only its owner can enter, and restricts an existing one to its owner. @param {string} path */
export const privateFolder = async (path) => {
  await mkdir(path, { recursive: true, mode: PRIVATE_FOLDER });
  await chmod(path, PRIVATE_FOLDER);
};

/** Contents of a JSON file; undefined if it is missing or damaged. @param {string} path @returns {Promise<any>} */
export const readJson = async (path) => {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return undefined;
  }
};

/** Replaces a file atomically; only its owner can read it. @param {string} path @param {unknown} content */
export const writeJson = async (path, content) => {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  try {
    await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: PRIVATE });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
};

/**
 * Full paths of all files in a folder, sorted; empty if it doesn't exist.
 * @param {string} folder @param {(path: string) => boolean} [isIncluded]
 */
export const filesBelow = async (folder, isIncluded = () => true) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter(isIncluded)
    .sort();
};

/** One hash over names and contents. @param {readonly string[]} paths @returns {Promise<string>} */
export const hashFiles = async (paths) => {
  const hash = createHash("sha256");
  for (const path of paths)
    hash
      .update(path)
      .update("\0")
      .update(await readFile(path))
      .update("\0");
  return hash.digest("hex");
};
