import { readDocGraph } from "../../src/document/graph";
import { modelTitles, titlesOf } from "../../src/editor/titles";

const MODELS = [
  { internalName: "larger", displayName: "Local Upscale ×4", inputSchema: { properties: { image: { format: "media" } } } },
  { internalName: "painter", displayName: "Painter", inputSchema: { properties: { prompt: { type: "string" } } } },
];
const titles = (...nodes: { type: string; data?: object }[]): string[] => {
  const graph = readDocGraph(JSON.stringify(nodes.map((node, index) => ({ id: `n${index}`, data: {}, ...node }))), "[]");
  return [...titlesOf(graph, modelTitles(MODELS)).values()];
};

describe("the title of a node", () => {
  it("is its purpose: its operation, or the task of its model", () => {
    const titlesFound = titles(
      { type: "media", data: { operation: "image-resize" } },
      { type: "generate-image", data: { model: "larger" } },
      { type: "generate-image", data: { model: "painter" } },
    );
    expect(titlesFound).toEqual(["Resize an image", "Local Upscale ×4", "Image"]);
  });

  it("is unique in a graph, also beside a title that a user wrote", () => {
    const image = { type: "generate-image", data: { model: "painter" } };
    const labelled = { type: "text-box", data: { label: "Image 2" } };
    expect(titles(image, image, labelled, image, labelled)).toEqual(["Image", "Image 3", "Image 2", "Image 4", "Image 2 2"]);
  });

  it("is left as it was written on notes", () => {
    expect(new Set(titles({ type: "note" }, { type: "note" })).size).toBe(1);
  });
});
