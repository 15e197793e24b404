import { relative } from "node:path";
import { cruise } from "dependency-cruiser";
import { ROOT } from "../../local/paths.mjs";
import { levelOf, partOf } from "./floors.mjs";

/** @typedef {{ from: string, to: string }} Import paths below the folder that was read */

/** The imports among the files of a folder, types included. @param {string} folder from the root @returns {Promise<Import[]>} */
export const importsIn = async (folder) => {
  const { output } = await cruise([folder], { baseDir: ROOT, includeOnly: `^${folder}/`, tsPreCompilationDeps: true });
  if (typeof output === "string") throw new Error(`${folder} could not be read: ${output}`);
  const below = (/** @type {string} */ path) => relative(folder, path);
  return output.modules.flatMap(({ source, dependencies }) =>
    dependencies.map(({ resolved }) => ({ from: below(source), to: below(resolved) })),
  );
};

/** Those that lead from a floor to a higher one. @param {readonly Import[]} imports */
export const upwards = (imports) =>
  imports.filter(({ from, to }) => {
    const [lower, upper] = [levelOf(partOf(from)), levelOf(partOf(to))];
    return lower >= 0 && upper > lower;
  });

/** Parts by what they import, with how many imports there are. @param {readonly Import[]} imports @returns {Map<string, Map<string, number>>} */
export const byPart = (imports) => {
  /** @type {Map<string, Map<string, number>>} */
  const parts = new Map();
  for (const { from, to } of imports) {
    const [one, other] = [partOf(from), partOf(to)];
    if (one === other) continue;
    const counts = parts.get(one) ?? new Map();
    parts.set(one, counts.set(other, (counts.get(other) ?? 0) + 1));
  }
  return parts;
};

/** Parts that reach one another, however indirectly: each group is a circle. @param {Map<string, Map<string, number>>} parts @returns {string[][]} */
export const circlesAmong = (parts) => {
  const reach = (/** @type {string} */ from) => {
    /** @type {Set<string>} */
    const found = new Set();
    const pending = [...(parts.get(from)?.keys() ?? [])];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (found.has(next)) continue;
      found.add(next);
      pending.push(...(parts.get(next)?.keys() ?? []));
    }
    return found;
  };
  const reached = new Map([...parts.keys()].map((part) => [part, reach(part)]));
  /** @type {string[][]} */
  const circles = [];
  for (const [part, found] of reached) {
    if (!found.has(part) || circles.some((circle) => circle.includes(part))) continue;
    circles.push([part, ...[...found].filter((other) => other !== part && reached.get(other)?.has(part))]);
  }
  return circles;
};
