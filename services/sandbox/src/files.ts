import { createByteCache } from "./byte-cache";
import { MAX_MUSIC_SECONDS, MAX_SECONDS } from "./inputs";
import { renderMasked } from "./render/masked";
import { renderModel } from "./render/model";
import { renderMusic } from "./render/music";
import { renderPicture } from "./render/picture";
import { MAX_SYLLABLES, renderSpeech } from "./render/speech";
import { renderVector, VECTOR_SIZE } from "./render/vector";
import { renderVideo } from "./render/video";

const CACHE_BYTES = 16 * 1024 * 1024;

export const pictureName = (seed: string, size: number): string => `image-${size}-${seed}.png`;
export const vectorName = (seed: string): string => `vector-${VECTOR_SIZE}-${seed}.svg`;
export const videoName = (seed: string, seconds: number, framesPerSecond: number): string =>
  `video-${seconds}-${framesPerSecond}-${seed}.mp4`;
export const musicName = (seed: string, seconds: number): string => `music-${seconds}-${seed}.wav`;
export const maskedName = (seed: string, image: string, mask: string): string => `masked-${seed}-${image}-${mask}.png`;
/** @param image where the picture of the request was kept */
export const modelName = (seed: string, image: string | undefined): string => `model-${seed}${image === undefined ? "" : `-${image}`}.glb`;
export const speechName = (seed: string, syllables: number): string => `speech-${syllables}-${seed}.wav`;

interface Format {
  pattern: RegExp;
  contentType: string;
  /** Maximum of the first parameter in the name. */
  max: number;
  render(seed: string, first: number, second: number): Buffer | Promise<Buffer>;
}

const FORMATS: readonly Format[] = [
  { pattern: /^image-(256|512)()-([0-9a-f]{32})\.png$/, contentType: "image/png", max: 512, render: renderPicture },
  { pattern: /^vector-(1024)()-([0-9a-f]{32})\.svg$/, contentType: "image/svg+xml", max: VECTOR_SIZE, render: renderVector },
  { pattern: /^video-([1-9]\d?)-(8|16)-([0-9a-f]{32})\.mp4$/, contentType: "video/mp4", max: MAX_SECONDS, render: renderVideo },
  { pattern: /^music-([1-9]\d{0,2})()-([0-9a-f]{32})\.wav$/, contentType: "audio/wav", max: MAX_MUSIC_SECONDS, render: renderMusic },
  { pattern: /^speech-([1-9]\d{0,2})()-([0-9a-f]{32})\.wav$/, contentType: "audio/wav", max: MAX_SYLLABLES, render: renderSpeech },
];

const MODEL = /^model-([0-9a-f]{32})(?:-([0-9a-f-]{36}))?\.glb$/;
const MASKED = /^masked-([0-9a-f]{32})-([0-9a-f-]{36})-([0-9a-f-]{36})\.png$/;

/** Reads a file that was kept with its request. */
export type ReadKept = (id: string) => Promise<Buffer>;
const readNothing: ReadKept = () => Promise.reject(new Error("no files are kept"));

const lookUp = (name: string, read: ReadKept = readNothing): { contentType: string; render(): Buffer | Promise<Buffer> } | undefined => {
  const [, seedOfMasked, image, mask] = MASKED.exec(name) ?? [];
  if (seedOfMasked !== undefined)
    return { contentType: "image/png", render: async () => renderMasked(seedOfMasked, await read(image!), await read(mask!)) };
  const [, seedOfModel, picture] = MODEL.exec(name) ?? [];
  if (seedOfModel !== undefined)
    return {
      contentType: "model/gltf-binary",
      render: async () => renderModel(seedOfModel, picture === undefined ? undefined : await read(picture)),
    };
  for (const { pattern, contentType, max, render } of FORMATS) {
    const [, first, second, seed] = pattern.exec(name) ?? [];
    if (seed === undefined || Number(first) > max) continue;
    return { contentType, render: () => render(seed, Number(first), Number(second)) };
  }
  return undefined;
};

/** @returns undefined for a name that the sandbox never creates */
export const contentTypeOf = (name: string): string | undefined => lookUp(name)?.contentType;

export interface RenderedFile {
  contentType: string;
  bytes: Buffer;
}

export interface FileStats {
  served: number;
  rendered: number;
  renderCpuMs: number;
  cachedBytes: number;
}

export interface Files {
  /** Renders a file or reads it from the cache. @returns undefined for a name that the sandbox never creates */
  open(name: string): Promise<RenderedFile | undefined>;
  stats(): FileStats;
}

/** Renders files on download. Nothing is stored, because names contain all parameters. */
export const createFiles = (read: ReadKept): Files => {
  const cache = createByteCache(CACHE_BYTES);
  const counters = { served: 0, rendered: 0, renderCpuMs: 0 };
  const render = async (make: () => Buffer | Promise<Buffer>): Promise<Buffer> => {
    const before = process.cpuUsage();
    const bytes = await make();
    const { user, system } = process.cpuUsage(before);
    counters.rendered += 1;
    counters.renderCpuMs += (user + system) / 1000;
    return bytes;
  };
  return {
    open: async (name) => {
      const file = lookUp(name, read);
      if (!file) return undefined;
      const bytes = cache.get(name) ?? (await render(file.render));
      cache.set(name, bytes);
      counters.served += 1;
      return { contentType: file.contentType, bytes };
    },
    stats: () => ({ ...counters, renderCpuMs: Math.round(counters.renderCpuMs), cachedBytes: cache.bytes() }),
  };
};
