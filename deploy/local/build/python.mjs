import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cached, defaultCacheDir, exists, findOnPath } from "../servers/programs/cache.mjs";
import { runCommand } from "../run/child.mjs";
import { findPython, PIP_EXACTLY, runOrExplain, Unavailable } from "../servers/programs/packages.mjs";

const HASH_CHARS = 12;
/** `name==version`, optionally with extras, a marker or hashes. */
const PINNED = /^[\w.-]+(\[[\w,.-]+\])?==[\w.!+-]+(\s|;|$)/;

/** @param {string} requirements @returns {string[]} */
const pinsOf = (requirements) => {
  const lines = requirements.split(/\r?\n/).map((line) => line.replace(/(^|\s)#.*$/, "").trim());
  const pins = lines.filter((line) => line !== "");
  const loose = pins.find((line) => !PINNED.test(line));
  if (loose !== undefined) throw new Error(`"${loose}" is not pinned: write name==version, one a line`);
  return pins;
};

/** Identifies a Python, because Pythons can't share environments. @param {string} python @param {NodeJS.ProcessEnv} env */
const identify = async (python, env) => {
  const { ok, tail } = await runCommand(python, ["-c", "import sys, venv; print(sys.version, sys.executable)"], { env });
  if (!ok) throw new Unavailable("python3 has no venv module (Debian: python3-venv)");
  return tail;
};

/** @param {string} python @param {string} folder @param {string[]} pins @param {NodeJS.ProcessEnv} env */
const fill = async (python, folder, pins, env) => {
  const requirements = join(folder, "requirements.txt");
  await writeFile(requirements, `${pins.join("\n")}\n`);
  await runOrExplain(python, ["-m", "venv", "--without-pip", folder], env);
  const inside = join(folder, "bin", "python");
  const { ok, tail: packages } = await runCommand(inside, ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], { env });
  if (!ok || packages === "") throw new Unavailable(`the new environment's Python does not run: ${packages}`);
  // The host's pip installs the packages. The environment's own pip would need ensurepip, which Debian omits.
  if (pins.length > 0) await runOrExplain(python, ["-m", "pip", "install", ...PIP_EXACTLY, "-r", requirements, "--target", packages], env);
};

/**
 * A virtual environment with exactly these packages, created once per set of requirements and Python, and shared. It is moved into place
 * with one rename, so its console scripts, which contain the original path, don't work: run `python -m <module>`.
 * @param {object} options
 * @param {string} options.name name of the caller: lower-case letters, digits and hyphens
 * @param {string} options.requirements the text of a requirements file that pins every package, including indirect ones
 * @param {(line: string) => void} [options.progress] called if packages must be downloaded
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {string} [options.cacheDir]
 * @returns {Promise<string>} path of its Python; throws Unavailable with the missing requirement if this machine can't create it
 */
export const pythonEnvironment = async ({
  name,
  requirements,
  progress = () => {},
  env = process.env,
  cacheDir = defaultCacheDir(env),
}) => {
  const pins = pinsOf(requirements);
  const program = await findOnPath(env, "python3", "python");
  if (program === undefined)
    throw new Unavailable("python3 is not on PATH: install it with pip and venv (Debian: python3-pip python3-venv)");
  const key = createHash("sha256").update([await identify(program, env), ...pins].join("\n"));
  const entry = join(cacheDir, "python", `${name}-${key.digest("hex").slice(0, HASH_CHARS)}`);
  if (!(await exists(entry))) {
    const python = await findPython(env);
    progress(`fetching ${pins.length} Python packages for ${name}`);
    await cached(entry, (folder) => fill(python, folder, pins, env));
  }
  return join(entry, "bin", "python");
};
