import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";

/**
 * Every drill, as listed and run by `npm run drill`. A drill is a folder with its own description: `export const DRILL = { sentence,
 * minutes, builds }`, which is read here without running the drill.
 * @typedef {"program" | "typescript" | "suites"} Kind
 *   program: `run.mjs`, run by Node; typescript: `run.ts`, run from its source; suites: the folder's tests, run by Jest one after another,
 *   with the description in `drill.mjs`
 *
 * @typedef {object} Drill
 * @property {string} name
 * @property {string} sentence its purpose, or the guarantee that it checks
 * @property {number} minutes usual duration on two cores, without one-time builds and downloads
 * @property {Kind} kind
 * @property {boolean} [builds] true if the checkout is built first; other drills start the platform, which builds it, or need no build
 */

const HERE = fileURLToPath(new URL(".", import.meta.url));
const FILES = /** @type {const} */ ([
  ["program", "run.mjs"],
  ["typescript", "run.ts"],
  ["suites", "drill.mjs"],
]);
const DECLARED = /^export const DRILL = (\{[^}]*\});$/m;

/** @param {string} name @returns {Drill[]} the drill in this folder, if any */
const drillIn = (name) => {
  const [kind, file] = FILES.find(([, one]) => existsSync(`${HERE}${name}/${one}`)) ?? [];
  if (kind === undefined) return [];
  const [, literal] = DECLARED.exec(readFileSync(`${HERE}${name}/${file}`, "utf8")) ?? [];
  if (literal === undefined) throw new Error(`deploy/drills/${name}/${file} exports no DRILL`);
  return [{ name, kind, ...runInNewContext(`(${literal})`) }];
};

/** Drills by name. @type {readonly Drill[]} */
export const DRILLS = readdirSync(HERE).sort().flatMap(drillIn);

/** Levenshtein distance. @param {string} one @param {string} other */
const distance = (one, other) => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let from = 1; from <= one.length; from += 1) {
    const above = row;
    row = [from];
    for (let to = 1; to <= other.length; to += 1) {
      const replaced = Number(above[to - 1]) + Number(one[from - 1] !== other[to - 1]);
      row.push(Math.min(replaced, Number(above[to]) + 1, Number(row[to - 1]) + 1));
    }
  }
  return Number(row.at(-1));
};

/** The drill with the most similar name. @param {string} wrong */
export const nearest = (wrong) => {
  const [closest] = DRILLS.map(({ name }) => ({ name, far: distance(wrong, name) })).sort((one, other) => one.far - other.far);
  return closest?.name;
};
