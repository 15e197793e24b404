/** Longer names aren't compared. */
const MOST_CHARS = 40;
const MOST_EDITS = 2;
/** A shorter name is the start of others by chance. */
const LEAST_START = 4;

/** Edit distance that counts insertions, deletions, substitutions and swaps. */
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

/** The only name that starts with a name, as `workflowSlug` with `workflow`. */
const startOf = (name: string, names: readonly string[]): string | undefined => {
  if (name.length < LEAST_START) return undefined;
  const longer = names.filter((one) => one.toLowerCase().startsWith(name.toLowerCase()));
  return longer.length === 1 ? longer[0] : undefined;
};

/** The most similar name, or undefined if none is similar. */
export const nearestName = (name: string, names: readonly string[]): string | undefined => {
  if (name.length > MOST_CHARS) return undefined;
  const most = Math.min(MOST_EDITS, Math.floor(name.length / 2));
  const near = names
    .filter((one) => Math.abs(one.length - name.length) <= most && one.length <= MOST_CHARS)
    .map((one): [string, number] => [one, edits(name.toLowerCase(), one.toLowerCase())])
    .filter(([, distance]) => distance <= most)
    .sort(([, a], [, b]) => a - b);
  return near[0]?.[0] ?? startOf(name, names);
};

/** Suffix for an error about an unknown name, `: did you mean …?`; empty if no name is similar. */
export const didYouMean = (name: string, names: readonly string[]): string => {
  const suggestion = nearestName(name, names);
  return suggestion === undefined ? "" : `: did you mean ${suggestion}?`;
};
