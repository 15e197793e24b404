import type { JsonSchema } from "../prices/price";
import { isRecord } from "../types";
import { ANNOTATIONS, KEYWORDS } from "./keywords";
import { inputSchemaProblems, schemasIn } from "./read";
import { referenced } from "./reference";

/** Reports likely mistakes that JSON Schema ignores: unknown keywords, and schemas that no value matches. */

/** Types that a keyword applies to. An unlisted keyword applies to every type. */
const TYPES_OF: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries({
    number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
    string: ["minLength", "maxLength", "pattern"],
    array: ["items", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems"],
    object: [
      ...["properties", "patternProperties", "additionalProperties", "propertyNames", "required"],
      ...["minProperties", "maxProperties", "dependentRequired", "dependentSchemas"],
    ],
  })
    .flatMap(([type, keywords]) => keywords.map((keyword): [string, string[]] => [keyword, [type]]))
    .concat([["format", ["number", "string"]]]),
);

/** Keywords whose subschemas apply to the same value, in the order in which they are read. */
const SAME_VALUE = ["$ref", "not", "anyOf", "oneOf", "allOf", "if", "then", "else"] as const;
/** Keywords that have no effect without one of the listed keywords. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  if: ["then", "else"],
  then: ["if"],
  else: ["if"],
  minContains: ["contains"],
  maxContains: ["contains"],
};

const holds = (types: readonly string[], type: string): boolean => types.includes(type) || (type === "integer" && types.includes("number"));

/** True if the schema's keywords can reject a value. */
const demands = (schema: unknown): boolean =>
  schema === false || (isRecord(schema) && Object.keys(schema).some((keyword) => Object.hasOwn(KEYWORDS, keyword)));

/** Properties of the value that follow from the enclosing schemas. */
interface Context {
  types: readonly string[];
  properties: Set<string>;
}

/** Types that the value can have under this schema and all enclosing schemas. */
const narrowed = ({ type }: JsonSchema, around: readonly string[], report: (message: string) => void): readonly string[] => {
  const own = type === undefined ? [] : ([type].flat() as string[]);
  if (own.length > 2 || (own.length === 2 && !own.includes("null"))) report("type can be one type, or one type and null");
  if (own.length === 0 || around.length === 0) return own.length === 0 ? around : own;
  for (const one of own) if (!holds(around, one)) report(`type ${one} is none of those around it: ${around.join(", ")}`);
  return around.flatMap((one) => (holds(own, one) ? [one] : one === "number" && own.includes("integer") ? ["integer"] : []));
};

const checkTuple = ({ prefixItems, items, minItems, maxItems }: JsonSchema, report: (message: string) => void): void => {
  if (!Array.isArray(prefixItems)) return;
  const { length } = prefixItems;
  if (minItems !== length || (maxItems !== length && items !== false))
    report(`prefixItems has ${length} items: minItems must be ${length}, and maxItems the same or items false`);
};

const checkMatchingNames = ({ properties, patternProperties }: JsonSchema, report: (message: string) => void): void => {
  if (!isRecord(properties) || !isRecord(patternProperties)) return;
  for (const source of Object.keys(patternProperties))
    for (const name of Object.keys(properties))
      if (new RegExp(source).test(name)) report(`property ${name} also matches the pattern ${source}`);
};

const createStrictReader = (root: JsonSchema, problems: string[]) => {
  const seenSchemas = new Set<unknown>();
  const visit = (schema: unknown, path: string, context: Context): void => {
    if (!isRecord(schema) || seenSchemas.has(schema)) return;
    seenSchemas.add(schema);
    const report = (message: string): void => void problems.push(path === "" ? message : `${path}: ${message}`);
    for (const keyword of Object.keys(schema))
      if (!Object.hasOwn(KEYWORDS, keyword) && !Object.hasOwn(ANNOTATIONS, keyword)) report(`there is no keyword ${keyword}`);
    const types = narrowed(schema, context.types, report);
    for (const keyword of Object.keys(schema)) {
      const about = Object.hasOwn(TYPES_OF, keyword) ? TYPES_OF[keyword]! : undefined;
      if (about && !about.some((type) => types.includes(type) || (type === "number" && types.includes("integer"))))
        report(`${keyword} needs the type ${about.join(" or ")}`);
      const needed = Object.hasOwn(NEEDS, keyword) ? NEEDS[keyword]! : undefined;
      if (needed && !needed.some((other) => schema[other] !== undefined)) report(`${keyword} means nothing without ${needed.join(" or ")}`);
    }
    checkTuple(schema, report);
    checkMatchingNames(schema, report);
    const here = (keyword: string): string => (path === "" ? keyword : `${path}.${keyword}`);
    for (const keyword of SAME_VALUE) {
      if (schema[keyword] === undefined || (keyword === "if" && !demands(schema.then) && !demands(schema.else))) continue;
      if (keyword === "$ref") visit(referenced(root, schema.$ref as string), here(keyword), { types: [], properties: new Set() });
      else for (const [at, inner] of schemasIn(keyword, schema[keyword])) visit(inner, here(keyword) + at, { ...context, types });
    }
    const own = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
    for (const name of (schema.required ?? []) as string[])
      if (!own.includes(name) && !context.properties.has(name)) report(`required names ${name}, which isn't a property`);
    for (const name of own) context.properties.add(name);
    for (const [keyword, value] of Object.entries(schema)) {
      if ((SAME_VALUE as readonly string[]).includes(keyword) || keyword === "$defs" || keyword === "definitions") continue;
      const isSame = keyword === "dependentSchemas";
      const apart: Context = { types: keyword === "propertyNames" ? ["string"] : [], properties: new Set() };
      for (const [at, inner] of schemasIn(keyword, value)) visit(inner, here(keyword) + at, isSame ? { ...context, types } : apart);
    }
  };
  return visit;
};

/** Problems of a model's input schema, checked at registration. A misspelt keyword would accept every input. */
export const strictSchemaProblems = (schema: JsonSchema): string[] => {
  const problems = inputSchemaProblems(schema);
  if (problems.length > 0) return problems;
  createStrictReader(schema, problems)(schema, "", { types: [], properties: new Set() });
  return problems;
};
