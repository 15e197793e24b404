import { createInputCheck, planRun, strictSchemaProblems } from "@nodeloom/kernel";
import { graphOf, model, OUT, schema, type Edge } from "../../support";

describe("a value that doesn't match a model's schema", () => {
  it.each([
    [{ type: "string" }, 5, "must be text"],
    [{ type: "integer" }, 1.5, "must be a whole number"],
    [{ type: "number" }, "1", "must be a number"],
    [{ type: "boolean" }, 1, "must be true or false"],
    [{ type: "array" }, {}, "must be a list"],
    [{ type: "object" }, [], "must be an object"],
    [{ type: ["string", "null"] }, 5, "must be text or null"],
    [{ minimum: 1 }, 0, "must be at least 1"],
    [{ maximum: 4 }, 5, "must be at most 4"],
    [{ exclusiveMinimum: 0 }, 0, "must be above 0"],
    [{ exclusiveMaximum: 1 }, 1, "must be below 1"],
    [{ minLength: 1 }, "", "must not be empty"],
    [{ minLength: 3 }, "ab", "must have at least 3 characters"],
    [{ maxLength: 2 }, "abc", "must have at most 2 characters"],
    [{ minItems: 1 }, [], "must not be empty"],
    [{ maxItems: 1 }, [1, 2], "must have at most 1 items"],
    [{ enum: ["a", "b"] }, "c", "must be one of a, b"],
    [{ enum: ["plain", "grand"] }, "grnd", "must be one of plain, grand: did you mean grand?"],
  ])("is explained in plain words: %j", (schema, value, message) => {
    const check = createInputCheck({ type: "object", properties: { field: schema } });
    expect(check({ field: value })).toEqual([{ path: "field", message }]);
  });
});

it.each(["integer", "number"])("rejects a number that a double can't represent for a model's %s", (type) => {
  const check = createInputCheck({ type: "object", properties: { seed: { type } } });
  expect(check(JSON.parse('{"seed":1e400}') as Record<string, unknown>)).toMatchObject([{ path: "seed" }]);
  expect(check({ seed: 1e300 })).toEqual([]);
});

describe("a model that needs one of two inputs", () => {
  const EITHER = { ...schema({}, []), anyOf: ["prompt", "image"].map((name) => ({ required: [name], properties: { [name]: {} } })) };

  it("has a valid schema, and names both if neither is set", () => {
    expect(strictSchemaProblems(EITHER)).toEqual([]);
    const check = createInputCheck(EITHER);
    expect([check({}), check({ prompt: "x" }), check({ image: "https://example.com/a.png" })]).toEqual([
      [{ path: "", message: "needs prompt or image" }],
      [],
      [],
    ]);
  });

  it("is refused in a graph only if no link can bring one of them", () => {
    const models = new Map([model("either", "image", { basis: "run", microUsd: 1 }, EITHER)]);
    const nodes = [
      { id: "web", type: "http-request", data: { url: "https://example.com" } },
      { id: "made", type: "generate-image", data: { model: "either" } },
      OUT,
    ];
    const issuesOf = (...edges: Edge[]) =>
      planRun({
        graph: graphOf(nodes, [...edges, ["made.image", "out.images"]]),
        ...{ inputs: new Map(), models, media: new Map(), markupPermille: 1_000 },
      }).issues.map(({ nodeId, message }) => [nodeId, message]);
    expect(issuesOf()).toEqual([["made", "needs prompt or image"]]);
    expect(issuesOf(["web.file", "made.image"])).toEqual([]);
  });
});
