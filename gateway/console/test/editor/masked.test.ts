import type { DocGraph } from "../../src/document/graph";
import type { OutputFile } from "../../src/media/files-in";
import { withPictures, type FilesOf } from "../../src/editor/scene/masked";

const image = (url: string): OutputFile => ({ url, family: "image" });
const mask = (url: string): OutputFile => ({ ...image(url), isMask: true });
const graphOf = (...links: readonly [source: string, target: string][]): DocGraph =>
  ({ nodes: [], edges: links.map(([source, target], index) => ({ id: String(index), source, target })) }) as unknown as DocGraph;

describe("the picture of a mask", () => {
  const files: Readonly<Record<string, readonly OutputFile[]>> = {
    photo: [image("a"), image("b")],
    drawn: [mask("m1"), mask("m2")],
    grown: [mask("g")],
    alone: [mask("n")],
  };
  const filesOf: FilesOf = (id) => files[id] ?? [];
  const over = (graph: DocGraph, node: string) =>
    withPictures(graph, filesOf, node, [{ file: mask("x") }, { file: mask("y") }]).map(({ file }) => file?.over);

  it("is the image of the same item, or the only one", () => {
    expect(over(graphOf(["photo", "drawn"]), "drawn")).toEqual(["a", "b"]);
    expect(over(graphOf(["alone", "grown"], ["photo", "grown"]), "grown")).toEqual(["a", "b"]);
  });

  it("is that of the masks before it, through several operations", () => {
    expect(over(graphOf(["photo", "drawn"], ["drawn", "grown"], ["grown", "end"]), "end")).toEqual(["a", "b"]);
  });

  it("is unknown without an image, also in a graph with a circle", () => {
    expect(over(graphOf(["alone", "grown"]), "grown")).toEqual([undefined, undefined]);
    expect(over(graphOf(["drawn", "grown"], ["grown", "drawn"]), "grown")).toEqual([undefined, undefined]);
  });

  it("belongs to masks alone", () => {
    expect(withPictures(graphOf(["photo", "drawn"]), filesOf, "drawn", [{ file: image("z") }])).toEqual([{ file: image("z") }]);
  });
});
