/** A regular expression. Users' patterns run in RE2, which takes time linear in the text. */
export interface Pattern {
  /** Number of instructions in the compiled program, and so the work per character. */
  readonly size: number;
  /** True if the pattern matches anywhere in the text. */
  test(text: string): boolean;
}

const INSTRUCTIONS_PER_STEP = 4;

/** Upper bound of a match's work, in the unit of `RunBudget.work`. */
export const workOfMatch = ({ size }: Pattern, { length }: string): number => 1 + Math.ceil((length * size) / INSTRUCTIONS_PER_STEP);

/** Maximum length of a pattern, and maximum number of instructions in its program. */
export const PATTERN_BOUNDS = { chars: 500, size: 500 } as const;

const MOST_COMPILED = 500;

/** @returns a message if the pattern is invalid */
export type PatternCompiler = (source: string) => Pattern | string;

/** Loaded on first use, because few processes compile patterns. */
const loadRe2 = (): typeof import("re2js") => require("re2js") as typeof import("re2js");

const remembered = (compile: PatternCompiler): PatternCompiler => {
  const compiled = new Map<string, Pattern | string>();
  return (source) => {
    const cached = compiled.get(source);
    if (cached !== undefined) return cached;
    const compiledPattern = compile(source);
    if (compiled.size >= MOST_COMPILED) compiled.clear();
    compiled.set(source, compiledPattern);
    return compiledPattern;
  };
};

/** Compiles a user's pattern with RE2. @returns a message if the pattern is invalid */
export const patternOf = remembered((source) => {
  if (source.length > PATTERN_BOUNDS.chars) return `is longer than ${PATTERN_BOUNDS.chars} characters`;
  try {
    const program = loadRe2().RE2JS.compile(source);
    const size = program.programSize();
    if (size > PATTERN_BOUNDS.size) return "repeats too much";
    return { size, test: (text) => program.test(text) };
  } catch {
    return "isn't a valid regular expression (RE2)";
  }
});

/** Compiles an operator's pattern with JavaScript's engine, as JSON Schema specifies. Its work isn't counted. */
export const scriptPatternOf = remembered((source) => {
  try {
    const pattern = new RegExp(source, "u");
    return { size: 0, test: (text) => pattern.test(text) };
  } catch {
    return "isn't a valid regular expression (JavaScript)";
  }
});
