import { edgesOf, nodesOf, readDocGraph } from "../../src/document/graph";
import { readForeign } from "../../src/canvas/foreign/foreign";

/** The picture that ComfyUI's API document begins with. */
const API = {
  "3": {
    class_type: "KSampler",
    inputs: { seed: 42, steps: 20, model: ["4", 0], positive: ["6", 0], negative: ["7", 0], latent_image: ["5", 0] },
  },
  "4": { class_type: "CheckpointLoaderSimple", inputs: { ckpt_name: "v1-5.safetensors" } },
  "5": { class_type: "EmptyLatentImage", inputs: { width: 512, height: 512, batch_size: 1 } },
  "6": { class_type: "CLIPTextEncode", inputs: { text: "a lighthouse", clip: ["4", 1] }, _meta: { title: "Positive" } },
  "7": { class_type: "CLIPTextEncode", inputs: { text: "blurry", clip: ["4", 1] } },
  "8": { class_type: "VAEDecode", inputs: { samples: ["3", 0], vae: ["4", 2] } },
  "9": { class_type: "SaveImage", inputs: { images: ["8", 0], filename_prefix: "x" } },
  "10": { class_type: "FaceDetailer", inputs: {} },
};
const EDITOR = {
  last_node_id: 9,
  nodes: [
    { id: 6, type: "CLIPTextEncode", pos: [0, 0], inputs: [], widgets_values: ["a lighthouse"] },
    { id: 3, type: "KSampler", pos: [9, 0], inputs: [{ name: "positive", link: 4 }], widgets_values: [42, "randomize", 20] },
    { id: 8, type: "VAEDecode", pos: [18, 0], inputs: [{ name: "samples", link: 7 }] },
    { id: 9, type: "SaveImage", pos: [27, 0], inputs: [{ name: "images", link: 9 }] },
  ],
  links: [
    [4, 6, 0, 3, 1, "CONDITIONING"],
    [7, 3, 0, 8, 0, "LATENT"],
    [9, 8, 0, 9, 0, "IMAGE"],
  ],
};

const read = (value: unknown) => {
  const { graph } = readForeign(value, "pic")!;
  const doc = readDocGraph(JSON.stringify(graph!.nodes), JSON.stringify(graph!.edges));
  return {
    nodes: nodesOf(doc),
    links: edgesOf(doc).map(({ source, sourceHandle, target, targetHandle }) => `${source}.${sourceHandle} ${target}.${targetHandle}`),
  };
};
const LINKS = ["comfy-6.text comfy-3.prompt", "comfy-3.image comfy-9.images"];

describe("a graph of another editor", () => {
  it("of ComfyUI becomes texts, pictures and results, whichever way it was saved", () => {
    const { nodes, links } = read(API);
    expect(nodes.map(({ id, type }) => `${id} ${type}`)).toEqual([
      "comfy-3 generate-image",
      "comfy-6 text-box",
      "comfy-7 text-box",
      "comfy-9 response-output",
    ]);
    expect(nodes[0]!.data).toEqual({ model: "pic", inputs: { seed: 42 } });
    expect(nodes[1]!.data).toEqual({ label: "Positive", text: "a lighthouse" });
    expect(links).toEqual(LINKS);
    expect(read(EDITOR).links).toEqual(LINKS);
    expect(read(EDITOR).nodes[0]!.data).toEqual({ text: "a lighthouse" });
  });

  it("says what nothing here is like", () => {
    expect(readForeign(API, undefined)?.words).toMatch(/4 of 8 nodes stand here.*Nothing here is like FaceDetailer\.$/);
    const none = readForeign({ "1": { class_type: "FaceDetailer", inputs: {} } }, undefined);
    expect(none).toMatchObject({ from: "ComfyUI", graph: undefined });
  });

  it("of n8n is known, and says why it can't stand here", () => {
    const nodes = ["n8n-nodes-base.httpRequest", "n8n-nodes-base.set", "n8n-nodes-base.set"].map((type) => ({ type, parameters: {} }));
    const n8n = readForeign({ name: "mine", nodes, connections: {} }, "pic");
    expect(n8n).toMatchObject({ from: "n8n", graph: undefined });
    expect(n8n?.words).toContain("httpRequest, 2 × set");
  });

  it("is nothing that others might write", () => {
    const own = { name: "x", nodes: [{ id: "a", type: "text-box", position: { x: 0, y: 0 }, data: {} }], edges: [] };
    for (const value of [own, {}, [], null, "text", 7, { a: 1 }, { nodes: [], links: [] }, { a: { class_type: 7 } }])
      expect(readForeign(value, "pic")).toBeUndefined();
    const circle = {
      "1": { class_type: "Reroute", inputs: { a: ["2", 0] } },
      "2": { class_type: "Reroute", inputs: { a: ["1", 0] } },
      "3": { class_type: "SaveImage", inputs: { images: ["1", 0] } },
    };
    expect(read(circle).links).toEqual([]);
  });
});
