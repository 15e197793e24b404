import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compileSchema, type JsonSchema } from "@nodeloom/kernel";
import { createInputCheck } from "../../src/canvas/check-inputs";
import { judge, modelTerms } from "../../src/canvas/judge";
import { readDocGraph } from "../../src/document/graph";

const REGISTRY = join(__dirname, "../../../../services/models/registry");
const entries = readdirSync(REGISTRY).map(
  (name) => JSON.parse(readFileSync(join(REGISTRY, name), "utf8")) as { internalName: string; inputSchema: JsonSchema },
);

const INPUTS: readonly Record<string, unknown>[] = [
  {},
  { prompt: "a boat" },
  { prompt: "" },
  { prompt: 7 },
  { prompt: "a boat", count: 9 },
  { prompt: "a boat", count: "two" },
  { prompt: "a boat", nope: 1 },
  { prompt: "a boat", sandbox: { fail: "never" } },
  { prompt: "a boat", seconds: 4.5, duration: 5, maxTokens: 0 },
];

describe("what the canvas says of inputs", () => {
  it.each(entries.map(({ internalName, inputSchema }) => [internalName, inputSchema] as const))(
    "agrees with the service about %s",
    (_name, schema) => {
      const [own, service] = [createInputCheck(schema), compileSchema(schema)];
      for (const inputs of INPUTS) {
        const places = (issues: readonly { path: string }[]): string[] => [...new Set(issues.map(({ path }) => path))].sort();
        expect({ inputs, places: places(own(inputs)) }).toEqual({ inputs, places: places(service(inputs)) });
      }
    },
  );
});

describe("what the canvas says of an input", () => {
  it.each([
    [{ minLength: 1 }, ""],
    [{ minLength: 3 }, "ab"],
    [{ maxLength: 2 }, "abc"],
    [{ minimum: 1.5 }, 1],
    [{ maximum: -1 }, 0],
    [{ exclusiveMinimum: 0 }, 0],
    [{ exclusiveMaximum: 2 }, 2],
    [{ minItems: 1 }, []],
    [{ maxItems: 1 }, [1, 2]],
    [{ enum: ["a", "b [c]"] }, "d"],
    [{ type: "integer" }, "d"],
  ])("is what the service says of it: %j, %j", (schema, value) => {
    const inputs = { type: "object", properties: { given: schema } } as JsonSchema;
    expect(createInputCheck(inputs)({ given: value })).toEqual(compileSchema(inputs)({ given: value }));
  });
});

describe("judging a graph", () => {
  const model = {
    internalName: "painter",
    displayName: "Painter",
    description: "",
    modality: "image",
    provider: { kind: "http-polling" },
    outputs: ["images"],
    inputSchema: entries.find(({ internalName }) => internalName === "sandbox-image")!.inputSchema,
    tierPrice: null,
    price: { perImageUsd: 0.02 },
    minTier: "free",
    trialRuns: 0,
    asyncSupported: true,
    enabled: true,
    sandbox: true,
  };
  const terms = modelTerms([model]);
  const nodes = (data: object): string =>
    JSON.stringify([
      { id: "in", type: "request-input", data: { fields: [{ name: "prompt", type: "text" }] } },
      { id: "list", type: "list", data: { items: ["a", "b", "c"] } },
      { id: "image", type: "generate-image", data },
    ]);
  const edge = (source: string, port: string): string =>
    JSON.stringify([{ id: "e", source, sourceHandle: port, target: "image", targetHandle: "prompt" }]);

  it("prices what flows through as the service does", () => {
    const { issues, prices } = judge(readDocGraph(nodes({ model: "painter", inputs: { count: 2 } }), edge("list", "items")), terms, 1_500);
    expect(issues).toEqual([]);
    expect(prices.get("image")).toEqual({ credits: 3 * 2 * 0.02 * 1.5 * 100, calls: 3 });
  });

  it("takes a field without a default as filled in", () => {
    expect(judge(readDocGraph(nodes({ model: "painter" }), edge("in", "prompt")), terms, 1_500).issues).toEqual([]);
  });

  it("names the node and what it lacks", () => {
    const { issues } = judge(readDocGraph(nodes({ model: "painter" }), "[]"), terms, 1_500);
    expect(issues).toEqual([{ nodeId: "image", message: "prompt: is required" }]);
  });
});
