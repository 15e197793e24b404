import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pythonEnvironment } from "../../deploy/local/build/python.mjs";
import { Unavailable } from "../../deploy/local/servers/programs/packages.mjs";

/** `node gateway/python/test.mjs`: the Python client's tests, in an environment of their own. Arguments are pytest's. */

const FOLDER = dirname(fileURLToPath(import.meta.url));

/** @returns {Promise<string | undefined>} undefined, and a line that says why, where this machine can't have one */
const environment = async () => {
  try {
    const requirements = await readFile(join(FOLDER, "tests", "requirements.txt"), "utf8");
    return await pythonEnvironment({ name: "client", requirements, progress: console.log });
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    console.log(`the Python client's tests are SKIPPED: ${error.message}`);
    return undefined;
  }
};

const python = await environment();
if (python !== undefined) {
  const args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", ...process.argv.slice(2)];
  const tests = spawn(python, args, { cwd: FOLDER, stdio: "inherit", env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" } });
  tests.once("error", (error) => {
    throw error;
  });
  tests.once("exit", (code) => (process.exitCode = code ?? 1));
}
