import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { filesBelow } from "../../local/run/files.mjs";
import { goTool } from "../../local/build/go.mjs";
import { ROOT } from "../../local/paths.mjs";
import { createProgress } from "../../local/run/progress.mjs";
import { pythonEnvironment } from "../../local/build/python.mjs";

export const DRILL = {
  sentence: "tests against other projects' real software: both sides must speak the same protocol",
  minutes: 3,
  builds: true,
};

/**
 * `npm run drill peers`: runs the suites `<package>/test/peers/<name>.test.ts`, which need third-party software. Requirements are pinned
 * beside each suite and passed to it as PEER_<NAME>. They are PyPI packages in `<name>.requirements.txt` (the variable is the path of a
 * Python with them; `-r <file>` refers to another suite's file), or a Go program in `<name>.go-tool.txt` (the variable is its path). Names
 * as arguments select suites.
 */

const PARENTS = ["services", "gateway"];
const SUITE = /\/test\/peers\/([\w-]+)\.test\.ts$/;
/** Kinds of requirements by file extension. */
const NEEDS = {
  ".requirements.txt": pythonPeer,
  ".go-tool.txt": goPeer,
};

/** @typedef {(options: { name: string, text: string, progress: (line: string) => void }) => Promise<string>} Prepare */

/** @type {Prepare} */
function pythonPeer({ name, text, progress }) {
  return pythonEnvironment({ name, requirements: text, progress });
}

/** @type {Prepare} */
function goPeer({ name, text, progress }) {
  return goTool({ name, tool: text.trim(), progress });
}

/** @param {string} name */
const variableOf = (name) => `PEER_${name.toUpperCase().replaceAll("-", "_")}`;

/** @param {string[]} names */
const findSuites = async (names) => {
  const files = (await Promise.all(PARENTS.map((parent) => filesBelow(join(ROOT, parent))))).flat().sort();
  const suites = files.filter((path) => SUITE.test(path)).map((path) => ({ path, name: basename(path, ".test.ts") }));
  const unknown = names.filter((name) => !suites.some((suite) => suite.name === name));
  if (unknown.length > 0) throw new Error(`no such suite: ${unknown.join(", ")} (there are ${suites.map(({ name }) => name).join(", ")})`);
  return suites.filter(({ name }) => names.length === 0 || names.includes(name));
};

/** @param {string} path */
const readIfThere = async (path) => {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return undefined;
    throw error;
  }
};

/** Requirements of a suite, or of the file that it refers to. @param {string} path */
const readNeeds = async (path) => {
  const text = await readIfThere(path);
  const other = /^-r (\S+)$/m.exec(text ?? "")?.[1];
  return other === undefined ? text : readFile(join(dirname(path), other), "utf8");
};

/** @param {{ path: string, name: string }[]} suites @param {import("../../local/run/progress.mjs").Progress} progress */
const environments = async (suites, progress) => {
  /** @type {Record<string, string>} */
  const env = {};
  for (const { path, name } of suites) {
    for (const [ending, prepare] of Object.entries(NEEDS)) {
      const text = await readNeeds(path.replace(/\.test\.ts$/, ending));
      if (text === undefined) continue;
      await progress.step(name, async () => {
        const prepared = await prepare({ name, text, progress: progress.line });
        env[variableOf(name)] = prepared;
        return prepared;
      });
    }
  }
  return env;
};

/** @param {{ path: string }[]} suites @param {Record<string, string>} env @returns {Promise<number>} */
const runJest = (suites, env) =>
  new Promise((resolve, reject) => {
    const jest = join(ROOT, "node_modules", ".bin", "jest");
    // Replaces the ignore pattern that excludes these suites from `npm test`.
    const args = [jest, "--runInBand", "--verbose", "--testPathIgnorePatterns", "/node_modules/", "--runTestsByPath"];
    const paths = suites.map(({ path }) => relative(ROOT, path));
    const child = spawn(process.execPath, [...args, ...paths], { cwd: ROOT, stdio: "inherit", env: { ...process.env, ...env } });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });

const progress = createProgress();
try {
  const suites = await findSuites(process.argv.slice(2));
  process.exitCode = await runJest(suites, await environments(suites, progress));
} catch (error) {
  progress.fail(error);
  process.exitCode = 1;
}
