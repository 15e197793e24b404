import { withPlaces } from "../../src/canvas/places";
import type { LayoutReply, LayoutRequest } from "../../src/canvas/layout.worker";
import { nodesOf, readDocGraph } from "../../src/document/graph";
import { freeCorner } from "../../src/canvas/corners";

const inRow = ({ nodes }: LayoutRequest): Promise<LayoutReply> =>
  Promise.resolve(nodes.map(({ id, width }, at) => ({ id, x: at * width * 2, y: 0 })));
const graph = (nodes: object[]) => readDocGraph(JSON.stringify(nodes), JSON.stringify([{ id: "e", source: "a", target: "b" }]));
const xs = async (nodes: object[], layOut = inRow) => nodesOf(await withPlaces(graph(nodes), layOut)).map(({ x }) => x);

describe("a graph that is opened", () => {
  it("is laid out if its nodes have no places", async () => {
    const nodes = [
      { id: "a", type: "text-box", data: {} },
      { id: "b", type: "text-box", data: {}, position: { x: 0, y: 0 } },
    ];
    expect(new Set(await xs(nodes)).size).toBe(2);
    expect(await xs(nodes, () => Promise.reject(new Error("late")))).toEqual([0, 0]);
  });

  it("keeps its places if it has any", async () => {
    const nodes = [
      { id: "a", type: "text-box", data: {}, position: { x: 5, y: 0 } },
      { id: "b", type: "text-box", data: {} },
    ];
    expect(await xs(nodes)).toEqual([5, 0]);
    expect(await xs([nodes[0]!])).toEqual([5]);
  });
});

describe("the map", () => {
  const view = { transform: [0, 0, 1], width: 1_000, height: 800 } as const;
  const at = (x: number, y: number) => ({ x, y, width: 100, height: 100 });

  it("lies in the first corner without nodes, and nowhere without such a corner", () => {
    expect(freeCorner([at(300, 300)], view)).toBe("bottom-right");
    expect(freeCorner([at(900, 700)], view)).toBe("top-right");
    expect(freeCorner([at(900, 700), at(900, 0)], view)).toBe("top-left");
    expect(freeCorner([at(900, 700), at(900, 0), at(0, 0)], view)).toBeUndefined();
    expect(freeCorner([at(900, 700)], { ...view, transform: [-600, 0, 1] })).toBe("bottom-right");
  });
});
