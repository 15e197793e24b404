/** Which stored files a text names. */

const KEY = /^[\w.-]+/;
/** Ids of stored files: of uploads and data URLs, or beginning with the run that made them. */
const ID = /"([0-9a-f]{8}[0-9a-f.-]{16,120})"/g;
/** Names of one run: more are not remembered. */
const MOST = 2_000;

/**
 * Keys of the stored files whose addresses a text contains.
 * @param own what the addresses of stored files begin with
 */
export const keysIn = (text: string, own: string): string[] => {
  const [, ...named] = text.split(own);
  return [...new Set(named.flatMap((rest) => KEY.exec(rest)?.[0] ?? []))];
};

/** Keys and ids of the stored files that JSON texts name, by their addresses or by their ids. */
export const filesNamedIn = (texts: readonly string[], own: string): string[] => {
  const names = texts.flatMap((text) => [...keysIn(text, own), ...[...text.matchAll(ID)].map(([, id]) => id!)]);
  return [...new Set(names)].slice(0, MOST);
};
