import { RE2JS } from "re2js";

/** A regular expression by RE2: matching takes time in proportion to the text, whatever the pattern. */
export interface Pattern {
  /** Instructions of its program: the most work for one character. */
  readonly size: number;
  /** Whether it matches anywhere in a text. */
  test(text: string): boolean;
}

/** Longest pattern, and instructions of the largest program. */
export const PATTERN_BOUNDS = { chars: 500, size: 500 } as const;

const compiled = new Map<string, Pattern | string>();
const MOST_COMPILED = 500;

const compile = (source: string): Pattern | string => {
  if (source.length > PATTERN_BOUNDS.chars) return `is longer than ${PATTERN_BOUNDS.chars} characters`;
  try {
    const program = RE2JS.compile(source);
    const size = program.programSize();
    if (size > PATTERN_BOUNDS.size) return "repeats too much";
    return { size, test: (text) => program.test(text) };
  } catch {
    return "is no regular expression of RE2's syntax";
  }
};

/** The compiled pattern, or what is wrong with it. */
export const patternOf = (source: string): Pattern | string => {
  const known = compiled.get(source) ?? compile(source);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(source, known);
  return known;
};
