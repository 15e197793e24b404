import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cached, findExecutable } from "./cache.mjs";
import { startChild } from "../../run/child.mjs";
import { Unavailable } from "./packages.mjs";

/** A download without new bytes for this long is aborted. */
const STALL_MS = 6_000;
const STALL_CHECK_MS = 500;

const here = fileURLToPath(new URL(".", import.meta.url));

/**
 * An installed npm package that can download an official server program.
 * @typedef {object} OfficialDownload
 * @property {string} packageName
 * @property {string} executable start of the program's file name
 * @property {string} script ESM source; its argument is the folder for the download
 */

/** @param {string} cacheDir @param {OfficialDownload} download */
const entryOf = (cacheDir, { executable }) => join(cacheDir, "official", `${executable}-${process.platform}-${process.arch}`);

/** @param {string} name */
const isInstalled = (name) => {
  try {
    return import.meta.resolve(name) !== "";
  } catch {
    return false;
  }
};

/** @param {string} folder */
const bytesBelow = async (folder) => {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};

/** The program, if it is already downloaded. @param {string} cacheDir @param {OfficialDownload} download */
export const findOfficial = (cacheDir, download) => findExecutable(entryOf(cacheDir, download), download.executable);

/**
 * Downloads the program in a separate process, because its library can't abort a download.
 * @param {{ cacheDir: string, env: NodeJS.ProcessEnv, download: OfficialDownload }} options
 * @returns {Promise<string>} path of the program
 */
export const downloadOfficial = async ({ cacheDir, env, download }) => {
  if (!isInstalled(download.packageName)) throw new Unavailable(`${download.packageName} is not installed`);
  const entry = await cached(entryOf(cacheDir, download), async (folder) => {
    const args = ["--input-type=module", "-e", download.script, folder];
    const child = await startChild({ command: process.execPath, args, cwd: here, env });
    let knownBytes = 0;
    let lastGrowth = Date.now();
    const watch = setInterval(async () => {
      const bytes = await bytesBelow(folder);
      if (bytes > knownBytes) lastGrowth = Date.now();
      knownBytes = Math.max(knownBytes, bytes);
      if (Date.now() - lastGrowth > STALL_MS) await child.stop(0);
    }, STALL_CHECK_MS);
    await child.exited;
    clearInterval(watch);
    if ((await findExecutable(folder, download.executable)) === undefined) throw new Unavailable("the official download can't be reached");
  });
  const program = await findExecutable(entry, download.executable);
  if (program === undefined) throw new Unavailable(`${entry} is damaged: remove it and start again`);
  return program;
};
