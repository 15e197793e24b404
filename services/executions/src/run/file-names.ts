/** Finds the stored files that a text refers to. */

const KEY = /^[\w.-]+/;
/** Matches ids of stored files. An id belongs to an upload or a data URL, or starts with the id of the run that created the file. */
const ID = /"([0-9a-f]{8}[0-9a-f.-]{16,120})"/g;
/** Maximum number of file names stored for one run. */
const MOST = 2_000;

/**
 * Returns the keys of the stored files whose addresses a text contains.
 * @param own address prefix of stored files
 */
export const keysIn = (text: string, own: string): string[] => {
  const [, ...segments] = text.split(own);
  return [...new Set(segments.flatMap((rest) => KEY.exec(rest)?.[0] ?? []))];
};

/** Returns the keys and ids of the stored files that JSON texts refer to. */
export const filesNamedIn = (texts: readonly string[], own: string): string[] => {
  const names = texts.flatMap((text) => [...keysIn(text, own), ...[...text.matchAll(ID)].map(([, id]) => id!)]);
  return [...new Set(names)].slice(0, MOST);
};
