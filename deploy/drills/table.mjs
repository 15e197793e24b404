import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";

/**
 * Every drill, as listed and run by `npm run drill`. A drill is a folder that describes itself: `export const DRILL = { sentence, minutes,
 * builds }`, which is read here without running the drill.
 * @typedef {"program" | "typescript" | "suites"} Kind
 *   program: `run.mjs`, by plain Node; typescript: `run.ts`, from its sources; suites: the folder's tests, by Jest one after the other,
 *   where `drill.mjs` says what they are
 *
 * @typedef {object} Drill
 * @property {string} name
 * @property {string} sentence what it does, or what must hold
 * @property {number} minutes its usual time on two cores, without what it builds or fetches once
 * @property {Kind} kind
 * @property {boolean} [builds] whether the checkout is built first; a drill that doesn't say so starts the platform, which builds it, or needs nothing built
 */

const HERE = fileURLToPath(new URL(".", import.meta.url));
const FILES = /** @type {const} */ ([
  ["program", "run.mjs"],
  ["typescript", "run.ts"],
  ["suites", "drill.mjs"],
]);
const DECLARED = /^export const DRILL = (\{[^}]*\});$/m;

/** @param {string} name @returns {Drill[]} the drill in this folder, if there is one */
const drillIn = (name) => {
  const [kind, file] = FILES.find(([, one]) => existsSync(`${HERE}${name}/${one}`)) ?? [];
  if (kind === undefined) return [];
  const [, literal] = DECLARED.exec(readFileSync(`${HERE}${name}/${file}`, "utf8")) ?? [];
  if (literal === undefined) throw new Error(`deploy/drills/${name}/${file} exports no DRILL`);
  return [{ name, kind, ...runInNewContext(`(${literal})`) }];
};

/** By name. @type {readonly Drill[]} */
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
  const [found] = DRILLS.map(({ name }) => ({ name, far: distance(wrong, name) })).sort((one, other) => one.far - other.far);
  return found?.name;
};
