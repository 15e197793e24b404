/** Splits a JSON object into its members as they were written. */

const OPEN = new Set(["{", "["]);
const CLOSE = new Set(["}", "]"]);

/** Index after the string that starts at `from`. */
const endOfString = (text: string, from: number): number => {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
};

/** Members of an object by name; empty for other values. @param text valid JSON */
export const membersOf = (text: string): Map<string, string> => {
  const members = new Map<string, string>();
  let [depth, from, name]: [number, number, string | undefined] = [0, 0, undefined];
  const close = (end: number): void => {
    if (name !== undefined) members.set(name, text.slice(from, end).trim());
    name = undefined;
  };
  for (let at = 0; at < text.length;) {
    const character = text[at]!;
    if (character === '"') {
      const end = endOfString(text, at);
      // At the outermost level, a string is a member's name unless a name is still open.
      if (depth === 1 && name === undefined) {
        name = JSON.parse(text.slice(at, end)) as string;
        from = text.indexOf(":", end) + 1;
        at = from;
      } else at = end;
      continue;
    }
    if (OPEN.has(character)) depth += 1;
    else if (CLOSE.has(character)) {
      depth -= 1;
      if (depth === 0) close(at);
    } else if (character === "," && depth === 1) close(at);
    at += 1;
  }
  return text.trimStart().startsWith("{") ? members : new Map();
};
