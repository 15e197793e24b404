import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "../run/files.mjs";
import { ROOT } from "../paths.mjs";
import { findOnPath } from "../servers/programs/cache.mjs";
import { runCommand } from "../run/child.mjs";

const LOCK = join(ROOT, "package-lock.json");
const MODULES = join(ROOT, "node_modules");
const STAMP = join(MODULES, ".nodeloom-lock-hash");

const SHOWN_LINES = 12;

/** npm prints the error first and its manual last. @param {string} output */
const firstLines = (output) =>
  output
    .split("\n")
    .filter((line) => /\S/.test(line.replace("npm error", "")))
    .slice(0, SHOWN_LINES)
    .join("\n");

/** @typedef {{ link?: boolean, optional?: boolean, devOptional?: boolean, peer?: boolean, version?: string, integrity?: string }} Entry */

/** Checks node_modules against the lock file, because a person may have run npm. */
const isInstalled = async () => {
  /** @type {[{ packages: Record<string, Entry> } | undefined, { packages: Record<string, Entry> } | undefined]} */
  const [locked, present] = [await readJson(LOCK), await readJson(join(MODULES, ".package-lock.json"))];
  if (locked === undefined || present === undefined) return false;
  return Object.entries(locked.packages).every(([path, entry]) => {
    if (path === "" || !path.includes("node_modules")) return true;
    // A workspace newer than node_modules has no link yet.
    if (entry.link) return existsSync(join(ROOT, path));
    const installed = present.packages[path];
    if (installed === undefined) return Boolean(entry.optional || entry.devOptional || entry.peer);
    return installed.version === entry.version && installed.integrity === entry.integrity;
  });
};

/** Runs `npm ci` if node_modules doesn't match the lock file. @returns {Promise<boolean>} true if anything was installed */
export const installDependencies = async () => {
  const hash = createHash("sha256")
    .update(await readFile(LOCK))
    .digest("hex");
  const stamp = await readFile(STAMP, "utf8").catch(() => "");
  if (stamp.trim() === hash) return false;
  const matches = await isInstalled();
  if (!matches) {
    const npm = await findOnPath(process.env, "npm");
    if (npm === undefined) throw new Error("npm is not on PATH: install Node.js with npm");
    const args = ["ci", "--include=dev", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    let output = "";
    const { ok } = await runCommand(npm, args, { cwd: ROOT, output: (chunk) => (output += chunk) });
    if (!ok) throw new Error(`npm ci failed:\n${firstLines(output)}`);
  }
  await writeFile(STAMP, `${hash}\n`);
  return !matches;
};
