import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pythonEnvironment } from "../../deploy/local/build/python.mjs";

/** `node gateway/python/test.mjs`: the Python client's tests, in an environment of their own. Arguments are pytest's. */

const FOLDER = dirname(fileURLToPath(import.meta.url));

const requirements = await readFile(join(FOLDER, "tests", "requirements.txt"), "utf8");
const python = await pythonEnvironment({ name: "client", requirements, progress: console.log });
const args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", ...process.argv.slice(2)];
const tests = spawn(python, args, { cwd: FOLDER, stdio: "inherit", env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" } });
tests.once("error", (error) => {
  throw error;
});
tests.once("exit", (code) => (process.exitCode = code ?? 1));
