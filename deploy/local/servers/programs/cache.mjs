import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, constants, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** Cache of downloads, kept between runs and shared by clones. @param {NodeJS.ProcessEnv} env */
export const defaultCacheDir = (env) => env.NODELOOM_CACHE_DIR || join(homedir(), ".cache", "nodeloom");

/** @param {string} path */
export const exists = (path) =>
  access(path).then(
    () => true,
    () => false,
  );

/** @param {string} path */
const isExecutableFile = async (path) => {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
};

/** Full path of the first of these commands on PATH. @param {NodeJS.ProcessEnv} env @param {readonly string[]} names */
export const findOnPath = async (env, ...names) => {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, name);
      if (await isExecutableFile(path)) return path;
    }
  }
  return undefined;
};

/** An executable file below `folder` whose name starts with `prefix`. @param {string} folder @param {string} prefix */
export const findExecutable = async (folder, prefix) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile() && entry.name.startsWith(prefix) && (await isExecutableFile(path))) return path;
  }
  return undefined;
};

/** @param {string} path @returns {Promise<string>} lower-case hex */
export const sha256OfFile = async (path) => {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
};

/**
 * A cache folder, filled at most once. `fill` writes to a private folder, which is moved into place with one rename. A crash leaves no
 * partial entry, and if two processes fill it, one result remains.
 * @param {string} entry full path of the folder
 * @param {(folder: string) => Promise<void>} fill
 */
export const cached = async (entry, fill) => {
  if (await exists(entry)) return entry;
  const draft = `${entry}.${process.pid}.${randomBytes(4).toString("hex")}`;
  await mkdir(dirname(entry), { recursive: true });
  await mkdir(draft);
  try {
    await fill(draft);
    await rename(draft, entry).catch(async (error) => {
      if (!(await exists(entry))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return entry;
};
