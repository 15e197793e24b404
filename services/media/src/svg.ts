/** Detects vector images (SVG) by their content, and bounds what is read of them. */

export const SVG_TYPE = "image/svg+xml";

export const SVG_BOUNDS = {
  bytes: 4 * 1024 * 1024,
  elements: 20_000,
  levels: 64,
  /** Maximum elements that are drawn if every reference is replaced by what it refers to. References can multiply each other. */
  drawn: 100_000,
  /** Maximum side in pixels that a file can state. */
  side: 100_000,
} as const;

const BYTE_ORDER_MARK = "\xef\xbb\xbf";
const ROOT = /^<svg[\s/>]/;
const DOCTYPE = /^<!DOCTYPE\s+svg[\s>[]/;

/** Returns the position after a comment, an instruction or a document type; undefined for anything else. */
const afterProlog = (text: string, at: number): number | undefined => {
  const after = (end: string, from = at): number | undefined => {
    const found = text.indexOf(end, from);
    return found < 0 ? undefined : found + end.length;
  };
  if (text.startsWith("<?", at)) return after("?>");
  if (text.startsWith("<!--", at)) return after("-->");
  if (!DOCTYPE.test(text.slice(at, at + 20))) return undefined;
  const [subset, end] = [text.indexOf("[", at), text.indexOf(">", at)];
  if (subset < 0 || end < subset) return after(">");
  const subsetEnd = after("]", subset);
  return subsetEnd === undefined ? undefined : after(">", subsetEnd);
};

/** True if the first element of a file is `svg`. The content after it isn't checked. */
export const isSvg = (head: Uint8Array): boolean => {
  const text = Buffer.from(head).toString("latin1");
  let at: number | undefined = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  while (at !== undefined) {
    while (/\s/.test(text.charAt(at))) at += 1;
    if (ROOT.test(text.slice(at, at + 5))) return true;
    at = afterProlog(text, at);
  }
  return false;
};
