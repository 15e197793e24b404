import { isRecord, readAnswer, schemaProblems, type JsonSchema } from "@nodeloom/kernel";
import { composePhrase, composeTitle } from "./chat-text";
import { createRandom, seedOf, type Random } from "./render/random";

/** Generates plausible JSON for a schema. The prompt and the schema fully determine the result. */

const USUAL_ITEMS = 3;
/** Only required members are generated below this depth. */
const MOST_DEPTH = 8;
/** Maximum references followed per value. */
const MOST_REFERENCES = 20;
const UNIQUE_TRIES = 50;
/** Attempts to generate a text for a pattern. */
const PATTERN_TRIES = 20;
/** Maximum nesting of unbounded repetitions, because each level multiplies length and time. */
const MOST_NESTED = 2;
/** Maximum length of a text whose pattern doesn't bound it. */
const MOST_CHARS = 10_000;
const USUAL_RANGE = 10;
const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.UTC(2024, 0, 1);
const DAYS = 730;
const SEEDS = 2 ** 31;
const SHORT_NAMES = /name|title|label|heading|caption|id$/i;

interface Writing {
  root: JsonSchema;
  prompt: string;
  random: Random;
}

const schemaAt = (root: JsonSchema, reference: string): JsonSchema => {
  const definition = reference
    .split("/")
    .slice(1)
    .reduce<unknown>((value, name) => (isRecord(value) ? value[name.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined), root);
  return isRecord(definition) ? definition : {};
};

const asSchema = (value: unknown): JsonSchema => (isRecord(value) ? value : {});
const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const merged = (one: JsonSchema, other: JsonSchema): JsonSchema => ({
  ...one,
  ...other,
  properties: { ...recordOf(one.properties), ...recordOf(other.properties) },
  required: [...new Set([...listOf(one.required), ...listOf(other.required)])],
});

/** Merges references and `allOf` into the schema and selects the first alternative. */
const flattened = (schema: JsonSchema, root: JsonSchema, references = 0): JsonSchema => {
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const [alternative] = [...listOf(anyOf), ...listOf(oneOf)];
  const parts = [
    ...(typeof $ref === "string" && references < MOST_REFERENCES ? [schemaAt(root, $ref)] : []),
    ...listOf(allOf).map(asSchema),
    ...(alternative === undefined ? [] : [asSchema(alternative)]),
  ];
  return parts.reduce<JsonSchema>((whole, part) => merged(flattened(part, root, references + 1), whole), own);
};

const typeOf = ({ type, properties, items, prefixItems, minimum, maximum }: JsonSchema): string => {
  if (Array.isArray(type)) return (type as string[]).find((one) => one !== "null") ?? "null";
  if (typeof type === "string") return type;
  if (Object.keys(recordOf(properties)).length > 0) return "object";
  if (items !== undefined || prefixItems !== undefined) return "array";
  return minimum !== undefined || maximum !== undefined ? "number" : "string";
};

const numberOr = (value: unknown, fallback: number): number => (typeof value === "number" ? value : fallback);

const numberFor = (schema: JsonSchema, isWhole: boolean, { random }: Writing): number => {
  const unit = numberOr(schema.multipleOf, isWhole ? 1 : 0.1);
  const above = numberOr(schema.exclusiveMinimum, -Infinity) + unit;
  const below = numberOr(schema.exclusiveMaximum, Infinity) - unit;
  const minimum = Math.max(numberOr(schema.minimum, -Infinity), above);
  const most = Math.min(numberOr(schema.maximum, Infinity), below);
  const low = Number.isFinite(minimum) ? minimum : Math.min(1, most);
  const high = Number.isFinite(most) ? most : low + USUAL_RANGE;
  const [first, last] = [Math.ceil(low / unit), Math.floor(high / unit)];
  if (last < first) return low;
  const value = (first + random.below(last - first + 1)) * unit;
  return isWhole ? Math.round(value) : Number(value.toFixed(6));
};

const hex = ({ random }: Writing, digits: number): string => Array.from({ length: digits }, () => random.below(16).toString(16)).join("");

const FORMATS: Readonly<Record<string, (writing: Writing) => string>> = {
  date: ({ random }) => new Date(FIRST_DAY_MS + random.below(DAYS) * DAY_MS).toISOString().slice(0, 10),
  "date-time": ({ random }) => new Date(FIRST_DAY_MS + random.below(DAYS * DAY_MS)).toISOString(),
  time: ({ random }) => new Date(random.below(DAY_MS)).toISOString().slice(11, 19) + "Z",
  email: (writing) => `sandbox-${hex(writing, 4)}@example.com`,
  hostname: (writing) => `sandbox-${hex(writing, 4)}.example.com`,
  uri: (writing) => `https://example.com/${hex(writing, 8)}`,
  uuid: (writing) => `${hex(writing, 8)}-${hex(writing, 4)}-4${hex(writing, 3)}-8${hex(writing, 3)}-${hex(writing, 12)}`,
  ipv4: ({ random }) => `192.0.2.${1 + random.below(254)}`,
};

/** Compiles an anchored pattern with the Unicode flag, or without it if the pattern's escapes are invalid with it. */
const expressionOf = (pattern: string): RegExp | undefined => {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(`^(?:${pattern})$`, flags);
    } catch {
      // Tries the other flags.
    }
  }
  return undefined;
};

/** Tokens of JavaScript patterns: classes, escapes and unbounded repetitions. */
const PATTERN_TOKENS = /\\.|\[(?:\\.|[^\]\\])*[\]\\]?|\{\d+,\}|./gsu;
const ENDLESS = /^(?:[*+]|\{\d+,\})$/;

/** Nesting depth of unbounded repetitions. */
const nestedRepetitions = (pattern: string): number => {
  const deepest = [0];
  let last = 0;
  const note = (): void => void deepest.push(Math.max(deepest.pop() ?? 0, last));
  for (const [token] of pattern.matchAll(PATTERN_TOKENS)) {
    if (token === ")") last = deepest.pop() ?? 0;
    else last = ENDLESS.test(token) ? last + 1 : 0;
    if (token === "(") deepest.push(0);
    else note();
  }
  return Math.max(...deepest);
};

/** Generates a text for a schema's pattern; undefined if none can be generated quickly. */
const patternedText = ({ pattern, minLength = 0, maxLength = MOST_CHARS }: JsonSchema, { random }: Writing): string | undefined => {
  if (typeof pattern !== "string") return undefined;
  const schema = { type: "string", pattern, minLength, maxLength };
  const expression = expressionOf(pattern);
  if (!expression || schemaProblems(schema).length > 0 || nestedRepetitions(pattern) > MOST_NESTED) return undefined;
  // Loaded on demand, because few schemas have patterns.
  const { sample, stringMatching } = require("fast-check") as typeof import("fast-check");
  try {
    const texts = sample(stringMatching(expression, { size: "small" }), { numRuns: PATTERN_TRIES, seed: random.below(SEEDS) });
    return texts.find((text) => "value" in readAnswer(JSON.stringify(text), schema));
  } catch {
    // The generator doesn't support word boundaries.
    return undefined;
  }
};

const textFor = (schema: JsonSchema, name: string, writing: Writing): string => {
  const format = typeof schema.format === "string" ? FORMATS[schema.format] : undefined;
  if (format) return format(writing);
  const most = numberOr(schema.maxLength, Infinity);
  const least = numberOr(schema.minLength, 0);
  const patterned = patternedText(schema, writing);
  if (patterned !== undefined) return patterned;
  const compose = SHORT_NAMES.test(name) ? composeTitle : composePhrase;
  let text = compose(writing.prompt, writing.random);
  while ([...text].length < least) text += ` ${compose(writing.prompt, writing.random)}`;
  return [...text].slice(0, most).join("");
};

const listFor = (schema: JsonSchema, name: string, writing: Writing, depth: number): unknown[] => {
  const first = listOf(schema.prefixItems);
  const least = numberOr(schema.minItems, 0);
  const usual = depth < MOST_DEPTH ? Math.max(USUAL_ITEMS, first.length) : least;
  const room = schema.items === false ? first.length : Infinity;
  const length = Math.min(Math.max(least, usual), numberOr(schema.maxItems, Infinity), room);
  const items: unknown[] = [];
  const knownItems = new Set<string>();
  for (let tries = 0; items.length < length && tries < length + UNIQUE_TRIES; tries += 1) {
    const item = valueFor(asSchema(first[items.length] ?? schema.items), name, writing, depth + 1);
    const itemJson = JSON.stringify(item);
    if (schema.uniqueItems === true && knownItems.has(itemJson)) continue;
    knownItems.add(itemJson);
    items.push(item);
  }
  return items;
};

const objectFor = (schema: JsonSchema, writing: Writing, depth: number): Record<string, unknown> => {
  const properties = recordOf(schema.properties);
  const required = listOf(schema.required) as string[];
  const names = new Set([...(depth < MOST_DEPTH ? Object.keys(properties) : []), ...required]);
  return Object.fromEntries(
    [...names]
      .filter((name) => properties[name] !== false)
      .map((name) => [name, valueFor(asSchema(properties[name]), name, writing, depth + 1)]),
  );
};

function valueFor(reference: JsonSchema, name: string, writing: Writing, depth: number): unknown {
  const schema = flattened(reference, writing.root);
  if (Object.hasOwn(schema, "const")) return schema.const;
  const choices = listOf(schema.enum);
  if (choices.length > 0) return choices[writing.random.below(choices.length)];
  switch (typeOf(schema)) {
    case "object":
      return objectFor(schema, writing, depth);
    case "array":
      return listFor(schema, name, writing, depth);
    case "number":
      return numberFor(schema, false, writing);
    case "integer":
      return numberFor(schema, true, writing);
    case "boolean":
      return writing.random.below(2) === 1;
    case "null":
      return null;
    default:
      return textFor(schema, name, writing);
  }
}

/** Generates JSON for a schema, with words of the prompt. Patterns that take too long are ignored. */
export const composeJson = (prompt: string, schema: JsonSchema, context: readonly (string | number | undefined)[]): string => {
  const random = createRandom(seedOf(prompt, JSON.stringify(schema), ...context));
  return JSON.stringify(valueFor(schema, "", { root: schema, prompt, random }, 0));
};
