/** Expressions of n8n, such as `{{ $json.city }}`: references to values of other nodes. */

export interface Reference {
  /** Name of the node; undefined for the node before. */
  node: string | undefined;
  /** Members and indexes. `*` stands for all elements of a list. */
  path: readonly string[];
}

const HEAD =
  /^\s*(?:\$json|\$input\.(?:item|first\(\)|last\(\))\.json|\$\(\s*(?:"([^"]+)"|'([^']+)')\s*\)\.(?:item|first\(\)|last\(\))\.json|\$node\[\s*(?:"([^"]+)"|'([^']+)')\s*\]\.json)/;
const STEP = /^(?:\.([A-Za-z_$][\w$]*)(?![\w$(])|\[\s*(?:(\d+)|"([^"]*)"|'([^']*)')\s*\])/;

/** @returns undefined for code that is more than a reference */
export const readReference = (text: string): Reference | undefined => {
  const head = HEAD.exec(text);
  if (!head) return undefined;
  const path: string[] = [];
  let rest = text.slice(head[0].length);
  for (let step = STEP.exec(rest); step; step = STEP.exec(rest)) {
    path.push(step[1] ?? step[2] ?? step[3] ?? step[4] ?? "");
    rest = rest.slice(step[0].length);
  }
  return rest.trim() === "" ? { node: head[1] ?? head[2] ?? head[3] ?? head[4], path } : undefined;
};

/** Names that are ports or settings of nodes here. */
const TAKEN = new Set([
  "body",
  "value",
  "prompt",
  "system",
  "text",
  "image",
  "images",
  "history",
  "file",
  "url",
  "model",
  "label",
  "secrets",
]);

export const portName = (words: string): string => {
  const name =
    words
      .split(/[^A-Za-z0-9]+/)
      .filter(Boolean)
      .join("_")
      .slice(0, MOST_NAME) || "value";
  return TAKEN.has(name) || /^\d/.test(name) ? `in_${name}` : name;
};
const MOST_NAME = 60;

export interface Template {
  text: string;
  /** References by the placeholder that stands for them. */
  references: Map<string, Reference>;
  /** Expressions that are code, as written. */
  code: string[];
}

/**
 * Converts a parameter of n8n to a text with placeholders. Only texts that begin with `=` have expressions.
 * @param references placeholders that the node already has
 */
export const readTemplate = (value: unknown, references: Map<string, Reference> = new Map()): Template => {
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
  if (!text.startsWith("=")) return { text: text.replaceAll("{{", "\\{{"), references, code: [] };
  const code: string[] = [];
  const nameOf = (reference: Reference): string => {
    const key = JSON.stringify(reference);
    const base = portName(reference.path.findLast((step) => !/^(?:\d+|\*)$/.test(step)) ?? reference.node ?? "value");
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? base : `${base}_${number}`;
      const same = references.get(name);
      if (same && JSON.stringify(same) !== key) continue;
      references.set(name, reference);
      return name;
    }
  };
  const placeholder = (inner: string): string => {
    const reference = readReference(inner);
    if (reference) return `{{${nameOf(reference)}}}`;
    code.push(inner.trim());
    return `{{expression_${code.length}}}`;
  };
  const [start = "", ...parts] = text.slice(1).split("{{");
  const filled = parts.map((part) => {
    const end = part.indexOf("}}");
    return end < 0 ? `\\{{${part}` : placeholder(part.slice(0, end)) + part.slice(end + 2);
  });
  return { text: [start, ...filled].join(""), references, code };
};

/** JMESPath of a path. */
export const expressionOf = (path: readonly string[]): string =>
  path
    .map((step) =>
      step === "*" ? "[]" : /^\d+$/.test(step) ? `[${step}]` : /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `.${JSON.stringify(step)}`,
    )
    .join("")
    .replace(/^\./, "");
