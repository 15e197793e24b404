import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Model } from "@nodeloom/client";
import { CHOICES } from "../../src/canvas/kinds";
import { nothingWords } from "../../src/editor/panels/elsewhere";
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
    "number",
    "dropdown",
    "float",
    "boolean",
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
    "show text",
    "preview text",
    "save file",
    "export",
    "show anything",
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
    "sentiment analysis",
    "mistral",
    "deepseek",
    "captioning",
    "florence",
    "joycaption",
    "tagger",
    "script",
    "gpt-4o",
    "interrogate",
  ],
  Image: [
    ...["image", "KSampler", "k sampler", "text to image", "img2img", "inpaint", "stable diffusion", "generate picture", "draw"],
    ...["load checkpoint", "EmptyLatentImage", "vae decode", "lora", "outpaint", "photo", "im"],
    "KSampler (Advanced)",
    "ControlNet",
    "generative fill",
    "remove object",
    "replace background",
    "virtual try on",
    "relight",
    "nano banana",
    "flux kontext",
    "unet loader",
    "IPAdapter",
  ],
  Video: [
    "video",
    "text to video",
    "image to video",
    "i2v",
    "animatediff",
    "animate",
    "film",
    "generate video",
    "svd",
    "video to video",
    "v2v",
    "hailuo",
    "luma",
    "camera motion",
  ],
  Audio: ["audio", "sound effect", "sfx", "generate audio", "text to audio", "elevenlabs", "suno", "foley", "mmaudio"],
  "3D model": ["3d", "3d model", "image to 3d", "text to 3d", "mesh", "glb", "generate 3d", "hunyuan3d"],
  File: ["file", "LoadImage", "load image", "Load Video", "upload", "read file", "load audio", "import image", "reference image"],
  Loop: ["loop", "repeat", "until", "while", "do while", "loop until", "refine"],
  List: ["list", "loop over items", "for each", "batch", "split in batches", "split out", "iterate", "array", "iterator", "lines"],
  "HTTP request": [
    "http",
    "http request",
    "api call",
    "curl",
    "slack",
    "google sheets",
    "send email",
    "fetch",
    "whatsapp",
    "gmail",
    "postgres",
    "google drive",
    "scraper",
    "load image from url",
    "rss",
    "webhook call",
  ],
  JSON: [
    "json",
    "code",
    "function",
    "javascript",
    "jmespath",
    "aggregate",
    "transform",
    "math",
    "rename keys",
    "split text",
    "count",
    "sort",
    "execute code",
  ],
  Switch: ["switch", "if", "if else", "condition", "branch", "router", "any switch", "case", "filter"],
  Approval: ["approval", "human in the loop", "wait", "review", "confirm", "send and wait", "pick best"],
  Workflow: ["workflow", "execute workflow", "subgraph", "sub-workflow"],
  Note: ["note", "sticky note", "comment", "MarkdownNote"],
  Frame: ["frame", "group", "group nodes", "section"],
  "Resize an image": ["resize", "ImageScale", "scale image", "thumbnail"],
  "Crop an image": ["crop", "ImageCrop", "crop image", "crop to aspect"],
  "Overlay an image": ["overlay", "composite", "layers", "watermark", "logo", "ImageCompositeMasked"],
  "Make an image grid": ["grid", "collage", "ImageStitch", "side by side", "stack", "contact sheet"],
  "Add text to an image": ["text on image", "write on image", "meme"],
  "Convert an image": ["webp", "png", "convert image"],
  "Join videos": ["join videos", "merge videos", "concatenate"],
  "Trim a video": ["trim video", "cut video", "Video Slice"],
  "Extract a frame": ["extract frame", "last frame", "screenshot", "video to images", "split frames", "cover"],
  "Add sound to a video": ["add music to video", "soundtrack", "mux"],
  "Make a slideshow": ["slideshow", "ken burns"],
  "Caption a video": ["subtitles", "captions", "burn subtitles", "srt"],
  "Make a GIF": ["gif"],
  "Mix sounds": ["background music", "mix audio"],
  "Normalize loudness": ["volume", "normalize"],
  "Local Upscale": ["upscale", "upscaler", "ImageUpscaleWithModel", "super resolution", "4x", "enlarge"],
  "Local Cut-out": ["remove background", "rmbg", "rembg", "background", "cutout", "transparent background", "segment anything", "SAM"],
  "Local Restore": ["restore", "denoise", "old photo", "face restore", "codeformer"],
  "Local OCR": ["ocr", "read text", "text from image"],
  "Local Transcription": ["transcribe", "speech to text", "whisper"],
  "Local Speech": ["tts", "text to speech", "narrator"],
  "Local Music": ["music", "song"],
  "Local Tween": ["interpolation", "rife", "tween"],
  "Local Embeddings": ["embeddings"],
};
/** Terms without a node, and the answer to them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  cron: "Schedules and hooks",
  "schedule trigger": "Schedules and hooks",
  delay: "Schedules and hooks",
  csv: "Run with a table",
  spreadsheet: "Run with a table",
  openpose: "say in the prompt",
  "depth map": "say in the prompt",
  "clip loader": "Models load",
  credentials: "Secrets",
  "random number": "seed",
  bypass: "press B",
  mute: "press B",
  reroute: "Links find their way",
  noop: "Links find their way",
  "error trigger": "Schedules and hooks",
  "try catch": "continues where it stopped",
  cache: "reused",
  "image compare": "Shift+M",
};
const TABLE = Object.entries(QUERIES).flatMap(([title, queries]) => queries.map((query) => [query, title] as const));

describe("the palette", () => {
  it(`finds the right node first for each of ${TABLE.length} queries`, () => {
    expect(TABLE.length).toBeGreaterThanOrEqual(200);
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

  it("says what takes the place of a term of other editors", () => {
    for (const [query, words] of Object.entries(ELSEWHERE)) {
      expect(searchChoices(query, CHOICES, MODELS, () => "")).toEqual([]);
      expect([query, nothingWords(query)]).toEqual([query, expect.stringContaining(words)]);
    }
    expect(nothingWords("face swap")).toContain("An administrator can enable more models");
    expect(nothingWords("")).toBe("No node matches this port.");
  });

  it("lists every kind in its order while nothing is typed", () => {
    expect(searchChoices(" ", CHOICES, MODELS, () => "").map(({ title }) => title)).toEqual(CHOICES.map(({ title }) => title));
  });
});
