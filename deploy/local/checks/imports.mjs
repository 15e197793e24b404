import { relative } from "node:path";
import { cruise } from "dependency-cruiser";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { ROOT } from "../paths.mjs";
import { levelOf, PARTS, roomOf } from "./floors.mjs";

/**
 * `node deploy/local/checks/imports.mjs [part…]`: checks the imports among the rooms of each part. For parts named as arguments it also
 * prints them. Exits with 1 if a room imports a higher floor, or if there are more circles than allowed.
 */

/** @typedef {{ from: string, to: string }} Import paths relative to the folder */

/** Imports among the files of a folder, including types. @param {string} folder from the root @returns {Promise<Import[]>} */
export const importsIn = async (folder) => {
  const { output } = await cruise([folder], { baseDir: ROOT, includeOnly: `^${folder}/`, tsPreCompilationDeps: true });
  if (typeof output === "string") throw new Error(`${folder} could not be read: ${output}`);
  const below = (/** @type {string} */ path) => relative(folder, path);
  return output.modules.flatMap(({ source, dependencies }) =>
    dependencies.map(({ resolved }) => ({ from: below(source), to: below(resolved) })),
  );
};

/** Imports of a higher floor. @param {import("./floors.mjs").Part} part @param {readonly Import[]} imports */
export const upwards = (part, imports) => imports.filter(({ from, to }) => levelOf(part, roomOf(to)) > levelOf(part, roomOf(from)));

/** Number of imports between rooms. @param {readonly Import[]} imports @returns {Map<string, Map<string, number>>} */
export const byRoom = (imports) => {
  /** @type {Map<string, Map<string, number>>} */
  const rooms = new Map();
  for (const { from, to } of imports) {
    const [one, other] = [roomOf(from), roomOf(to)];
    if (one === other) continue;
    const counts = rooms.get(one) ?? new Map();
    rooms.set(one, counts.set(other, (counts.get(other) ?? 0) + 1));
  }
  return rooms;
};

/** Groups of rooms that import one another in a circle. @param {Map<string, Map<string, number>>} parts @returns {string[][]} */
export const circlesAmong = (parts) => {
  const reach = (/** @type {string} */ from) => {
    /** @type {Set<string>} */
    const reachable = new Set();
    const pending = [...(parts.get(from)?.keys() ?? [])];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (reachable.has(next)) continue;
      reachable.add(next);
      pending.push(...(parts.get(next)?.keys() ?? []));
    }
    return reachable;
  };
  const reached = new Map([...parts.keys()].map((part) => [part, reach(part)]));
  /** @type {string[][]} */
  const circles = [];
  for (const [part, reachable] of reached) {
    if (!reachable.has(part) || circles.some((circle) => circle.includes(part))) continue;
    circles.push([part, ...[...reachable].filter((other) => other !== part && reached.get(other)?.has(part))]);
  }
  return circles;
};

const CELL_WIDTH = 11;
const HEAD_WIDTH = 18;
const print = (/** @type {string} */ text) => void process.stdout.write(`${text}\n`);

/** @param {import("./floors.mjs").Part} part @param {Map<string, Map<string, number>>} rooms number of imports between rooms */
const printPicture = (part, rooms) => {
  const names = new Set([...rooms].flatMap(([room, others]) => [room, ...others.keys()]));
  const order = [...names].sort((one, other) => levelOf(part, one) - levelOf(part, other) || one.localeCompare(other));
  const row = (/** @type {string} */ head, /** @type {string[]} */ cells) =>
    print(head.padEnd(HEAD_WIDTH) + cells.map((cell) => cell.slice(0, CELL_WIDTH - 1).padStart(CELL_WIDTH)).join(""));
  print(`\nImports among the rooms of ${part.name}, from the left to above:`);
  row("", order);
  const cell = (/** @type {string} */ from, /** @type {string} */ to) => rooms.get(from)?.get(to) ?? (from === to ? "-" : "");
  for (const from of order)
    row(
      from,
      order.map((to) => String(cell(from, to))),
    );
};

/** @param {import("./floors.mjs").Part} part @param {boolean} isShown @returns {Promise<boolean>} true if the part passes */
const judge = async (part, isShown) => {
  const imports = await importsIn(part.folder);
  const rooms = byRoom(imports);
  const [up, circles] = [upwards(part, imports), circlesAmong(rooms)];
  if (isShown) printPicture(part, rooms);
  const most = { upward: part.upward ?? 0, circles: part.circles ?? 0 };
  const holds = up.length <= most.upward && circles.length <= most.circles;
  const figures = `upward imports ${up.length} ≤ ${most.upward}   circles ${circles.length} ≤ ${most.circles}`;
  print(`${part.name.padEnd(HEAD_WIDTH)} ${figures}   ${holds ? "met" : "MISSED"}`);
  if (isShown || !holds) {
    for (const { from, to } of up) print(`  ${from} imports ${to}, which stands above`);
    for (const circle of circles) print(`  a circle: ${circle.join(", ")}`);
  }
  return holds;
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const names = process.argv.slice(2);
  const parts = PARTS.filter(({ name, folder }) => existsSync(`${ROOT}/${folder}`) && (names.length === 0 || names.includes(name)));
  for (const part of parts) if (!(await judge(part, names.length > 0))) process.exitCode = 1;
}
