import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Model } from "@nodeloom/client";
import { CHOICES } from "../../src/canvas/kinds";
import { searchChoices } from "../../src/editor/panels/search";

const REGISTRY = join(__dirname, "../../../../services/models/registry");
/** Models of a fresh installation, all enabled, so that none hides another. */
const MODELS = readdirSync(REGISTRY)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(join(REGISTRY, name), "utf8")) as Model);
const first = (query: string, models = MODELS): string | undefined => searchChoices(query, CHOICES, models, () => "")[0]?.title;

/** Titles by the words that people type to find them: users of n8n, of ComfyUI, and of neither. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  Inputs: [
    "inputs",
    "input",
    "webhook",
    "manual trigger",
    "form trigger",
    "on form submission",
    "chat trigger",
    "start",
    "form",
    "parameter",
  ],
  Results: [
    "results",
    "output",
    "save image",
    "SaveImage",
    "preview image",
    "PreviewImage",
    "VHS_VideoCombine",
    "respond to webhook",
    "save video",
    "result",
  ],
  Text: [
    "text",
    "CLIPTextEncode",
    "clip text encode",
    "prompt",
    "negative prompt",
    "set",
    "edit fields",
    "primitive string",
    "StringConcatenate",
    "template",
  ],
  Assistant: [
    "assistant",
    "llm",
    "ai agent",
    "chatgpt",
    "claude",
    "basic llm chain",
    "translate",
    "summarize",
    "describe image",
    "text classifier",
    "structured output",
  ],
  Image: [
    ...["image", "KSampler", "k sampler", "text to image", "img2img", "inpaint", "stable diffusion", "generate picture", "draw"],
    ...["load checkpoint", "EmptyLatentImage", "vae decode", "lora", "outpaint", "photo", "im"],
  ],
  Video: ["video", "text to video", "image to video", "i2v", "animatediff", "animate", "film", "generate video", "svd"],
  Audio: ["audio", "sound effect", "sfx", "generate audio", "text to audio"],
  "3D model": ["3d", "3d model", "image to 3d", "text to 3d", "mesh", "glb", "generate 3d", "hunyuan3d"],
  File: ["file", "LoadImage", "load image", "Load Video", "upload", "read file", "load audio"],
  Loop: ["loop", "repeat", "until", "while", "do while", "loop until", "refine"],
  List: ["list", "loop over items", "for each", "batch", "split in batches", "split out", "iterate", "array"],
  "HTTP request": ["http", "http request", "api call", "curl", "slack", "google sheets", "send email", "fetch"],
  JSON: ["json", "code", "function", "javascript", "jmespath", "aggregate", "transform", "math"],
  Switch: ["switch", "if", "if else", "condition", "branch", "router"],
  Approval: ["approval", "human in the loop", "wait", "review", "confirm"],
  Workflow: ["workflow", "execute workflow", "subgraph", "sub-workflow"],
  Note: ["note", "sticky note", "comment", "MarkdownNote"],
  Frame: ["frame", "group", "group nodes", "section"],
  "Resize an image": ["resize", "ImageScale", "scale image", "thumbnail"],
  "Crop an image": ["crop", "ImageCrop", "crop image"],
  "Overlay an image": ["overlay", "composite", "layers", "watermark", "logo", "ImageCompositeMasked"],
  "Make an image grid": ["grid", "collage", "ImageStitch", "side by side"],
  "Add text to an image": ["text on image", "write on image", "meme"],
  "Convert an image": ["webp", "png", "convert image"],
  "Join videos": ["join videos", "merge videos", "concatenate"],
  "Trim a video": ["trim video", "cut video", "Video Slice"],
  "Extract a frame": ["extract frame", "last frame", "screenshot"],
  "Add sound to a video": ["add music to video", "soundtrack", "mux"],
  "Make a slideshow": ["slideshow", "ken burns"],
  "Caption a video": ["subtitles", "captions"],
  "Make a GIF": ["gif"],
  "Mix sounds": ["background music", "mix audio"],
  "Normalize loudness": ["volume", "normalize"],
  "Local Upscale": ["upscale", "upscaler", "ImageUpscaleWithModel", "super resolution", "4x", "enlarge"],
  "Local Cut-out": ["remove background", "rmbg", "rembg", "background", "cutout", "transparent background"],
  "Local Restore": ["restore", "denoise", "old photo"],
  "Local OCR": ["ocr", "read text", "text from image"],
  "Local Transcription": ["transcribe", "speech to text", "whisper"],
  "Local Speech": ["tts", "text to speech", "narrator"],
  "Local Music": ["music", "song"],
  "Local Tween": ["interpolation", "rife", "tween"],
  "Local Embeddings": ["embeddings"],
};
const TABLE = Object.entries(QUERIES).flatMap(([title, queries]) => queries.map((query) => [query, title] as const));

describe("the palette", () => {
  it(`finds the right node first for each of ${TABLE.length} queries`, () => {
    expect(TABLE.length).toBeGreaterThanOrEqual(150);
    const wrong = TABLE.filter(([query, title]) => first(query) !== title).map(
      ([query, title]) => `${query}: ${first(query)} before ${title}`,
    );
    expect(wrong).toEqual([]);
  });

  it("finds the same on an installation with the local models alone", () => {
    const local = MODELS.filter(({ runsAt, internalName }) => runsAt === "local" || internalName.startsWith("sandbox-"));
    expect(TABLE.filter(([query, title]) => first(query, local) !== title)).toEqual([]);
  });

  it("finds a model by its name, and nothing for what no node does", () => {
    expect(first("flux schnell")).toContain("schnell");
    expect(first("kling 3.0 pro")).toBe("Kling 3.0 Pro");
    for (const query of ["zzqx", "ing", "ksamplerx"]) expect(first(query)).toBeUndefined();
  });

  it("lists every kind in its order while nothing is typed", () => {
    expect(searchChoices(" ", CHOICES, MODELS, () => "").map(({ title }) => title)).toEqual(CHOICES.map(({ title }) => title));
  });
});
