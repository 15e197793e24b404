/**
 * `npm run drill openapi`: generates clients from the OpenAPI document with other projects' generators, and compiles them. Faults of the
 * generators are known by name; anything else that they report is a fault of the document. Names as arguments select generators.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../local/paths.mjs";
import { goTool } from "../../local/build/go.mjs";
import { pythonEnvironment } from "../../local/build/python.mjs";
import { runToEnd, runToSuccess } from "../../local/run/to-end.mjs";
import { GENERATORS } from "./generators.mjs";

/** @typedef {import("./generators.mjs").Generator} Generator */
/** @typedef {import("./generators.mjs").Tools} Tools */

export const DRILL = {
  sentence: "generates clients from the OpenAPI document with other projects' generators, and compiles them",
  minutes: 6,
  builds: true,
};

const PACKAGES = ["openapi-typescript@7.13.0", "typescript@5.9.3"];
const OAPI_CODEGEN = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2";
const JAR =
  "import openapi_generator_cli, os; print(os.path.join(os.path.dirname(openapi_generator_cli.__file__), 'openapi-generator.jar'))";
/** Lines that report a problem. */
const PROBLEM = /error TS\d+|^WARNING|^Exception|^\s*\S+\.go:\d+|^\[ERROR\] \S+\.java:/;
const SHOWN = 20;

const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);

/** @param {string} folder @returns {Promise<Tools>} */
const install = async (folder) => {
  const requirements = await readFile(new URL("requirements.txt", import.meta.url), "utf8");
  const python = await pythonEnvironment({ name: "openapi", requirements, progress: say });
  const oapiCodegen = await goTool({ name: "oapi-codegen", tool: OAPI_CODEGEN, progress: say });
  await writeFile(join(folder, "package.json"), "{}");
  await runToSuccess("npm", ["install", "--no-audit", "--no-fund", ...PACKAGES], { cwd: folder });
  const jar = (await runToSuccess(python, ["-c", JAR], { cwd: folder })).trim();
  return { modules: join(folder, "node_modules"), python, jar, oapiCodegen };
};

/** Runs a generator. @param {Generator} generator @param {Tools} tools @param {string} document @param {string} folder @returns {Promise<string[]>} problems that no known fault explains */
const problemsOf = async ({ name, steps, faults }, tools, document, folder) => {
  const cwd = join(folder, name.replaceAll(" ", "-"));
  await mkdir(cwd);
  const visited = new Set();
  /** @type {string[]} */
  const problems = [];
  for (const { command, args } of steps(tools, document)) {
    const { code, output } = await runToEnd(command, args, { cwd });
    const lines = output.split("\n").filter((line) => PROBLEM.test(line));
    for (const line of lines) {
      const fault = faults.find((one) => one.line.test(line));
      if (fault) visited.add(fault);
      else problems.push(line);
    }
    if (code !== 0 && lines.length === 0) problems.push(`${command} ended with ${code}:\n${output.slice(-1_000)}`);
  }
  for (const fault of faults) {
    if (visited.has(fault)) say(`  the generator's fault: ${fault.reason}`);
    else problems.push(`no longer seen, remove it from generators.mjs: ${fault.reason}`);
  }
  return problems;
};

const names = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "nodeloom-openapi-"));
try {
  const require = createRequire(import.meta.url);
  const { openApiDocument } = require(join(ROOT, "gateway", "dist", "docs", "openapi"));
  const { routes } = require(join(ROOT, "gateway", "dist", "endpoints"));
  const document = join(folder, "openapi.json");
  await writeFile(document, JSON.stringify(openApiDocument(routes, "http://127.0.0.1:8080")));
  const tools = await install(folder);
  for (const generator of GENERATORS) {
    if (names.length > 0 && !names.includes(generator.name)) continue;
    const problems = await problemsOf(generator, tools, document, folder);
    const good = generator.faults.length === 0 ? "generates and compiles" : "nothing but the generator's faults";
    say(`${generator.name}: ${problems.length === 0 ? good : `${problems.length} problems`}`);
    for (const problem of problems.slice(0, SHOWN)) say(`  ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
