import { createInputCheck, type DomainError, type JsonSchema } from "@nodeloom/kernel";
import { patchGraph, type Operation } from "@nodeloom/kernel/graph-patch";
import { operations } from "../../../src/mcp/builder/operations";
import { BUILT_IN } from "../../../src/mcp/tools/built-in";

const NODES =
  '[ {"id":"a","type":"text-box","data":{"text":"x","n":1.50,"big":12345678901234567890},"more":[1e3]} ,"odd", {"id":"b","type":"json"}]';
const EDGES = '[{"source":"a","target":"b","sourceHandle":"text","extra":true}]';
const GRAPH = { nodesJson: NODES, edgesJson: EDGES };

const patch = (...sent: object[]) =>
  patchGraph(
    GRAPH,
    operations.parse(sent),
    sent.map((each) => JSON.stringify(each)),
  );
const problemOf = (...sent: object[]): unknown => {
  try {
    return patch(...sent);
  } catch (error) {
    return (error as DomainError).metadata.issues;
  }
};

describe("operations on a graph", () => {
  it("leave what they don't set exactly as it was sent", () => {
    const { nodesJson, edgesJson } = patch({ op: "set_data", id: "a", data: { text: "y" } }, { op: "rename", id: "a", label: "Title" });
    expect(nodesJson).toBe(
      '[{"id":"a","type":"text-box","data":{"text":"y","n":1.50,"big":12345678901234567890,"label":"Title"},"more":[1e3]},"odd",{"id":"b","type":"json"}]',
    );
    expect(edgesJson).toBe(EDGES);
  });

  it("keep numbers as they were sent", () => {
    const text = '{"op":"set_data","id":"b","data":{"value":1.0,"large":98765432109876543210}}';
    const { nodesJson } = patchGraph(GRAPH, operations.parse([JSON.parse(text)]), [text]);
    expect(nodesJson).toContain('"data":{"value":1.0,"large":98765432109876543210}');
  });

  it("add, connect, move and remove nodes with their connections", () => {
    const { nodesJson, edgesJson } = patch(
      { op: "add_node", id: "c", type: "response-output" },
      { op: "connect", source: "b", sourceHandle: "value", target: "c", targetHandle: "text" },
      { op: "connect", source: "b", sourceHandle: "value", target: "c", targetHandle: "text" },
      { op: "move", id: "c", position: { x: 5, y: 6 } },
      { op: "remove_node", id: "a" },
    );
    expect(JSON.parse(nodesJson)).toEqual([
      "odd",
      { id: "b", type: "json" },
      { id: "c", type: "response-output", position: { x: 5, y: 6 }, data: {} },
    ]);
    expect(JSON.parse(edgesJson)).toEqual([
      { id: "b.value-c.text", source: "b", sourceHandle: "value", target: "c", targetHandle: "text" },
    ]);
  });

  it("place new nodes beside each other, to the right of the others", () => {
    const { nodesJson } = patch(
      { op: "move", id: "b", position: { x: 100, y: 7 } },
      { op: "add_node", id: "c", type: "json" },
      { op: "add_node", id: "d", type: "json" },
    );
    const places = (JSON.parse(nodesJson) as { position?: object }[]).map(({ position }) => position);
    expect(places.slice(-2)).toEqual([
      { x: 460, y: 7 },
      { x: 820, y: 7 },
    ]);
  });

  it("remove settings, names and connections", () => {
    const { nodesJson, edgesJson } = patch(
      { op: "set_data", id: "a", remove: ["n", "big"] },
      { op: "rename", id: "a", label: "Title" },
      { op: "rename", id: "a", label: "" },
      { op: "disconnect", target: "b" },
    );
    expect(JSON.parse(nodesJson)).toContainEqual({ id: "a", type: "text-box", data: { text: "x" }, more: [1000] });
    expect(edgesJson).toBe("[]");
  });

  it.each<[string, object, object]>([
    [
      "a node that doesn't exist",
      { op: "move", id: "c", position: { x: 0, y: 0 } },
      { path: "operations.1.id", message: "there is no node c: it has a, b" },
    ],
    ["an id that is taken", { op: "add_node", id: "a", type: "json" }, { path: "operations.1.id" }],
    ["a connection to nothing", { op: "connect", source: "a", target: "x" }, { path: "operations.1.target" }],
    ["a connection that doesn't exist", { op: "disconnect", source: "b" }, { path: "operations.1" }],
    ["a connection without an end", { op: "disconnect", sourceHandle: "text" }, { path: "operations.1.source" }],
  ])("are refused as a whole because of %s, which the error names", (_, operation, issue) => {
    expect(problemOf({ op: "rename", id: "a", label: "x" }, operation)).toMatchObject([issue]);
  });

  it("name the node that was probably meant", () => {
    const graph = { nodesJson: '[{"id":"picture","type":"json"}]', edgesJson: "[]" };
    const operation: Operation = { op: "remove_node", id: "pictur" };
    expect(() => patchGraph(graph, [operation], [JSON.stringify(operation)])).toThrow("did you mean picture?");
  });

  it("take linear time in a large graph", () => {
    const text = JSON.stringify("x".repeat(4_000_000));
    const many = Array.from({ length: 50_000 }, (_, index) => `"m${index}":${index}`).join(",");
    const graph = { nodesJson: `[{"id":"a","type":"json","data":{"value":${text},${many}}}]`, edgesJson: "[]" };
    const manyOperations = Array.from({ length: 100 }, (_, index) => ({ op: "set_data" as const, id: "a", data: { [`m${index}`]: 0 } }));
    const startedAt = performance.now();
    patchGraph(
      graph,
      manyOperations,
      manyOperations.map((each) => JSON.stringify(each)),
    );
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe("the schemas of tools", () => {
  it.each(BUILT_IN.map(({ name, inputSchema }) => [name, inputSchema] as const))(
    "let the console check arguments of %s",
    (_name, schema) => {
      expect(() => createInputCheck(schema as JsonSchema)).not.toThrow();
    },
  );

  it("reject operations as the endpoint does", () => {
    const { inputSchema } = BUILT_IN.find(({ name }) => name === "patch_workflow")!;
    const check = createInputCheck(inputSchema as JsonSchema);
    expect(check({ slug: "a", operations: [{ op: "remove_node", id: "a" }] })).toEqual([]);
    for (const wrong of [{ op: "remove_node" }, { op: "explode", id: "a" }, { op: "move", id: "a", position: { x: "left", y: 0 } }]) {
      expect(check({ slug: "a", operations: [wrong] })).not.toEqual([]);
      expect(operations.safeParse([wrong]).success).toBe(false);
    }
  });
});
