import { LIMITS, type Issue } from "@nodeloom/kernel";

/** Deeper values would overflow the stack of recursive functions. */
export const MAX_DEPTH = 500;

interface Step {
  value: unknown;
  path: string;
  depth: number;
}

const isTooLong = (value: string): boolean =>
  value.length * 3 > LIMITS.textValueBytes && !value.startsWith("data:") && Buffer.byteLength(value) > LIMITS.textValueBytes;

const childrenOf = ({ value, path, depth }: Step): Step[] => {
  if (Array.isArray(value)) return value.map((item, index) => ({ value: item as unknown, path: `${path}[${index}]`, depth: depth + 1 }));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).map(([name, item]) => ({ value: item as unknown, path: `${path}.${name}`, depth: depth + 1 }));
};

/** The first violation in a JSON value: a text that is too long (except data URLs), or nesting that is too deep. */
const pastLimit = (root: unknown, path: string): Issue | undefined => {
  const pending: Step[] = [{ value: root, path, depth: 0 }];
  for (let step = pending.pop(); step; step = pending.pop()) {
    if (typeof step.value === "string" && isTooLong(step.value)) {
      return { path: step.path, message: `is longer than ${LIMITS.textValueBytes} bytes` };
    }
    if (step.depth > MAX_DEPTH) return { path, message: `is nested deeper than ${MAX_DEPTH} levels` };
    for (const child of childrenOf(step)) pending.push(child);
  }
  return undefined;
};

export interface ParsedText {
  value?: unknown;
  issues: Issue[];
}

/** Parses a JSON text and checks its content. */
export const parseText = (text: string, path: string): ParsedText => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { issues: [{ path, message: "is not valid JSON" }] };
  }
  const issue = pastLimit(value, path);
  return { value, issues: issue ? [issue] : [] };
};
