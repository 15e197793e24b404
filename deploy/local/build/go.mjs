import { createHash } from "node:crypto";
import { join } from "node:path";
import { cached, defaultCacheDir, exists, findExecutable, findOnPath } from "../servers/programs/cache.mjs";
import { runOrExplain, Unavailable } from "../servers/programs/packages.mjs";

const HASH_CHARS = 12;
/** A busy machine takes long to build large programs, but builds each only once. */
export const GO_BUILD_MS = 90 * 60_000;
const PINNED = /^[\w./~-]+@v\d+\.\d+\.\d+[\w.-]*$/;

/**
 * A program of a Go module, built once and cached. Go verifies sources with its checksum database.
 * @param {object} options
 * @param {string} options.name name of the caller: lower-case letters, digits and hyphens
 * @param {string} options.tool the package of the program with its exact version: `example.org/module/cmd/program@v1.2.3`
 * @param {(line: string) => void} [options.progress] called if the program must be built
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {string} [options.cacheDir]
 * @returns {Promise<string>} path of the program; throws Unavailable if this machine can't build it
 */
export const goTool = async ({ name, tool, progress = () => {}, env = process.env, cacheDir = defaultCacheDir(env) }) => {
  if (!PINNED.test(tool)) throw new Error(`"${tool}" is not pinned: write package@v1.2.3`);
  const entry = join(cacheDir, "go", `${name}-${createHash("sha256").update(tool).digest("hex").slice(0, HASH_CHARS)}`);
  if (!(await exists(entry))) {
    const go = await findOnPath(env, "go");
    if (go === undefined) throw new Unavailable("go is not on PATH: install it (Debian: golang)");
    progress(`building ${tool}, which takes minutes`);
    await cached(entry, (folder) => runOrExplain(go, ["install", tool], { ...env, GOBIN: folder }, GO_BUILD_MS));
  }
  const program = await findExecutable(entry, "");
  if (program === undefined) throw new Unavailable(`${tool} doesn't build to a program`);
  return program;
};
