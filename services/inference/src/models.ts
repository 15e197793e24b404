import { availableParallelism } from "node:os";
import { z } from "zod";
import type { AssetName } from "./fetch/assets";
import { VOICE_ASSETS, VOICE_NAMES, type Voice } from "./fetch/voice-assets";
import { MOODS } from "./engines/music/compose";
import type { EngineName } from "./engines";

/** Local models with their inputs, required downloads and resource limits. */

export const MAX_TEXT_CHARACTERS = 5_000;
/** Speech synthesis takes about as long as the audio lasts. */
const MAX_VOICED_CHARACTERS = 2_000;
const MAX_ADDRESS_CHARACTERS = 2_048;
const MAX_VIDEO_SECONDS = 10;
const MAX_MUSIC_SECONDS = 120;
/** All vectors are returned in a single JSON response. */
const MAX_EMBEDDED_TEXTS = 50;
const MAX_EMBEDDED_CHARACTERS = 8_000;
const DEFAULT_VOICE: Voice = "af_heart";
const MB = 1_024 * 1_024;

export interface LocalModel {
  engine: EngineName;
  assets: readonly AssetName[];
  /** The operator's weights file, which is used instead of downloaded weights. */
  weightsFile?: string;
  memoryBytes: number;
  loadMs: number;
  runMs: number;
}

export interface JobModel extends LocalModel {
  /** Schema of a job's inputs. */
  inputs: z.ZodType<Record<string, unknown>>;
  /** Inputs that are files, with their required types. */
  files: Readonly<Record<string, "image" | "audio">>;
  /** Member of the output that contains the files or the text. */
  outputs: "images" | "videos" | "audios" | "text";
}

const address = z.string().min(1).max(MAX_ADDRESS_CHARACTERS);
const embedded = z.string().min(1).max(MAX_EMBEDDED_CHARACTERS);
const seed = z.int().min(0).max(2_147_483_647).optional();
/** Models of this kind are trained at 512 pixels. In larger images they repeat their subject. */
const pictureSide = z.int().min(256).max(768).multipleOf(64).default(512);
const limits = (memoryMb: number, runSeconds: number) => ({
  memoryBytes: memoryMb * MB,
  loadMs: 60_000,
  runMs: runSeconds * 1_000,
});

/** Models used through jobs. */
export const JOB_MODELS: Readonly<Record<string, JobModel>> = {
  "local-speech": {
    engine: "speech",
    assets: ["engines", "speech"],
    ...limits(800, 120),
    inputs: z.strictObject({ prompt: z.string().min(1).max(MAX_TEXT_CHARACTERS), speed: z.number().min(0.5).max(2).default(1) }),
    files: {},
    outputs: "audios",
  },
  "local-voices": {
    engine: "voices",
    assets: ["engines", "speech", ...(Object.keys(VOICE_ASSETS) as (keyof typeof VOICE_ASSETS)[])],
    ...limits(1_200, 280),
    inputs: z.strictObject({
      prompt: z.string().min(1).max(MAX_VOICED_CHARACTERS),
      voice: z.enum(VOICE_NAMES).default(DEFAULT_VOICE),
      speed: z.number().min(0.5).max(2).default(1),
    }),
    files: {},
    outputs: "audios",
  },
  "local-upscale": {
    engine: "upscale",
    assets: ["engines", "upscale"],
    ...limits(1_500, 300),
    inputs: z.strictObject({ image: address }),
    files: { image: "image" },
    outputs: "images",
  },
  "local-cutout": {
    engine: "cutout",
    assets: ["engines", "cutout"],
    ...limits(1_200, 120),
    inputs: z.strictObject({ image: address }),
    files: { image: "image" },
    outputs: "images",
  },
  "local-tween": {
    engine: "tween",
    assets: ["engines", "tween", "ffmpeg"],
    ...limits(2_000, 600),
    inputs: z.strictObject({
      image: address,
      endImage: address,
      seconds: z.number().min(0.5).max(MAX_VIDEO_SECONDS).default(2),
      framesPerSecond: z.int().min(4).max(30).default(12),
    }),
    files: { image: "image", endImage: "image" },
    outputs: "videos",
  },
  "local-music": {
    engine: "music",
    assets: ["engines"],
    ...limits(800, 180),
    inputs: z.strictObject({
      prompt: z.string().min(1).max(MAX_TEXT_CHARACTERS),
      mood: z.enum(MOODS).optional(),
      seconds: z.number().min(2).max(MAX_MUSIC_SECONDS).default(20),
      tempo: z.int().min(40).max(200).optional(),
      seed,
    }),
    files: {},
    outputs: "audios",
  },
  "local-transcribe": {
    engine: "transcribe",
    assets: ["engines", "transcribe", "ffmpeg"],
    ...limits(1_000, 280),
    // The weights support only English.
    inputs: z.strictObject({ audio: address, language: z.literal("en").optional() }),
    files: { audio: "audio" },
    outputs: "text",
  },
  "local-languages": {
    engine: "languages",
    assets: ["engines", "languages", "ffmpeg"],
    ...limits(1_500, 900),
    inputs: z.strictObject({ audio: address, language: z.string().regex(/^[a-z]{2,3}$/).optional() }), // prettier-ignore
    files: { audio: "audio" },
    outputs: "text",
  },
  "local-restore": {
    engine: "restore",
    assets: ["engines", "restore"],
    ...limits(1_500, 900),
    inputs: z.strictObject({ image: address }),
    files: { image: "image" },
    outputs: "images",
  },
  "local-embeddings": {
    engine: "embeddings",
    assets: ["engines", "embeddings"],
    ...limits(800, 120),
    inputs: z.strictObject({ texts: z.array(embedded).min(1).max(MAX_EMBEDDED_TEXTS), query: embedded.optional() }),
    files: {},
    outputs: "text",
  },
  "local-pictures": {
    engine: "diffusion",
    assets: ["engines", "pictures"],
    memoryBytes: 10_000 * MB,
    loadMs: 300_000,
    runMs: 900_000,
    inputs: z.strictObject({
      prompt: z.string().min(1).max(MAX_TEXT_CHARACTERS),
      width: pictureSide,
      height: pictureSide,
      steps: z.int().min(1).max(8).default(4),
      guidance: z.number().min(1).max(20).default(8.5),
      seed,
    }),
    files: {},
    outputs: "images",
  },
  "local-ocr": {
    engine: "ocr",
    assets: ["engines"],
    ...limits(1_500, 180),
    inputs: z.strictObject({ image: address }),
    files: { image: "image" },
    outputs: "text",
  },
};

/** Models used through chat completions. */
export const CHAT_MODELS: Readonly<Record<string, LocalModel>> = {
  "local-chat": { engine: "chat", assets: ["engines", "chat"], ...limits(1_000, 240) },
};

export const LOCAL_MODELS: Readonly<Record<string, LocalModel>> = { ...CHAT_MODELS, ...JOB_MODELS };

const MOST_THREADS = 4;

/** Half of the CPU cores, because engines with synchronized threads are slow if others compete for cores. */
export const defaultThreads = (cores = availableParallelism()): number => Math.max(1, Math.min(MOST_THREADS, Math.floor(cores / 2)));
