/** Small graphs in the formats that ComfyUI saves. */

export const API = {
  "3": {
    class_type: "KSampler",
    inputs: { seed: 42, steps: 20, model: ["4", 0], positive: ["6", 0], negative: ["7", 0], latent_image: ["5", 0] },
  },
  "4": { class_type: "CheckpointLoaderSimple", inputs: { ckpt_name: "v1-5.safetensors" } },
  "5": { class_type: "EmptyLatentImage", inputs: { width: 768, height: 512, batch_size: 2 } },
  "6": { class_type: "CLIPTextEncode", inputs: { text: "a lighthouse", clip: ["4", 1] }, _meta: { title: "Positive" } },
  "7": { class_type: "CLIPTextEncode", inputs: { text: "blurry", clip: ["4", 1] } },
  "8": { class_type: "VAEDecode", inputs: { samples: ["3", 0], vae: ["4", 2] } },
  "9": { class_type: "SaveImage", inputs: { images: ["8", 0], filename_prefix: "x" } },
};

export interface EditorNode {
  id: number;
  type: string;
  pos: number[];
  mode: number;
  inputs: { name: string; link: number | null; widget?: { name: string } }[];
  outputs?: { name: string; type: string }[];
  widgets_values?: unknown[];
  properties?: object;
}

export const EDITOR: { nodes: EditorNode[]; links: number[][] } = {
  nodes: [
    { id: 6, type: "CLIPTextEncode", pos: [0, 0], mode: 0, inputs: [], widgets_values: ["a lighthouse"] },
    { id: 3, type: "KSampler", pos: [400, 0], mode: 0, inputs: [{ name: "positive", link: 4 }], widgets_values: [42, "randomize", 20] },
    { id: 8, type: "VAEDecode", pos: [800, 0], mode: 0, inputs: [{ name: "samples", link: 7 }] },
    { id: 9, type: "SaveImage", pos: [1200, 0], mode: 0, inputs: [{ name: "images", link: 9 }] },
  ],
  links: [
    [4, 6, 0, 3, 1],
    [7, 3, 0, 8, 0],
    [9, 8, 0, 9, 0],
  ],
};

export const SUBGRAPH_ID = "f2fdebf6-dfaf-43b6-9eb2-7f70613cfdc1";
const OUTER_ID = "0a1b2c3d-dfaf-43b6-9eb2-7f70613cfdc1";

const link = (id: number, [from, slot]: [number, number], [to, toSlot]: [number, number]): object => ({
  id,
  origin_id: from,
  origin_slot: slot,
  target_id: to,
  target_slot: toSlot,
});

const INNER = {
  id: SUBGRAPH_ID,
  name: "Text to image",
  inputs: [{ name: "text" }],
  outputs: [{ name: "IMAGE" }],
  nodes: [
    { id: 1, type: "CLIPTextEncode", pos: [0, 0], mode: 0, inputs: [{ name: "text", link: 1 }], widgets_values: ["from inside"] },
    { id: 2, type: "KSampler", pos: [500, 0], mode: 0, inputs: [{ name: "positive", link: 2 }], widgets_values: [5, "fixed"] },
    { id: 3, type: "VAEDecode", pos: [900, 0], mode: 0, inputs: [{ name: "samples", link: 3 }] },
  ],
  links: [link(1, [-10, 0], [1, 0]), link(2, [1, 0], [2, 0]), link(3, [2, 0], [3, 0]), link(4, [3, 0], [-20, 0])],
};
const OUTER = {
  id: OUTER_ID,
  name: "Around it",
  inputs: [{ name: "words" }],
  outputs: [{ name: "IMAGE" }],
  nodes: [
    { id: 7, type: SUBGRAPH_ID, pos: [40, 40], mode: 0, inputs: [{ name: "text", link: 1, widget: { name: "text" } }], widgets_values: [] },
  ],
  links: [link(1, [-10, 0], [7, 0]), link(2, [7, 0], [-20, 0])],
};

/** A picture whose sampler is in a subgraph or a nested one. The prompt is set outside of it. */
export const inSubgraph = (depth: number): object => {
  const [type, name] = depth === 1 ? [SUBGRAPH_ID, "text"] : [OUTER_ID, "words"];
  const instance = { id: 5, type, pos: [0, 0], size: [300, 200], mode: 0, inputs: [{ name, link: null, widget: { name } }] };
  return {
    nodes: [
      { ...instance, widgets_values: ["set from outside"] },
      { id: 9, type: "SaveImage", pos: [400, 0], mode: 0, inputs: [{ name: "images", link: 1 }] },
    ],
    links: [[1, 5, 0, 9, 0, "IMAGE"]],
    definitions: { subgraphs: [INNER, OUTER] },
  };
};

/** A video from a picture, with a sampler made of parts. */
export const VIDEO = {
  "1": { class_type: "SamplerCustomAdvanced", inputs: { guider: ["2", 0], sampler: ["3", 0], latent_image: ["4", 2] } },
  "2": { class_type: "CFGGuider", inputs: { positive: ["4", 0], negative: ["4", 1] } },
  "3": { class_type: "KSamplerSelect", inputs: { sampler_name: "euler" } },
  "4": {
    class_type: "WanImageToVideo",
    inputs: { positive: ["8", 0], negative: ["8", 0], start_image: ["7", 0], width: 640, height: 640, length: 81 },
  },
  "5": { class_type: "VAEDecode", inputs: { samples: ["1", 0] } },
  "6": { class_type: "SaveAnimatedWEBP", inputs: { images: ["5", 0], fps: 16 } },
  "7": { class_type: "LoadImage", inputs: { image: "start.png" } },
  "8": { class_type: "CLIPTextEncode", inputs: { text: "waves" } },
};

/** Two prompts for one sampler. */
export const PROMPTS = {
  "1": { class_type: "CLIPTextEncode", inputs: { text: "one" } },
  "2": { class_type: "CLIPTextEncode", inputs: { text: "two" } },
  "3": { class_type: "KSampler", inputs: { positive: ["4", 0] } },
  "4": { class_type: "ConditioningCombine", inputs: { conditioning_1: ["1", 0], conditioning_2: ["2", 0] } },
  "5": { class_type: "SaveImage", inputs: { images: ["6", 0] } },
  "6": { class_type: "VAEDecode", inputs: { samples: ["3", 0] } },
};

type Outputs = EditorNode["outputs"];
const viewer = (id: number, type: string, name: string, link: number): EditorNode => ({
  ...{ id, type, pos: [900, id * 10], mode: 0, outputs: [] },
  inputs: [
    { name: "camera_info", link: null },
    { name, link },
  ],
});
const pictureFile = (id: number, name: string): EditorNode => ({
  ...{ id, type: "LoadImage", pos: [0, id * 10], mode: 0, inputs: [], widgets_values: [name, "image"] },
  outputs: [
    { name: "IMAGE", type: "IMAGE" },
    { name: "MASK", type: "MASK" },
  ],
});
const outputsOf = (...types: string[]): Outputs => types.map((type) => ({ name: type, type }));

/** Parts of ComfyUI's own templates for 3D, with their classes, outputs and links. */
export const SHAPES = {
  /** Tencent's Hunyuan3D of two views, whose file, GLB and texture are shown and saved. */
  hunyuan: {
    nodes: [
      pictureFile(1, "front.png"),
      pictureFile(10, "back.png"),
      {
        ...{ id: 2, type: "TencentImageToModelNode", pos: [400, 0], mode: 0 },
        inputs: [
          { name: "image", link: 1 },
          { name: "image_left", link: null },
          { name: "image_back", link: 7 },
        ],
        outputs: outputsOf("STRING", "FILE_3D_GLB", "FILE_3D_OBJ", "IMAGE"),
        widgets_values: ["3.0", 500_000, "Normal", true, 382_182_111, "randomize"],
      },
      viewer(16, "Preview3D", "model_file", 12),
      viewer(13, "SaveGLB", "mesh", 9),
      viewer(17, "SaveImage", "images", 13),
    ],
    links: [
      [1, 1, 0, 2, 0],
      [7, 10, 0, 2, 2],
      [12, 2, 0, 16, 1],
      [9, 2, 1, 13, 1],
      [13, 2, 3, 17, 1],
    ],
  },
  /** Meshy of a text, with the progress of its last run, and the texture of Meshy's own model. */
  meshy: {
    nodes: [
      {
        ...{ id: 5, type: "MeshyTextToModelNode", pos: [0, 0], mode: 0, inputs: [], outputs: outputsOf("STRING", "MESHY_TASK_ID") },
        widgets_values: ["latest", "Death Knight", "realistic", "true", 300_000, "auto", "Status: Succeeded\nTime elapsed: 85s"],
      },
      {
        ...{ id: 1, type: "MeshyTextureNode", pos: [400, 0], mode: 0, inputs: [{ name: "meshy_task_id", link: 2 }] },
        outputs: outputsOf("STRING", "MODEL_TASK_ID"),
      },
      viewer(6, "Preview3D", "model_file", 1),
    ],
    links: [
      [2, 5, 1, 1, 0],
      [1, 1, 0, 6, 1],
    ],
  },
  /** A sampler of shapes on the own machine. */
  sampler: {
    nodes: [
      pictureFile(2, "robot.png"),
      { id: 13, type: "CLIPVisionEncode", pos: [200, 0], mode: 0, inputs: [{ name: "image", link: 21 }] },
      {
        ...{ id: 6, type: "Hunyuan3Dv2Conditioning", pos: [300, 0], mode: 0, inputs: [{ name: "clip_vision_output", link: 22 }] },
        outputs: outputsOf("CONDITIONING", "CONDITIONING"),
      },
      { id: 4, type: "EmptyLatentHunyuan3Dv2", pos: [300, 200], mode: 0, inputs: [], widgets_values: [4096, 1] },
      {
        ...{ id: 7, type: "KSampler", pos: [500, 0], mode: 0, widgets_values: [77, "randomize", 30, 5, "euler", "normal", 1] },
        inputs: [
          { name: "positive", link: 5 },
          { name: "negative", link: 6 },
          { name: "latent_image", link: 7 },
        ],
      },
      { id: 8, type: "VAEDecodeHunyuan3D", pos: [700, 0], mode: 0, inputs: [{ name: "samples", link: 8 }] },
      { id: 9, type: "VoxelToMesh", pos: [800, 0], mode: 0, inputs: [{ name: "voxel", link: 10 }] },
      viewer(10, "SaveGLB", "mesh", 11),
    ],
    links: [
      [21, 2, 0, 13, 0],
      [22, 13, 0, 6, 0],
      [5, 6, 0, 7, 0],
      [6, 6, 1, 7, 1],
      [7, 4, 0, 7, 2],
      [8, 7, 0, 8, 0],
      [10, 8, 0, 9, 0],
      [11, 9, 0, 10, 1],
    ],
  },
} satisfies Record<string, { nodes: EditorNode[]; links: number[][] }>;

/** Rodin in the API format, with a model from a file, whose drawn view it gets. */
export const RODIN = {
  "1": { class_type: "Load3D", inputs: { model_file: "chair.glb", width: 1024, height: 1024 } },
  "2": { class_type: "Rodin3D_Gen2", inputs: { Images: ["3", 0], Seed: 5 } },
  "3": { class_type: "LoadImage", inputs: { image: "chair.png" } },
  "4": { class_type: "Preview3D", inputs: { model_file: ["2", 0] } },
  "5": { class_type: "TripoTextureNode", inputs: { model_task_id: ["6", 1] } },
  "6": { class_type: "TripoTextToModelNode", inputs: { prompt: "a wooden chair" } },
  "7": { class_type: "SaveGLB", inputs: { mesh: ["5", 0] } },
};
