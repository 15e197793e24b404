import { allFittingInputs, createPortBook, fits, fittingInputs, portsOf, type Port } from "../../src/canvas/ports";
import { routeOf } from "../../src/canvas/routes";
import { readDocGraph } from "../../src/document/graph";

const SCHEMA = {
  type: "object",
  required: ["prompt"],
  properties: {
    sandbox: { type: "object" },
    seed: { type: "integer" },
    negative: { type: "string" },
    prompt: { type: "string" },
    image: { type: "string", format: "media" },
  },
};
const ports = portsOf({ id: "p", type: "generate-image", data: {} }, { schemaOf: () => SCHEMA, resultsOf: () => undefined }, [], []);
const output = (type: Port["type"]): Port => ({ name: "out", type, list: false });
const names = (portList: Port[]): string[] => portList.map(({ name }) => name);

describe("the input that a link is made to", () => {
  it.each(["any", "text", "number"] as const)("of %s is the one that the model asks for", (type) => {
    expect(names(fittingInputs(output(type), ports, new Set()))[0]).toBe("prompt");
  });

  it("of a picture is the one for pictures", () => {
    expect(names(fittingInputs(output("image"), ports, new Set()))[0]).toBe("image");
  });

  it("of what was approved is the one for what was shown", () => {
    const graph = readDocGraph(
      JSON.stringify([
        { id: "pic", type: "generate-image", data: {} },
        { id: "ok", type: "approval", data: {} },
        { id: "end", type: "response-output", data: {} },
      ]),
      JSON.stringify([{ id: "e", source: "pic", sourceHandle: "image", target: "ok", targetHandle: "value" }]),
    );
    const book = createPortBook()(graph, { schemaOf: () => SCHEMA, resultsOf: () => undefined });
    const [approved] = book.get("ok")!.outputs;
    expect(names(fittingInputs(approved!, book.get("end")!, new Set()))[0]).toBe("images");
  });

  it("is never a setting that is rarely set, which a list of all of them has", () => {
    expect(names(fittingInputs(output("any"), ports, new Set()))).not.toEqual(expect.arrayContaining(["sandbox"]));
    expect(names(fittingInputs(output("any"), ports, new Set()))).not.toEqual(expect.arrayContaining(["seed"]));
    expect(names(allFittingInputs(output("any"), ports, new Set()))).toEqual(expect.arrayContaining(["sandbox", "seed"]));
  });
});

describe("words", () => {
  const picture: Port = { name: "image", type: "image", list: false };
  const gives = (type: string, data: object): Port =>
    portsOf({ id: "t", type, data: { ...data } }, { schemaOf: () => SCHEMA, resultsOf: () => ["text"] }, [], []).outputs[0]!;

  it.each([
    ["a text of words", "text-box", { text: "a boat" }],
    ["what a model writes", "llm-assistant", { prompt: "https://example.com/a.png" }],
    ["an input without a default", "request-input", { fields: [{ name: "photo", type: "text" }] }],
  ])("never enter a port for pictures: %s", (_name, type, data) => {
    expect(fits(gives(type, data), picture)).toBe(false);
    expect(fits(gives(type, data), { ...picture, type: "text" })).toBe(true);
  });

  it.each([
    ["text", "text-box", { text: " https://example.com/{{name}}.png " }],
    ["input", "request-input", { fields: [{ name: "photo", type: "text", default: "https://example.com/a.png" }] }],
  ])("enter it where a %s is known to be an address", (_name, type, data) => {
    expect(fits(gives(type, data), picture)).toBe(true);
  });
});

describe("a model that reads a file", () => {
  const node = { id: "read", type: "llm-assistant", data: { model: "reader" } };
  const outputsOf = (results: readonly string[]) =>
    portsOf(node, { schemaOf: () => SCHEMA, resultsOf: () => results }, [], []).outputs.map(({ name, type }) => [name, type]);

  it("passes on its parsed JSON through a separate port, if set", () => {
    expect(outputsOf(["text", "json"])).toEqual([
      ["text", "text"],
      ["json", "any"],
    ]);
    expect(outputsOf(["text"])).toEqual([["text", "text"]]);
  });
});

describe("a link", () => {
  const [left, right] = [
    { x: 0, y: 0, width: 100, height: 100 },
    { x: 900, y: 0, width: 100, height: 100 },
  ];
  const ends = { source: "a", target: "b", from: { x: 100, y: 50 }, to: { x: 900, y: 50 } };
  const nodes = (...between: { x: number; y: number; width: number; height: number }[]) =>
    new Map([["a", left] as const, ["b", right] as const, ...between.map((rect, at) => [`c${at}`, rect] as const)]);

  it("goes straight if nothing is in its way", () => {
    expect(routeOf(ends, nodes({ x: 400, y: 200, width: 200, height: 100 }))).toBeUndefined();
  });

  it("goes around a node on the shorter side, and stays clear of it", () => {
    const route = routeOf(ends, nodes({ x: 400, y: 20, width: 200, height: 300 }))!;
    expect(route.y).toBeLessThan(20);
    expect(route.left).toBeLessThan(400);
    expect(route.right).toBeGreaterThan(600);
  });

  it("goes around what its way around would meet, too", () => {
    const route = routeOf(ends, nodes({ x: 400, y: 20, width: 200, height: 100 }, { x: 420, y: -90, width: 200, height: 100 }))!;
    const isInside = (top: number, bottom: number): boolean => route.y > top && route.y < bottom;
    expect(isInside(20, 120) || isInside(-90, 10)).toBe(false);
  });
});
