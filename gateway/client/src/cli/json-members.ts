/** JSON as text: the members of an object as they were written, so that nothing of them changes on its way. */

const OPEN = new Set(["{", "["]);
const CLOSE = new Set(["}", "]"]);

/** The index after the string that opens at `from`. */
const endOfString = (text: string, from: number): number => {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
};

/** The members of an object by name. @param text valid JSON; empty for what is no object */
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
      // A string at the outermost level is a name where none is open.
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
