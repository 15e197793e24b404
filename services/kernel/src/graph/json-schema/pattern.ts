/** A regular expression. A user's is matched by RE2, in time in proportion to the text, whatever the pattern. */
export interface Pattern {
  /** Instructions of its program: the most work for one character. */
  readonly size: number;
  /** Whether it matches anywhere in a text. */
  test(text: string): boolean;
}

/** Instructions of a pattern's program, each for a character, that are one step of work. */
const INSTRUCTIONS_PER_STEP = 4;

/** What matching a text may take at most, as `RunBudget.work` counts it. */
export const workOfMatch = ({ size }: Pattern, { length }: string): number => 1 + Math.ceil((length * size) / INSTRUCTIONS_PER_STEP);

/** Longest pattern, and instructions of the largest program. */
export const PATTERN_BOUNDS = { chars: 500, size: 500 } as const;

const MOST_COMPILED = 500;

/** Compiles a pattern, or says what is wrong with it. */
export type PatternCompiler = (source: string) => Pattern | string;

/** Loaded at its first use: few processes compile patterns. */
const loadRe2 = (): typeof import("re2js") => require("re2js") as typeof import("re2js");

const remembered = (compile: PatternCompiler): PatternCompiler => {
  const compiled = new Map<string, Pattern | string>();
  return (source) => {
    const known = compiled.get(source);
    if (known !== undefined) return known;
    const made = compile(source);
    if (compiled.size >= MOST_COMPILED) compiled.clear();
    compiled.set(source, made);
    return made;
  };
};

/** A user's pattern, compiled, or what is wrong with it. */
export const patternOf = remembered((source) => {
  if (source.length > PATTERN_BOUNDS.chars) return `is longer than ${PATTERN_BOUNDS.chars} characters`;
  try {
    const program = loadRe2().RE2JS.compile(source);
    const size = program.programSize();
    if (size > PATTERN_BOUNDS.size) return "repeats too much";
    return { size, test: (text) => program.test(text) };
  } catch {
    return "is no regular expression of RE2's syntax";
  }
});

/** An operator's pattern, by JavaScript's engine as JSON Schema has it; its work is not counted. */
export const scriptPatternOf = remembered((source) => {
  try {
    const pattern = new RegExp(source, "u");
    return { size: 0, test: (text) => pattern.test(text) };
  } catch {
    return "is no regular expression of JavaScript's syntax";
  }
});
