import { readAnswer, type JsonSchema } from "@nodeloom/kernel";
import { composeJson } from "../src/chat-json";
import { startSandbox, type Answer, type TestSandbox } from "./support/sandbox";
import { growth } from "../../../test-support/growth";

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const SCENES: JsonSchema = {
  type: "object",
  required: ["scenes"],
  additionalProperties: false,
  properties: {
    scenes: {
      type: "array",
      minItems: 4,
      maxItems: 4,
      items: {
        type: "object",
        required: ["title", "prompt", "seconds"],
        additionalProperties: false,
        properties: {
          title: { type: "string", maxLength: 40 },
          prompt: { type: "string", minLength: 20 },
          seconds: { type: "integer", minimum: 2, maximum: 5 },
          mood: { enum: ["calm", "wild"] },
        },
      },
    },
  },
};
const QUESTION = { role: "user", content: "Four scenes of a lighthouse" };
const ask = (members: object, schema: JsonSchema = SCENES): Promise<Answer> =>
  sandbox.call("POST", "/v1/chat/completions", {
    model: "sandbox-chat",
    messages: [QUESTION],
    response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
    ...members,
  });
const textOf = ({ at }: Answer): string => String(at("choices.0.message.content"));

it("answers a schema with matching JSON, the same for the same prompt", async () => {
  const answer = textOf(await ask({}));
  expect(readAnswer(answer, SCENES)).toEqual({ value: JSON.parse(answer) as unknown });
  expect(answer).toContain("lighthouse");
  expect(textOf(await ask({}))).toBe(answer);
  expect(textOf(await ask({ messages: [{ ...QUESTION, content: "Four scenes of a loom" }] }))).not.toBe(answer);
});

it.each<JsonSchema>([
  { pattern: "^[a-z]{3}$" },
  { pattern: "^#[0-9a-f]{6}$", maxLength: 7 },
  { pattern: "[A-Z]{2}-\\d+", minLength: 6 },
  { pattern: "^(jpg|png)$" },
  { pattern: "^shot\\-\\d$" },
  { pattern: "^\\p{Lu}.{2,}$", maxLength: 5 },
  { pattern: "^([a-z]+(-[a-z]+)*)(\\.[a-z]+)*$" },
  { pattern: "^[*+(]+\\(*\\)$" },
])("answers with a text that matches a pattern: %j", (text) => {
  const schema = { type: "object", required: ["text"], properties: { text: { type: "string", ...text } } };
  for (const prompt of ["a loom", "a kite", "a tree", "a boat"]) {
    const answer = composeJson(prompt, schema, []);
    expect(readAnswer(answer, schema)).toEqual({ value: JSON.parse(answer) as unknown });
    expect(composeJson(prompt, schema, [])).toBe(answer);
  }
});

it.each(["(?i)loom", "\\bkite\\b", "\\pN", "(kite{900}){900}"])(
  "answers with words if it can't generate a text for the pattern %s",
  (pattern) => {
    expect(composeJson("a loom", { type: "string", pattern }, [])).toMatch(/loom/);
  },
);

it.each(["((((((a*)*)*)*)*)*)*", "[^](((((((a+)+)+)+)+)+)+)+]", "(((((?:a{0,}b)?)*c)*)*)*"])(
  "answers with words if texts for the pattern %s would grow without limits, or it is nested too deeply",
  (pattern) => {
    const compose = (by: string) => () => composeJson("a loom", { type: "string", pattern: by }, []);
    expect(compose(pattern)()).toMatch(/loom/);
    expect(growth(compose(pattern), compose(`((${pattern})*)*`))).toBeLessThan(10);
  },
);

it("also answers a schema piece by piece", async () => {
  const { text } = await ask({ stream: true });
  const pieces = text
    .split("\n\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => (JSON.parse(line.slice("data: ".length)) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content);
  expect(pieces.join("")).toBe(textOf(await ask({})));
});

const SECOND_TURN = [QUESTION, { role: "assistant", content: "words" }, { role: "user", content: "Again, as JSON" }];

it("returns a mismatch on request, and the matching answer when it is asked again", async () => {
  const invalid = { sandbox: { fail: "invalid" } };
  expect(readAnswer(textOf(await ask(invalid)), SCENES)).toEqual({ problems: ["it isn't JSON"] });
  expect(textOf(await ask({ ...invalid, messages: SECOND_TURN }))).toBe(textOf(await ask({})));
});

it("never returns a matching answer after a request for a mismatch", async () => {
  const unfit = { sandbox: { fail: "unfit" }, messages: SECOND_TURN };
  expect(readAnswer(textOf(await ask(unfit)), SCENES)).toEqual({ problems: ["it isn't JSON"] });
});

it.each<[string, JsonSchema]>([
  ["nothing said", {}],
  ["text of a length", { type: "string", minLength: 300, maxLength: 320 }],
  ["a short text", { type: "string", maxLength: 3 }],
  ["a number between", { type: "number", minimum: 0.25, maximum: 0.75 }],
  ["numbers that are excluded", { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 3 }],
  ["a negative number", { type: "integer", maximum: -5 }],
  ["a multiple", { type: "integer", multipleOf: 25, minimum: 30, maximum: 60 }],
  ["a constant", { const: { a: [1] } }],
  ["a choice of types", { type: ["null", "boolean"] }],
  ["nothing but null", { type: "null" }],
  ["choices, each once", { type: "array", uniqueItems: true, minItems: 3, items: { enum: ["a", "b", "c"] } }],
  ["many items", { type: "array", minItems: 20, items: { type: "integer" } }],
  ["no items", { type: "array", maxItems: 0 }],
  ["a tuple", { type: "array", prefixItems: [{ const: 1 }, { type: "string" }], items: false }],
  ["a name that is only required", { type: "object", required: ["a"] }],
  ["a name that is not allowed", { type: "object", properties: { a: false, b: { type: "integer" } } }],
  ["references", { $ref: "#/$defs/a", $defs: { a: { type: "array", items: { $ref: "#/$defs/b" } }, b: { type: "boolean" } } }],
  [
    "a tree",
    {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          required: ["name"],
          properties: { name: { type: "string" }, children: { type: "array", maxItems: 1, items: { $ref: "#/$defs/node" } } },
        },
      },
    },
  ],
  [
    "parts that hold together",
    {
      allOf: [
        { type: "object", required: ["a"], properties: { a: { type: "integer" } } },
        { properties: { b: { type: "boolean" } }, required: ["b"] },
      ],
    },
  ],
  ["alternatives", { anyOf: [{ type: "string", maxLength: 4 }, { type: "null" }] }],
  ...["date", "date-time", "time", "email", "hostname", "uri", "uuid", "ipv4"].map((format): [string, JsonSchema] => [
    `the format ${format}`,
    { type: "array", minItems: 10, items: { type: "string", format } },
  ]),
])("matches any schema without patterns: %s", (_what, schema) => {
  const answer = composeJson("a lighthouse", schema, []);
  expect(readAnswer(answer, schema)).toEqual({ value: JSON.parse(answer) as unknown });
});
