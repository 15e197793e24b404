import { ANSWER_WORK, createBudget, readAnswer, schemaProblems, schemaViolations, type JsonSchema } from "@nodeloom/kernel";

const violations = (schema: JsonSchema, value: unknown): string[] =>
  schemaViolations(schema, value, createBudget()).map(({ path, message }) => `${path} ${message}`.trim());

const SCENE = {
  type: "object",
  required: ["title", "seconds"],
  additionalProperties: false,
  properties: {
    title: { type: "string", minLength: 1, maxLength: 20 },
    seconds: { type: "integer", minimum: 1, maximum: 10 },
    mood: { enum: ["calm", "wild"] },
    tags: { type: "array", items: { type: "string" }, uniqueItems: true },
  },
};
const SCENES = { type: "array", minItems: 1, maxItems: 3, items: { $ref: "#/$defs/scene" }, $defs: { scene: SCENE } };

describe("a value that doesn't match a schema", () => {
  it.each<[unknown, string[]]>([
    [[{ title: "Dawn", seconds: 3, mood: "calm", tags: ["a", "b"] }], []],
    [{ title: "Dawn" }, ["must be a list"]],
    [[], ["must not be empty"]],
    [[{ title: "Dawn" }], ["0.seconds is required"]],
    [[{ title: "", seconds: 1.5 }], ["0.title must not be empty", "0.seconds must be a whole number"]],
    [[{ title: "x", seconds: 11, mood: "sad" }], ["0.seconds must be at most 10", "0.mood must be one of calm, wild"]],
    [[{ title: "x", seconds: 1, colour: "red" }], ["0.colour is not allowed"]],
    [[{ title: "x", seconds: 1, tags: ["a", "a"] }], ["0.tags must not have duplicate items"]],
  ])("is reported with path and reason: %j", (value, expected) => expect(violations(SCENES, value)).toEqual(expected));

  it.each<[string, string, boolean]>([
    ["date", "2024-02-29", true],
    ["date", "2023-02-29", false],
    ["date-time", "2024-05-01T10:00:00Z", true],
    ["date-time", "2024-05-01", false],
    ["email", "a@example.com", true],
    ["email", "a@@b", false],
    ["uri", "https://example.com/x", true],
    ["uri", "/x", false],
    ["uuid", "6f1f64a1-2f6b-4bd1-8a4e-0c8ef2b6b9b0", true],
    ["unknown", "anything", true],
  ])("knows the format %s: %s", (format, text, fits) => expect(violations({ format }, text).length === 0).toBe(fits));
});

describe("a schema that a user wrote", () => {
  const deep = (levels: number): JsonSchema => (levels === 0 ? {} : { not: deep(levels - 1) });
  it.each<[string, JsonSchema, string]>([
    ["a remote reference", { $ref: "https://example.com/schema" }, "$ref must be a JSON pointer into the schema itself"],
    ["a reference that leads nowhere", { items: { $ref: "#/$defs/x" } }, "items.$ref doesn't lead to a schema"],
    ["a reference to what is no schema", { enum: [{ type: 5 }], items: { $ref: "#/enum/0" } }, "items.$ref doesn't lead to a schema"],
    ["a type that does not exist", { type: "text" }, "type must be one of object, array"],
    ["a bound that is no number", { properties: { a: { minimum: "1" } } }, "properties.a.minimum must be a number"],
    ["a list of schemas that is none", { anyOf: [] }, "anyOf must be a list of schemas"],
    ["a pattern with a look-ahead", { pattern: "(?=x)y" }, 'pattern "(?=x)y" isn\'t a valid regular expression'],
    ["a pattern that repeats too much", { pattern: "((a{1,30}){1,30})" }, 'pattern "((a{1,30}){1,30})" repeats too much'],
    ["a keyword that is not interpreted", { unevaluatedProperties: false }, "unevaluatedProperties is not supported"],
    ["a schema that is too deep", deep(33), "is deeper than 32 levels"],
    ["a schema that is too long", { description: "x".repeat(32 * 1024) }, "is longer than 32768 bytes"],
  ])("is rejected for %s", (_what, jsonSchema, problem) => expect(schemaProblems(jsonSchema)[0]).toContain(problem));

  it("can use names of inherited members", () => {
    const jsonSchema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"number"},"constructor":{"type":"number"}},"required":["toString"]}',
    ) as JsonSchema;
    expect(schemaProblems(jsonSchema)).toEqual([]);
    expect(violations(jsonSchema, JSON.parse('{"constructor":1,"__proto__":"x"}'))).toEqual([
      "__proto__ must be a number",
      "toString is required",
    ]);
  });
});

describe("the work of validating an answer", () => {
  const doubling = (levels: number): JsonSchema => ({
    $ref: "#/$defs/l0",
    $defs: Object.fromEntries(
      Array.from({ length: levels }, (_, level) => [
        `l${level}`,
        level === levels - 1 ? false : { anyOf: [{ $ref: `#/$defs/l${level + 1}` }, { $ref: `#/$defs/l${level + 1}` }] },
      ]),
    ),
  });
  it.each<[string, JsonSchema, string]>([
    ["references that double", doubling(40), "1"],
    ["references in a circle", { $ref: "#" }, "1"],
    ["alternatives in a circle", { anyOf: [{ $ref: "#" }, { $ref: "#" }] }, "1"],
    ["a pattern over a long text", { pattern: "(a|b)*a(a|b){50}c" }, JSON.stringify("ab".repeat(100_000))],
    ["a list of which no item may be twice", { items: { uniqueItems: true } }, JSON.stringify(Array(60_000).fill([]))],
  ])("is limited: %s", (_what, jsonSchema, text) => {
    expect(schemaProblems(jsonSchema)).toEqual([]);
    expect(readAnswer(text, jsonSchema)).toEqual({ problems: ["it takes too much work to check by its schema"] });
  });

  it("suffices for fifty scenes with many members", () => {
    const items = Array.from({ length: 50 }, (_, index) => ({
      title: `Scene ${index}`,
      prompt: "A lighthouse on a windy coast ".repeat(30),
      colour: "#00ff99",
      seconds: 4,
      tags: ["sea", "wind", "light"],
    }));
    const properties = {
      title: { type: "string", maxLength: 80 },
      prompt: { type: "string", maxLength: 2_000 },
      colour: { type: "string", pattern: "^#[0-9a-f]{6}$" },
      seconds: { type: "integer", minimum: 1, maximum: 10 },
      tags: { type: "array", uniqueItems: true, items: { enum: ["sea", "wind", "light"] } },
    };
    const jsonSchema = { type: "array", maxItems: 50, items: { type: "object", required: Object.keys(properties), properties } };
    const budget = createBudget({}, { valueBytes: Infinity, calls: Infinity, work: ANSWER_WORK / 2 });
    expect(schemaViolations(jsonSchema, items, budget)).toEqual([]);
  });
});

describe("an answer", () => {
  it.each<[string, unknown]>([
    ['{"a":1}', { a: 1 }],
    [' \n{"a":1}\n', { a: 1 }],
    ['```json\n{"a":1}\n```', { a: 1 }],
    ["```\n[1]\n```", [1]],
    ['<think>\nA {"a": 2} may do.\n</think>\n\n{"a":1}', { a: 1 }],
    ['so {"a": 2}?</think>```json\n{"a":1}\n```', { a: 1 }],
    ['"</think>"', "</think>"],
    ['Here you go:\n```json\n{"a": "}"}\n```\nHope {it} helps', { a: "}" }],
    ['{"a":1}\n\nHope it helps!', { a: 1 }],
    ['As [asked], {that} is "it": {"a":[1,"```"]}.', { a: [1, "```"] }],
    ["\ufeff[1]", [1]],
  ])("is read from %j", (text, expected) => expect(readAnswer(text, {})).toEqual({ value: expected }));

  it("is the matching value if the text around it also contains JSON", () => {
    const text = 'By [1], [2] and {"b": 1}: {"a": 1}';
    expect(readAnswer(text, { type: "object", required: ["a"] })).toEqual({ value: { a: 1 } });
    expect(readAnswer(text, { type: "object", required: ["c"] })).toEqual({ problems: ["it must be an object"] });
  });

  it.each([
    "",
    "words",
    '{"a":1',
    '{"a":1,"list":[1,2]',
    'Here: {"a":{"b":1}, "c',
    '<think>{"a":1}',
    '{"a":1,}',
    "[".repeat(70) + "]".repeat(70),
  ])("is rejected if it isn't JSON: %j", (text) => expect(readAnswer(text, {})).toEqual({ problems: ["it isn't JSON"] }));
  it("is rejected above the limit of a text", () =>
    expect(readAnswer(JSON.stringify("x".repeat(300_000)), {})).toEqual({ problems: ["it is longer than 262144 bytes"] }));
});
