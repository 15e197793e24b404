import { compareGraphs } from "../../src/document/compare";
import { readDocGraph } from "../../src/document/graph";

const BEFORE = readDocGraph(
  '[{"id":"a","type":"text-box","position":{"x":0,"y":0},"data":{"text":"old","n":1.0}},{"id":"b","type":"list","position":{"x":0,"y":0},"data":{}},{"id":"c","type":"note"}]',
  '[{"id":"1","source":"a","target":"b","sourceHandle":"text","targetHandle":"items"}]',
);
const AFTER = readDocGraph(
  '[{"id":"a","type":"text-box","position":{"x":9,"y":0},"data":{"text":"new","n":1.0}},{"id":"b","type":"list","position":{"x":5,"y":0},"data":{}},{"id":"d","type":"note"}]',
  '[{"id":"2","source":"a","target":"d","sourceHandle":null,"targetHandle":null}]',
);

describe("comparing two graphs", () => {
  it("names every node and link that was added, removed, moved or set otherwise, and nothing else", () => {
    const { nodes, links } = compareGraphs(BEFORE, AFTER);
    expect(nodes.map(({ kind, node, settings }) => [kind, node.id, settings])).toEqual([
      ["changed", "a", [{ path: ["data", "text"], before: '"old"', after: '"new"' }]],
      ["moved", "b", []],
      ["added", "d", []],
      ["removed", "c", []],
    ]);
    expect(links.map(({ kind, edge }) => [kind, edge.source, edge.target])).toEqual([
      ["added", "a", "d"],
      ["removed", "a", "b"],
    ]);
  });

  it("finds no difference between a graph and its copy, whatever IDs the links have", () => {
    const renamed = readDocGraph(
      `[${BEFORE.nodes.map(({ text }) => text).join(",")}]`,
      '[{"source":"a","target":"b","sourceHandle":"text","targetHandle":"items"}]',
    );
    expect(compareGraphs(BEFORE, renamed)).toEqual({ nodes: [], links: [] });
  });
});
