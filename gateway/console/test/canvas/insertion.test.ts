import { roomAfter } from "../../src/canvas/rects";
import { kindOf, KINDS } from "../../src/canvas/kinds";
import { portsOf } from "../../src/canvas/ports";
import { followersOf, leadsTo, readDocGraph } from "../../src/document/graph";

const SIZE = { width: 200, height: 100 };
const at = (x: number, y: number) => ({ x, y, ...SIZE });

describe("a node that comes between two", () => {
  it("fits between them if there is room, and nothing moves", () => {
    expect(roomAfter(at(0, 0), at(800, 100), SIZE, 50)).toEqual({ at: { x: 400, y: 50 }, by: 0 });
  });

  it("moves the second one just far enough", () => {
    expect(roomAfter(at(0, 0), at(300, 0), SIZE, 50)).toEqual({ at: { x: 250, y: 0 }, by: 200 });
    expect(roomAfter(at(0, 0), at(499, 0), SIZE, 50).by).toBe(1);
  });

  it("moves nothing where the link goes back", () => {
    expect(roomAfter(at(800, 0), at(0, 0), SIZE, 50)).toEqual({ at: undefined, by: 0 });
  });

  it("has a port for what flows into it, where its settings make ports", () => {
    const type = KINDS.find(({ id }) => id === "text")!.type;
    const ports = (data: Record<string, unknown>) =>
      portsOf({ id: "t", type, data }, { schemaOf: () => undefined, resultsOf: () => undefined }, [], []).inputs.map(({ name }) => name);
    expect(ports(kindOf(type).data())).toEqual([]);
    expect(ports(kindOf(type).data("topic"))).toEqual(["topic"]);
  });
});

describe("what follows a node", () => {
  const edges = ["a b", "b c", "c b", "d c"].map((ends) => {
    const [source, target] = ends.split(" ");
    return { id: ends, source, target };
  });
  const graph = readDocGraph("[]", JSON.stringify(edges));

  it("is itself and all that its links lead to, circles included", () => {
    expect([...followersOf(graph, "a")].sort()).toEqual(["a", "b", "c"]);
    expect([...followersOf(graph, "d")].sort()).toEqual(["b", "c", "d"]);
    expect([leadsTo(graph, "a", "c"), leadsTo(graph, "c", "a")]).toEqual([true, false]);
  });
});
