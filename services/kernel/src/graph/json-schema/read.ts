import { textBytes } from "../bounds";
import type { JsonSchema } from "../prices/price";
import { isRecord } from "../types";
import { shownName } from "../../text/shown-name";
import { ANNOTATIONS, KEYWORDS, TYPE_NAMES, type Shape } from "./keywords";
import { patternOf, scriptPatternOf, type PatternCompiler } from "./pattern";
import { referenced } from "./reference";

/** Bounds of a user's schema, and the maximum number of listed problems. */
export const SCHEMA_BOUNDS = { bytes: 32 * 1024, depth: 32, problems: 10, patternsSize: 5_000 } as const;

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

type Report = (at: string, message: string) => void;

const depthOf = (value: unknown, most: number): number => {
  if (typeof value !== "object" || value === null) return 0;
  if (most === 0) return 1;
  return 1 + Math.max(0, ...Object.values(value).map((member) => depthOf(member, most - 1)));
};

const isSchema = (value: unknown): boolean => isRecord(value) || typeof value === "boolean";
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === "string");
const isTypeName = (value: unknown): boolean => (TYPE_NAMES as readonly unknown[]).includes(value);
const every = (value: unknown, check: (member: unknown) => boolean): boolean => isRecord(value) && Object.values(value).every(check);

/** Check and message for each form of a keyword's value. */
const SHAPES: Readonly<Record<Shape, { must: string; is: (value: unknown) => boolean }>> = {
  schema: { must: "must be a schema", is: isSchema },
  schemas: { must: "must be a list of schemas", is: (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema) },
  schemasByName: { must: "must be an object of schemas", is: (value) => every(value, isSchema) },
  schemasByPattern: { must: "must be an object of schemas", is: (value) => every(value, isSchema) },
  number: { must: "must be a number", is: (value) => typeof value === "number" },
  positive: { must: "must be a number above 0", is: (value) => typeof value === "number" && value > 0 },
  count: { must: "must be a whole number of at least 0", is: isCount },
  boolean: { must: "must be true or false", is: (value) => typeof value === "boolean" },
  types: {
    must: `must be one of ${TYPE_NAMES.join(", ")}, or a list of them`,
    is: (value) => (Array.isArray(value) ? value.length > 0 && value.every(isTypeName) : isTypeName(value)),
  },
  values: { must: "must be a list that is not empty", is: (value) => Array.isArray(value) && value.length > 0 },
  value: { must: "", is: () => true },
  names: { must: "must be a list of names", is: isNames },
  namesByName: { must: "must be an object of lists of names", is: (value) => every(value, isNames) },
  pattern: { must: "must be text", is: (value) => typeof value === "string" },
  text: { must: "must be text", is: (value) => typeof value === "string" },
  reference: {
    must: "must be a JSON pointer into the schema itself, for example #/$defs/scene",
    is: (value) => typeof value === "string" && (value === "#" || value.startsWith("#/")),
  },
  list: { must: "must be a list", is: Array.isArray },
  dialect: { must: `must be ${DIALECT}`, is: (value) => typeof value === "string" && value.replace(/#$/, "") === DIALECT },
  refused: { must: "is not supported", is: () => false },
};

/** Subschemas in a keyword's value, each with its path. */
export const schemasIn = (keyword: string, value: unknown): [string, unknown][] => {
  const shape = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
  if (shape === "schema") return [["", value]];
  if (shape === "schemas" || shape === "schemasByName" || shape === "schemasByPattern")
    return Object.entries(value as object).map(([name, schema]): [string, unknown] => [`.${name}`, schema]);
  return [];
};

const patternsIn = (shape: Shape, value: unknown): string[] => {
  if (shape === "pattern") return [value as string];
  return shape === "schemasByPattern" ? Object.keys(value as object) : [];
};

interface ReadOptions {
  keywords: Readonly<Record<string, Shape>>;
  patternOf: PatternCompiler;
  /** True if a reference can point to any value; otherwise it must point to a schema. */
  leadsAnywhere: boolean;
}

/** Creates a function that checks the form of every keyword in a schema and its subschemas. */
const createReader = ({ keywords, patternOf }: ReadOptions, report: Report) => {
  const schemas = new Set<unknown>([true, false]);
  const references: { at: string; reference: string }[] = [];
  let patternsSize = 0;

  const readPatterns = (at: string, sources: readonly string[]): void => {
    for (const source of sources) {
      if (patternsSize > SCHEMA_BOUNDS.patternsSize) return;
      const pattern = patternOf(source);
      if (typeof pattern === "string") {
        report(at, `${JSON.stringify(shownName(source))} ${pattern}`);
        continue;
      }
      patternsSize += pattern.size;
      if (patternsSize > SCHEMA_BOUNDS.patternsSize) report(at, "the patterns of the schema are too large together");
    }
  };

  const read = (schema: unknown, path: string): void => {
    if (!isRecord(schema) || schemas.has(schema)) return;
    schemas.add(schema);
    for (const [keyword, value] of Object.entries(schema)) {
      const shape = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
      if (shape === undefined) continue;
      const at = path === "" ? keyword : `${path}.${keyword}`;
      if (!SHAPES[shape].is(value)) {
        report(at, SHAPES[shape].must);
        continue;
      }
      if (shape === "reference") references.push({ at, reference: value as string });
      readPatterns(at, patternsIn(shape, value));
      for (const [name, inner] of schemasIn(keyword, value)) read(inner, `${at}${name}`);
    }
  };
  return { read, schemas, references };
};

const problemsOf = (schema: JsonSchema, options: ReadOptions): string[] => {
  const problems: string[] = [];
  const { read, schemas, references } = createReader(options, (at, message) => problems.push(`${shownName(at)} ${message}`));
  read(schema, "");
  for (const { at, reference } of references) {
    const target = referenced(schema, reference);
    if (options.leadsAnywhere && isSchema(target)) read(target, at);
    else if (!schemas.has(target)) problems.push(`${shownName(at)} doesn't lead to a schema`);
  }
  return problems.slice(0, SCHEMA_BOUNDS.problems);
};

/** Problems of a user's schema, in its size, depth, keywords, references and patterns. */
export const schemaProblems = (schema: JsonSchema): string[] => {
  if (depthOf(schema, SCHEMA_BOUNDS.depth) > SCHEMA_BOUNDS.depth) return [`is deeper than ${SCHEMA_BOUNDS.depth} levels`];
  if (textBytes(JSON.stringify(schema)) > SCHEMA_BOUNDS.bytes) return [`is longer than ${SCHEMA_BOUNDS.bytes} bytes`];
  return problemsOf(schema, { keywords: KEYWORDS, patternOf, leadsAnywhere: false });
};

/** Problems of an operator's schema. It has no bounds and uses JavaScript patterns. */
export const inputSchemaProblems = (schema: JsonSchema): string[] =>
  problemsOf(schema, { keywords: { ...KEYWORDS, ...ANNOTATIONS }, patternOf: scriptPatternOf, leadsAnywhere: true });
