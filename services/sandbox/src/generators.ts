import { maskedName, modelName, musicName, pictureName, speechName, vectorName, videoName } from "./files";
import type { GeneratorInput } from "./inputs";
import { seedOf } from "./render/random";
import { syllablesOf } from "./render/speech";

export const GENERATOR_NAMES = [
  "sandbox-image",
  "sandbox-image-fast",
  "sandbox-vector",
  "sandbox-video",
  "sandbox-video-pro",
  "sandbox-music",
  "sandbox-speech",
  "sandbox-3d",
] as const;
export type GeneratorName = (typeof GENERATOR_NAMES)[number];
export type OutputKind = "images" | "videos" | "audios" | "models3d";

interface Generator {
  outputs: OutputKind;
  /** Returns the duration of a job, unless the request sets it. */
  latencyMs(input: GeneratorInput): number;
  /** Returns the names of a job's files. Each name contains all parameters for rendering. */
  files(input: GeneratorInput): string[];
}

const IMAGE_SIZE = 512;
const FAST_IMAGE_SIZE = 256;
const VIDEO_DEFAULT_SECONDS = 4;
const MUSIC_DEFAULT_SECONDS = 6;
const FRAMES_PER_SECOND = 8;
const PRO_FRAMES_PER_SECOND = 16;

/** Latency of a chat completion in milliseconds. */
export const CHAT_LATENCY_MS = 40;

const contentSeed = ({ prompt, image, seed }: GeneratorInput, index = 0): string => seedOf(prompt, image, seed, index);

/** Where a file of a request was kept. */
const UPLOAD_ID = /([0-9a-f-]{36})$/;
const uploadIdOf = (address: string): string => UPLOAD_ID.exec(address)![1]!;

const imageName = (input: GeneratorInput, index: number, size: number): string => {
  const { prompt, image, mask, seed } = input;
  if (image === undefined || mask === undefined) return pictureName(contentSeed(input, index), size);
  // Addresses of kept files are random, so they aren't part of the seed.
  return maskedName(seedOf(prompt, undefined, seed, index), uploadIdOf(image), uploadIdOf(mask));
};

const images = (latencyMs: number, size: number): Generator => ({
  outputs: "images",
  latencyMs: () => latencyMs,
  files: (input) => Array.from({ length: input.count }, (_, index) => imageName(input, index, size)),
});

const videos = (framesPerSecond: number): Generator => {
  const secondsOf = (input: GeneratorInput): number => input.seconds ?? VIDEO_DEFAULT_SECONDS;
  return {
    outputs: "videos",
    latencyMs: (input) => 400 + 100 * secondsOf(input),
    files: (input) => [videoName(contentSeed(input), secondsOf(input), framesPerSecond)],
  };
};

/** All generators, with their simulated durations. */
export const GENERATORS: Readonly<Record<GeneratorName, Generator>> = {
  "sandbox-image": images(150, IMAGE_SIZE),
  "sandbox-image-fast": images(60, FAST_IMAGE_SIZE),
  "sandbox-vector": {
    outputs: "images",
    latencyMs: () => 60,
    files: (input) => [vectorName(contentSeed(input))],
  },
  "sandbox-video": videos(FRAMES_PER_SECOND),
  "sandbox-video-pro": videos(PRO_FRAMES_PER_SECOND),
  "sandbox-music": {
    outputs: "audios",
    latencyMs: () => 300,
    files: (input) => [musicName(contentSeed(input), input.seconds ?? MUSIC_DEFAULT_SECONDS)],
  },
  "sandbox-speech": {
    outputs: "audios",
    latencyMs: () => 80,
    files: (input) => [speechName(contentSeed(input), syllablesOf(input.prompt.length))],
  },
  "sandbox-3d": {
    outputs: "models3d",
    latencyMs: () => 200,
    files: ({ prompt, image, seed }) => [modelName(seedOf(prompt, undefined, seed), image === undefined ? undefined : uploadIdOf(image))],
  },
};

export const isGeneratorName = (name: string): name is GeneratorName => (GENERATOR_NAMES as readonly string[]).includes(name);
