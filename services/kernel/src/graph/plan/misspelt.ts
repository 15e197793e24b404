import type { NodeKind } from "../kinds/kind";
import type { JsonSchema } from "../prices/price";
import { isRecord, type GraphNode } from "../types";

/** Members that editors keep in any node. */
const COMMON = ["label", "name", "title", "description", "color"];
/** Comparing takes time in proportion to both, so longer names, and names beyond these, are left out. */
const MOST_CHARS = 40;
const MOST_NAMES = 50;
const MOST_EDITS = 2;

/** How many letters have to be put in, left out, changed or swapped to make one word of the other. */
const edits = (one: string, other: string): number => {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      let least = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) least = Math.min(least, before[j - 2]! + 1);
      next.push(least);
    }
    [before, row] = [row, next];
  }
  return row[other.length]!;
};

/** The name that was probably meant, or undefined. */
export const nearestName = (name: string, names: readonly string[]): string | undefined => {
  if (name.length > MOST_CHARS) return undefined;
  const most = Math.min(MOST_EDITS, Math.floor(name.length / 2));
  const near = names
    .filter((one) => Math.abs(one.length - name.length) <= most && one.length <= MOST_CHARS)
    .map((one): [string, number] => [one, edits(name.toLowerCase(), one.toLowerCase())])
    .filter(([, distance]) => distance <= most)
    .sort(([, a], [, b]) => a - b);
  return near[0]?.[0];
};

/**
 * Settings of a node that its kind does not know, and that look like one that it does. Others are an editor's own.
 * @param compared hears how many names are compared
 */
export const misspeltSettings = (
  kind: NodeKind,
  node: GraphNode,
  schema: JsonSchema | undefined,
  compared: (count: number) => void,
): string[] => {
  const settings = Object.keys(kind.settings);
  if (settings.length === 0 || !kind.runs) return [];
  const inputs = isRecord(schema?.properties) ? Object.keys(schema.properties) : [];
  const names = [...new Set([...settings, ...inputs])];
  const known = new Set([...names, ...COMMON, ...kind.inputs(node, schema).keys()]);
  const unknown = Object.keys(node.data)
    .filter((name) => !known.has(name))
    .slice(0, MOST_NAMES);
  compared(unknown.length * names.length);
  return unknown.flatMap((name) => {
    const meant = nearestName(name, names);
    return meant === undefined ? [] : [`there is no setting ${name}: did you mean ${meant}?`];
  });
};
