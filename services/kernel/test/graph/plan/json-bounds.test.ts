import { createInputCheck, createBudget, evaluateStep, planRun } from "@nodeloom/kernel";
import fc from "fast-check";
import { parseExpression, shapeOf } from "../../../src/graph/jmespath";
import { shapeOfSchema } from "../../../src/graph/values/shape";
import { graphOf, MODELS } from "../../support";

const SHOT = {
  type: "object",
  required: ["prompt", "tags"],
  properties: {
    prompt: { type: "string" },
    title: { type: "string" },
    tags: { type: "array", minItems: 1, maxItems: 2, items: { type: "string" } },
  },
};
const shots = (bounds: object) => ({
  type: "object",
  required: ["shots"],
  properties: { shots: { type: "array", ...bounds, items: SHOT }, title: { type: "string" } },
});
const THREE = shots({ minItems: 3, maxItems: 3 });
const UP_TO_THREE = shots({ maxItems: 3 });

/** Holds and item bounds of pictures behind a JSON node. */
const pictures = (schema: object, ...expressions: string[]) => {
  const nodes = [
    { id: "chat", type: "llm-assistant", data: { model: "chat", prompt: "p", schema } },
    ...expressions.map((expression, index) => ({ id: `json${index}`, type: "json", data: { expression } })),
    { id: "pic", type: "generate-image", data: { model: "pic" } },
  ];
  const edges = expressions.map((_, index): [string, string] => [
    index === 0 ? "chat.json" : `json${index - 1}.value`,
    `json${index}.value`,
  ]);
  const { plan, issues } = planRun({
    graph: graphOf(nodes, [...edges, [`json${expressions.length - 1}.value`, "pic.prompt"]]),
    inputs: new Map(),
    models: MODELS,
    media: new Map(),
    markupPermille: 1_500,
  });
  if (!plan) throw new Error(JSON.stringify(issues));
  const { maxItems, itemLimit } = plan.steps.find(({ id }) => id === "pic")!;
  return [maxItems, itemLimit];
};

describe("a list's limits in the schema of an answer", () => {
  it.each<[string, object, [number, number]]>([
    ["shots[*].prompt", THREE, [3, 3]],
    ["shots[].prompt", THREE, [3, 3]],
    ["shots", THREE, [3, 3]],
    ["shots[*].prompt", UP_TO_THREE, [1, 3]],
    ["shots[*].title", THREE, [1, 3]],
    ["shots[?tags[0] == 'sea'].prompt", THREE, [1, 3]],
    ["shots[:2].prompt", THREE, [2, 2]],
    ["shots[-2:].prompt", THREE, [1, 2]],
    ["shots[::2].prompt", THREE, [1, 2]],
    ["shots[*].tags[]", THREE, [3, 6]],
    ["shots[0].prompt", THREE, [1, 1]],
    ["shots[*].prompt | [:1]", THREE, [1, 1]],
    ["shots[*].prompt", shots({}), [1, 50]],
    ["shots[:7].prompt", shots({}), [1, 7]],
    ["sort(shots[*].prompt)", THREE, [1, 50]],
  ])("also apply after the expression %s", (expression, schema, expected) => {
    expect(pictures(schema, expression)).toEqual(expected);
  });

  it("also apply after several expressions in a row", () => {
    expect(pictures(THREE, "shots", "[*].prompt")).toEqual([3, 3]);
  });

  it("don't cover a missing list: it counts as one paid value", () => {
    const optional = { type: "object", properties: { shots: { type: "array", maxItems: 0, items: SHOT } } };
    expect(pictures(optional, "shots")).toEqual([1, 1]);
  });
});

const STEPS = [
  ".shots",
  ".prompt",
  ".tags",
  ".none",
  "[*]",
  "[]",
  "[0]",
  "[-1]",
  "[:2]",
  "[1:]",
  "[-2:]",
  "[:-1]",
  "[::-1]",
  "[2:0:-1]",
  "[-1:-3:-1]",
  "[?prompt]",
  " | [0]",
  " | [*]",
  " | []",
  " || `[]`",
  " && @",
  ".[prompt, tags]",
  ".{shots: tags, prompt: prompt}",
  ".*",
];
const GIVEN = fc.record(
  {
    shots: fc.array(
      fc.record({ prompt: fc.string(), tags: fc.array(fc.string(), { minLength: 1, maxLength: 2 }) }, { requiredKeys: ["prompt", "tags"] }),
      { maxLength: 3 },
    ),
    title: fc.string(),
  },
  { requiredKeys: ["shots"] },
);

it("is never exceeded by an expression on a matching answer", () => {
  const fits = createInputCheck(UP_TO_THREE);
  let lists = 0;
  fc.assert(
    fc.property(GIVEN, fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 6 }), (value, steps) => {
      expect(fits(value)).toEqual([]);
      const expression = `shots${steps.join("")}`;
      const shape = shapeOf(parseExpression(expression), shapeOfSchema(UP_TO_THREE));
      const result = evaluateStep({ type: "json", literals: { expression } }, { value }, createBudget());
      if (shape.isThere) expect(result).not.toBeNull();
      if (shape.kind === "plain") expect(Array.isArray(result)).toBe(false);
      if (shape.kind === "object") expect(result === null || !Array.isArray(result)).toBe(true);
      if (shape.kind !== "list" || result === null) return;
      lists += 1;
      expect(result).toBeInstanceOf(Array);
      expect((result as unknown[]).length).toBeLessThanOrEqual(shape.most);
      expect((result as unknown[]).length).toBeGreaterThanOrEqual(shape.least);
    }),
    { numRuns: 2_000 },
  );
  expect(lists).toBeGreaterThan(200);
});
