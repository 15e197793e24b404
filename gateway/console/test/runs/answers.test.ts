import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answerOfSchema, expressionOf, schemaOfAnswer, TEXT_ANSWER, type Answer } from "../../src/runs/answers/schema-form";
import { plainWords } from "../../src/runs/answers/words";

const field = (name: string, type: Answer["fields"][number]["type"], more = {}) => ({ name, type, choices: [], description: "", ...more });

describe("the form of an answer", () => {
  it.each<[string, Answer]>([
    ["text", TEXT_ANSWER],
    ["texts", { shape: "list", fields: [], least: 3, most: 3 }],
    ["a list of fields", { shape: "list", fields: [field("title", "text"), field("seconds", "whole")], least: undefined, most: 6 }],
    [
      "fields",
      {
        ...TEXT_ANSWER,
        shape: "fields",
        fields: [
          field("name", "text", { description: "of the film" }),
          field("price", "number"),
          field("isLong", "boolean"),
          field("tags", "texts"),
          field("mood", "choice", { choices: ["calm", "dark"] }),
        ],
      },
    ],
  ])("of %s is a schema that reads as the same form", (_name, answer) => {
    expect(answerOfSchema(schemaOfAnswer(answer))).toEqual(answer);
  });

  it("keeps what it does not show of a schema", () => {
    const template = readFileSync(join(__dirname, "..", "..", "..", "..", "deploy", "local", "seed", "storyboard.json"), "utf8");
    const { nodes } = JSON.parse(template) as { nodes: { data: { schema?: unknown } }[] };
    const { schema } = nodes.find(({ data }) => data.schema !== undefined)!.data;
    const answer = answerOfSchema(schema)!;
    expect(answer).toMatchObject({ shape: "list", least: 2, most: 4 });
    expect(schemaOfAnswer(answer)).toEqual(schema);
  });

  it.each([
    { type: "object", properties: { a: { type: "string" } } },
    { type: "object", required: ["a"], additionalProperties: false, properties: { a: { $ref: "#/x" } } },
    { type: "array", items: { type: "array" } },
    { anyOf: [] },
    "{}",
  ])("is none for a schema that says more: %j", (schema) => {
    expect(answerOfSchema(schema)).toBeUndefined();
  });
});

it("picks a value by its path, of a list's elements for all of them", () => {
  expect(expressionOf([])).toBe("");
  expect(expressionOf(["shots", 0, "prompt"])).toBe("shots[*].prompt");
  expect(expressionOf([0, "a b", 0])).toBe('[*]."a b"[*]');
});

it("says an answer in words", () => {
  expect(
    plainWords([
      { title: "dawn", seconds: 3 },
      { title: "dusk", seconds: 4 },
    ]),
  ).toBe("1. dawn — 3\n2. dusk — 4");
  expect(plainWords({ title: "dawn", isLong: false, gone: null })).toBe("title: dawn\nisLong: false\ngone: ");
});
