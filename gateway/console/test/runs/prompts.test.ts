import { nodesOf, readDocGraph } from "../../src/document/graph";
import { fileName } from "../../src/media/viewer/file-name";
import { promptsOf } from "../../src/runs/prompts";
import { recipeOf } from "../../src/runs/recipe";

const node = (id: string, type: string, data: object) => ({ id, type, position: { x: 0, y: 0 }, data });
const GRAPH = readDocGraph(
  JSON.stringify([
    node("styles", "list", { items: ["a woodcut", "a felt toy"] }),
    node("words", "text-box", { text: "a fox, as {{style}}" }),
    node("image", "generate-image", { model: "any" }),
  ]),
  JSON.stringify([
    { id: "a", source: "styles", sourceHandle: "items", target: "words", targetHandle: "style" },
    { id: "b", source: "words", sourceHandle: "text", target: "image", targetHandle: "prompt" },
  ]),
);
const PROMPTS = ["a fox, as a woodcut", "a fox, as a felt toy"];
const state = (id: string, type: string, more: object) => ({
  ...{ id, type, status: "completed" as const, startedAt: null, durationMs: 1, creditsCost: 0, error: null },
  ...more,
});
const call = (item: number) => ({
  ...{ item, status: "completed" as const, error: null, creditsCost: 0, requestId: null },
  outputs: { image: { url: `https://media.example/${item}.png?s=old` } },
});
const NODES = [
  state("words", "text-box", { outputs: { text: PROMPTS } }),
  state("image", "generate-image", { items: 2, calls: [call(0), call(1)] }),
];

// As in a browser.
Object.assign(globalThis, { location: { origin: "https://console.example" }, GATEWAY_ORIGIN: "" });

describe("what a run made", () => {
  it("is found by its prompt, whatever signature its address has", () => {
    expect([...promptsOf(GRAPH, { nodes: NODES, inputs: {} })]).toEqual([
      ["https://media.example/0.png", PROMPTS[0]],
      ["https://media.example/1.png", PROMPTS[1]],
    ]);
  });

  it("is named by the item's own text", () => {
    const image = nodesOf(GRAPH).find(({ id }) => id === "image")!;
    const recipe = recipeOf(GRAPH, image, { nodes: new Map(NODES.map((one) => [one.id, one])), inputs: {} }, 1);
    expect(recipe.value).toBe(PROMPTS[1]);
  });

  it("is stored under the prompt and its number", () => {
    const file = { url: "https://media.example/0.png?s=old", family: "image" as const };
    expect(fileName({ title: "Image 1", prompt: PROMPTS[0], file }, 1)).toBe("a-fox-as-a-woodcut-1.png");
    expect(fileName({ title: "Image 1", prompt: undefined, file })).toBe("Image-1.png");
  });
});
