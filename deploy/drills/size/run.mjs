/**
 * `npm run drill size`: measures how much there is to read. It counts the lines of executions and platform, files that are too long, and
 * the files of executions that one synchronous run of an HTTP node enters on a platform that it starts. `--no-run` skips the run. Exits
 * with 1 if a figure exceeds its limit. For imports: `node deploy/local/checks/imports.mjs`.
 */
import { parseArgs } from "node:util";
import { linesIn } from "./lines.mjs";
import { visitedByHttpRun } from "./visited.mjs";

export const DRILL = { sentence: "counts the code: lines, long files, files of executions that one run visits", minutes: 1, builds: true };

const EXECUTIONS = "services/executions/src";
const PLATFORM = "services/platform/src";
const FOLDERS = ["proto/src", "gateway/src", "gateway/client/src", "gateway/console/src", "services", "deploy/bench/src"];
const MOST_FILE_LINES = 250;
/** Limits, including the number of long files when the limit was set. */
const MOST = { executions: 10_000, platform: 3_900, long: 17, visited: 35 };
const MADE = /\/(node_modules|dist|gen|test)\/|\/api-types\.ts$/;

/** @typedef {{ name: string, value: number, most: number }} Figure */

const print = (/** @type {string} */ text) => void process.stdout.write(`${text}\n`);

/** @param {{ lines: number }[]} files */
const sumOf = (files) => files.reduce((sum, { lines }) => sum + lines, 0);

/** @param {Figure[]} figures */
const judge = (figures) => {
  print("");
  for (const { name, value, most } of figures)
    print(`  ${name.padEnd(62)} ${String(value).padStart(6)}   ${`≤ ${most}`.padEnd(8)} ${value <= most ? "met" : "MISSED"}`);
  return figures.every(({ value, most }) => value <= most);
};

const { values } = parseArgs({ options: { "no-run": { type: "boolean", default: false } } });
const [executions, platform] = [await linesIn(EXECUTIONS), await linesIn(PLATFORM)];
const all = (await Promise.all(FOLDERS.map(linesIn))).flat().filter(({ path }) => !MADE.test(path));
const long = all.filter(({ lines }) => lines > MOST_FILE_LINES);
const visited = values["no-run"] ? undefined : await visitedByHttpRun();

print(`${executions.length} files of executions, ${platform.length} of platform`);
if (long.length > 0) print(`\nFiles of more than ${MOST_FILE_LINES} lines:`);
for (const { path, lines } of long) print(`  ${String(lines).padStart(5)}  ${path}`);
if (visited !== undefined) print(`\nVisited by a synchronous run of an HTTP node:\n  ${visited.join("\n  ")}`);
const isWithin = judge([
  { name: "lines of executions", value: sumOf(executions), most: MOST.executions },
  { name: "lines of platform", value: sumOf(platform), most: MOST.platform },
  { name: `files of more than ${MOST_FILE_LINES} lines`, value: long.length, most: MOST.long },
  ...(visited === undefined ? [] : [{ name: "files of executions that an HTTP run visits", value: visited.length, most: MOST.visited }]),
]);
process.exitCode = isWithin ? 0 : 1;
