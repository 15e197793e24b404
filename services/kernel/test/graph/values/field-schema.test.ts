import { createInputCheck, fieldProblem, fieldsSchema, resultSchema, type InputField } from "@nodeloom/kernel";

const field = (more: Partial<InputField>): InputField => ({ name: "x", type: "text", label: "x", required: false, ...more });

const FIELDS: InputField[] = [
  field({ min: 2, max: 4 }),
  field({ type: "textarea" }),
  field({ type: "number", min: 0, max: 1.5 }),
  field({ type: "boolean" }),
  field({ type: "select", options: ["a", "b", "a"] }),
  field({ type: "json" }),
];
const VALUES = ["", "a", "abc", "abcde", "👩‍👩‍👧", 0, 1, 1.5, 2, -1, true, null, [], {}, { a: [1] }];

it.each(FIELDS)("a schema of $type accepts the same values as the field", (one) => {
  const check = createInputCheck(fieldsSchema([one]));
  for (const value of VALUES) expect([value, check({ x: value }).length === 0]).toEqual([value, fieldProblem(one, value) === undefined]);
});

it("has a field's name, its default, and its requirement", () => {
  const fields = [
    field({ label: "Subject", default: "boat", required: true }),
    field({ name: "y", label: "y", type: "image_upload", required: true }),
  ];
  expect(fieldsSchema(fields)).toEqual({
    type: "object",
    properties: {
      x: { title: "Subject", type: "string", default: "boat" },
      y: { type: "string", description: expect.stringContaining("an image") as string },
    },
    required: ["y"],
    additionalProperties: false,
  });
});

it("describes a list of files, and how a file with a default is left empty", () => {
  const fields = [
    field({ type: "image_upload", multiple: true, maxItems: 3, required: true }),
    field({ name: "y", label: "y", type: "image_upload", default: "demo" }),
  ];
  expect(fieldsSchema(fields)).toMatchObject({
    properties: {
      x: { type: "array", items: { type: "string", description: expect.stringContaining("an image") as string }, minItems: 1, maxItems: 3 },
      y: { type: "string", description: expect.stringContaining("empty text for no file") as string },
    },
  });
});

it("uses the first field of a name, and treats names of inherited members like others", () => {
  const { properties } = fieldsSchema([field({ type: "number" }), field({}), field({ name: "__proto__" })]) as { properties: object };
  expect(Object.entries(properties)).toEqual([
    ["x", { type: "number" }],
    ["__proto__", { title: "x", type: "string" }],
  ]);
});

it("has files of a result as lists of addresses, and any value under other names", () => {
  const check = createInputCheck(resultSchema(["images", "text"]));
  expect(check({ images: [{ url: "https://a.example/1.png" }], text: 7 })).toEqual([]);
  expect(check({})).toEqual([]);
  expect(check({ images: "a" })).not.toEqual([]);
});
