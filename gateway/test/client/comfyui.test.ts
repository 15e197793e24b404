import { deflateSync } from "node:zlib";
import { readEmbedded, readForeign, type ImportModel } from "@nodeloom/client/comfyui";
import { API, EDITOR, inSubgraph, PROMPTS, RODIN, SHAPES, SUBGRAPH_ID, VIDEO } from "./comfyui-graphs";

interface ImportedGraph {
  nodes: { id: string; type: string; position: { x: number; y: number }; data: Record<string, unknown> }[];
  edges: { source: string; sourceHandle: string; target: string; targetHandle: string }[];
}

const model = (internalName: string, modality: string, properties: Record<string, object>): ImportModel => ({
  internalName,
  displayName: internalName.toUpperCase(),
  modality,
  inputSchema: { required: ["prompt"], properties: { prompt: { type: "string" }, ...properties } },
});
const IMAGE_FILE = { type: "string", contentMediaType: "image/*" };
const SEED = { type: "integer", minimum: 0, maximum: 2_147_483_647 };
const MODELS = [
  model("plain", "image", { seed: SEED }),
  model("rich", "image", {
    image: IMAGE_FILE,
    seed: SEED,
    negative_prompt: { type: "string" },
    count: { type: "integer", minimum: 1, maximum: 4 },
    aspect_ratio: { type: "string", enum: ["1:1", "3:2", "2:3"] },
  }),
  model("film", "video", { seconds: { type: "integer", minimum: 1, maximum: 10 }, image: IMAGE_FILE }),
];
const RICH = MODELS.slice(1);
const relief: ImportModel = {
  ...{ internalName: "relief", displayName: "RELIEF", modality: "model3d" },
  inputSchema: { required: ["image"], properties: { image: IMAGE_FILE, seed: SEED } },
};
const SOLID = [...MODELS, relief, model("vase", "model3d", { seed: SEED })];

const read = (value: unknown, models: readonly ImportModel[] | string = MODELS) => {
  const { graph, words } = readForeign(value, models)!;
  const { nodes, edges } = graph as ImportedGraph;
  const links = edges.map(({ source, sourceHandle, target, targetHandle }) => `${source}.${sourceHandle} ${target}.${targetHandle}`);
  const byId = (id: string) => nodes.find((node) => node.id === id)!;
  return { nodes, links: links.sort(), words, byId, report: String(byId("comfy-report").data.text) };
};

describe("a ComfyUI workflow", () => {
  it("becomes texts, models and results, in the editor's and the API format and as the body of POST /prompt", () => {
    for (const value of [
      API,
      EDITOR,
      { prompt: API, client_id: "x" },
      { prompt: API, extra_data: { extra_pnginfo: { workflow: EDITOR } } },
    ]) {
      const { links, byId } = read(value);
      expect(links).toEqual(["comfy-3.image comfy-9.images", "comfy-6.text comfy-3.prompt"]);
      expect(byId("comfy-6").data.text).toBe("a lighthouse");
      expect(byId("comfy-3")).toMatchObject({ type: "generate-image", data: { model: "plain", inputs: { seed: 42 } } });
    }
  });

  it("keeps size, batch, seed and negative prompt if the model takes them", () => {
    const { links, byId } = read(API, RICH);
    expect(byId("comfy-3").data.inputs).toEqual({ seed: 42, count: 2, aspect_ratio: "3:2" });
    expect(links).toContain("comfy-7.text comfy-3.negative_prompt");
  });

  it("lists on the workflow the parts that it omits", () => {
    const { report, words } = read({ ...API, "10": { class_type: "FaceDetailer", inputs: {} } });
    expect(words).toBe("Imported from ComfyUI: 8 nodes became 3 here. The note beside them says what was left out.");
    expect(report).toContain("The negative prompt “blurry” is left out: PLAIN takes none.");
    expect(report).toContain("The batch of 2 is left out: PLAIN makes one at a time.");
    expect(report).toContain("The size 768 × 512 is left out: PLAIN decides it.");
    expect(report).toContain("Left out, because nothing here is like them: FaceDetailer.");
  });

  describe("that makes 3D models", () => {
    it("keeps the generator and its results, and says which views and textures are left out", () => {
      const { links, byId, report } = read(SHAPES.hunyuan, SOLID);
      expect(links).toEqual(["comfy-1.media comfy-2.image", "comfy-2.model3d comfy-13.models3d", "comfy-2.model3d comfy-16.models3d"]);
      expect(byId("comfy-2")).toMatchObject({ type: "generate-3d", data: { model: "relief" } });
      expect(report).toContain("“LoadImage” isn't connected: RELIEF takes 1 image inputs.");
      expect(report).toContain("“SaveImage” is left out: nothing here makes the file that it gets.");
    });

    it("keeps a prompt, without the progress of the last run, and follows models through nodes that have no counterpart", () => {
      const { links, byId, report } = read(SHAPES.meshy, SOLID);
      expect(links).toEqual(["comfy-5.model3d comfy-6.models3d"]);
      expect(byId("comfy-5")).toMatchObject({ type: "generate-3d", data: { model: "vase", inputs: { prompt: "Death Knight" } } });
      expect(report).toContain("Left out, because nothing here is like them: MeshyTextureNode.");
    });

    it("becomes one generator if a sampler makes the shape", () => {
      const { links, byId, report } = read(SHAPES.sampler, SOLID);
      expect(links).toEqual(["comfy-2.media comfy-7.image", "comfy-7.model3d comfy-10.models3d"]);
      expect(byId("comfy-7")).toMatchObject({ type: "generate-3d", data: { model: "relief", inputs: { seed: 77 } } });
      expect(report).not.toMatch(/4096|Left out, because/);
    });

    it("is read in the API format, with files and partners of several kinds", () => {
      const { links, byId } = read(RODIN, SOLID);
      expect(links).toEqual(["comfy-2.model3d comfy-4.models3d", "comfy-3.media comfy-2.image", "comfy-6.model3d comfy-7.models3d"]);
      expect(byId("comfy-6").data).toMatchObject({ model: "vase", inputs: { prompt: "a wooden chair" } });
    });
  });

  it("is complete if its sampler is inside of a subgraph, even of two", () => {
    for (const depth of [1, 2]) {
      const { nodes, links, byId } = read(inSubgraph(depth));
      const [sampler, text] = [nodes.find(({ type }) => type === "generate-image")!, nodes.find(({ type }) => type === "text-box")!];
      expect(links).toEqual([`${sampler.id}.image comfy-9.images`, `${text.id}.text ${sampler.id}.prompt`].sort());
      expect(text.data.text).toBe("set from outside");
      expect(byId("comfy-9").position.x).toBeGreaterThan(sampler.position.x);
      expect(JSON.stringify(nodes)).not.toContain(SUBGRAPH_ID);
    }
  });

  it("keeps muted or bypassed nodes as bypassed nodes", () => {
    for (const mode of [2, 4]) {
      const nodes = [...EDITOR.nodes.map((node) => (node.id === 9 ? { ...node, inputs: [{ name: "images", link: 12 }] } : node))];
      nodes.push(
        {
          id: 4,
          type: "KSampler",
          pos: [20, 0],
          mode,
          inputs: [
            { name: "positive", link: 10 },
            { name: "latent_image", link: 11 },
          ],
          widgets_values: [7],
        },
        { id: 12, type: "VAEDecode", pos: [24, 0], mode: 0, inputs: [{ name: "samples", link: 13 }] },
      );
      const links = [...EDITOR.links, [10, 6, 0, 4, 0], [11, 3, 0, 4, 1], [13, 4, 0, 12, 0], [12, 12, 0, 9, 0]];
      const { byId, links: foundLinks } = read({ nodes, links });
      expect(byId("comfy-4").data.bypass).toBe(true);
      expect(byId("comfy-3").data.bypass).toBeUndefined();
      expect(foundLinks).toContain("comfy-3.image comfy-4.image");
      expect(foundLinks).toContain("comfy-4.image comfy-9.images");
    }
  });

  it("makes one picture from two samplers that work on the same latents", () => {
    const second = { class_type: "KSampler", inputs: { positive: ["6", 0], latent_image: ["3", 0], seed: 1, denoise: 0.4 } };
    const { nodes } = read({ ...API, "11": second, "8": { class_type: "VAEDecode", inputs: { samples: ["11", 0] } } });
    expect(nodes.filter(({ type }) => type === "generate-image").map(({ id }) => id)).toEqual(["comfy-11"]);
  });

  it("is a video if it creates one, and a sampler's option isn't a picture", () => {
    const { nodes, byId, links } = read(VIDEO);
    expect(nodes.filter(({ type }) => type.startsWith("generate-")).map(({ id }) => id)).toEqual(["comfy-1"]);
    expect(byId("comfy-1")).toMatchObject({ type: "generate-video", data: { model: "film", inputs: { seconds: 3 } } });
    expect(links).toContain("comfy-1.video comfy-6.videos");
    expect(links).toContain("comfy-7.media comfy-1.image");
  });

  it("keeps its notes, groups and positions", () => {
    const nodes = [...EDITOR.nodes, { id: 20, type: "MarkdownNote", pos: [0, 900], mode: 0, inputs: [], widgets_values: ["Read me"] }];
    const groups = [{ title: "Picture", bounding: [-20, -20, 700, 500] }];
    const { byId } = read({ ...EDITOR, nodes, groups });
    expect(byId("comfy-20")).toMatchObject({ type: "note", data: { text: "Read me" } });
    expect(byId("comfy-group-1")).toMatchObject({ type: "note", data: { text: "Picture", frame: {} } });
    expect(byId("comfy-6").position.x).toBeLessThan(byId("comfy-3").position.x);
    expect(byId("comfy-3").position.x).toBeLessThan(byId("comfy-9").position.x);
  });

  it("converts its upscalers to Local Upscale, and background removers to Local Cut-out", () => {
    const photo = { "1": { class_type: "LoadImage", inputs: { image: "a.png" } } };
    const save = { "3": { class_type: "SaveImage", inputs: { images: ["2", 0] } } };
    for (const [type, name] of [
      ["ImageUpscaleWithModel", "local-upscale"],
      ["Image Rembg (Remove Background)", "local-cutout"],
    ]) {
      const { byId, links } = read({ ...photo, "2": { class_type: type, inputs: { image: ["1", 0] } }, ...save });
      expect(byId("comfy-2")).toMatchObject({ type: "generate-image", data: { model: name } });
      expect(links).toEqual(["comfy-1.media comfy-2.image", "comfy-2.image comfy-3.images"]);
    }
  });

  it("that creates nothing here is rejected with the names of its nodes", () => {
    const none = readForeign({ "1": { class_type: "FaceDetailer", inputs: {} } }, MODELS);
    expect(none).toMatchObject({ from: "ComfyUI", graph: undefined, words: expect.stringContaining("FaceDetailer") as string });
  });

  it("with a hostile structure is rejected, and never loops", () => {
    const circle = { "1": { class_type: "Reroute", inputs: { a: ["2", 0] } }, "2": { class_type: "Reroute", inputs: { a: ["1", 0] } } };
    const sampler = { class_type: "KSampler", inputs: { latent_image: ["3", 0], positive: ["1", 0] } };
    expect(read({ ...circle, "3": sampler }).links).toEqual(["comfy-3.image comfy-result.images"]);
    const self = { id: SUBGRAPH_ID, name: "Self", inputs: [], outputs: [], nodes: [{ id: 1, type: SUBGRAPH_ID, pos: [0, 0] }], links: [] };
    const nested = { nodes: [{ id: 1, type: SUBGRAPH_ID, pos: [0, 0] }], links: [], definitions: { subgraphs: [self] } };
    expect(readForeign(nested, MODELS)).toMatchObject({ graph: undefined });
    const wide = { ...self, nodes: Array.from({ length: 40 }, (_, id) => ({ id, type: SUBGRAPH_ID, pos: [0, 0] })) };
    expect(readForeign({ ...nested, definitions: { subgraphs: [wide] } }, MODELS)?.graph).toBeUndefined();
  });
});

describe("a picture that ComfyUI saved", () => {
  const chunk = (type: string, data: Buffer): Buffer => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(data.length);
    head.write(type, 4, "latin1");
    return Buffer.concat([head, data, Buffer.alloc(4)]);
  };
  const png = (...chunks: Buffer[]): Buffer =>
    Buffer.concat([
      Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
      chunk("IHDR", Buffer.alloc(13)),
      ...chunks,
      chunk("IEND", Buffer.alloc(0)),
    ]);
  const json = JSON.stringify(EDITOR);
  const webp = (exif: Buffer): Buffer => {
    const [head, part] = [Buffer.from("RIFF\0\0\0\0WEBP", "latin1"), Buffer.alloc(8)];
    part.write("EXIF", "latin1");
    part.writeUInt32LE(exif.length, 4);
    return Buffer.concat([head, part, exif]);
  };

  it("returns its workflow, as PNG in any kind of text chunk and as WebP", async () => {
    const plain = chunk("tEXt", Buffer.from(`workflow\0${json}`, "latin1"));
    const packed = chunk("zTXt", Buffer.concat([Buffer.from("workflow\0\0", "latin1"), deflateSync(json)]));
    const international = chunk("iTXt", Buffer.from(`workflow\0\0\0\0\0${json}`, "utf8"));
    const exif = Buffer.from(`Exif\0\0MM\0*\0\0prompt:${JSON.stringify(API)}\0workflow:${json}\0`, "latin1");
    for (const file of [png(plain), png(packed), png(international), webp(exif)]) expect(await readEmbedded(file)).toEqual(EDITOR);
  });

  it("returns its prompt if there is no workflow, also with the numbers that only Python writes", async () => {
    const text = `prompt\0${JSON.stringify(API).replace('"steps":20', '"steps":NaN')}`;
    expect(readForeign(await readEmbedded(png(chunk("tEXt", Buffer.from(text, "latin1")))), MODELS)?.from).toBe("ComfyUI");
  });

  it("returns nothing for another picture, a truncated one, or one that unpacks to more than a workflow can be", async () => {
    const bomb = chunk("zTXt", Buffer.concat([Buffer.from("workflow\0\0", "latin1"), deflateSync(Buffer.alloc(20_000_000, 32))]));
    const cut = png(chunk("tEXt", Buffer.from(`workflow\0${json}`, "latin1"))).subarray(0, 60);
    for (const file of [png(), Buffer.alloc(0), Buffer.from("RIFF"), png(bomb), cut]) expect(await readEmbedded(file)).toBeUndefined();
  });
});

it("recognises n8n workflows, and ignores files of other programs", () => {
  const nodes = ["n8n-nodes-base.httpRequest", "n8n-nodes-base.set", "n8n-nodes-base.set"].map((type) => ({ type, parameters: {} }));
  expect(readForeign({ name: "mine", nodes, connections: {} })).toMatchObject({ from: "n8n", graph: undefined });
  expect(readForeign({ name: "mine", nodes, connections: {} })?.words).toContain("httpRequest, 2 × set");
  const own = { name: "x", nodes: [{ id: "a", type: "text-box", position: { x: 0, y: 0 }, data: {} }], edges: [] };
  for (const value of [own, {}, [], null, "text", 7, { a: 1 }, { nodes: [], links: [] }, { a: { class_type: 7 } }])
    expect(readForeign(value)).toBeUndefined();
});

it("joins several prompts of one picture into one text", () => {
  const { links, byId } = read(PROMPTS);
  expect(byId("comfy-3-prompt").data.text).toBe("{{text_1}}\n{{text_2}}");
  expect(links).toContain("comfy-3-prompt.text comfy-3.prompt");
});
