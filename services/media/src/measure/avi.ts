import type { Measurements } from "./measure";
import type { ReadAt } from "./tiff";

/**
 * Size and duration of an AVI file, from its stream headers and the aspect ratio in `vprp` (Microsoft's AVI RIFF and OpenDML references).
 */

const HEADER_BYTES = 8;
const FORM_BYTES = 12;
/** Bytes that are read to find the header list, which precedes the frames. */
const HEAD_BYTES = 256 * 1_024;
const MOST_CHUNKS = 1_000;
const MS = 1_000;

interface Chunk {
  name: string;
  list: string;
  data: Buffer;
}

const chunksOf = (bytes: Buffer): Chunk[] => {
  const chunks: Chunk[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length && chunks.length < MOST_CHUNKS;) {
    const name = bytes.toString("latin1", at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const data = bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
    const isList = name === "LIST" && data.length >= 4;
    chunks.push(isList ? { name, list: data.toString("latin1", 0, 4), data: data.subarray(4) } : { name, list: "", data });
    at += HEADER_BYTES + length + (length % 2);
  }
  return chunks;
};

interface Stream {
  kind: string;
  durationMs: number;
  format: Buffer | undefined;
  properties: Buffer | undefined;
}

const streamOf = ({ data }: Chunk): Stream | undefined => {
  const chunks = chunksOf(data);
  const of = (name: string): Buffer | undefined => chunks.find((chunk) => chunk.name === name)?.data;
  const header = of("strh");
  if (header === undefined) return undefined;
  const [scale, rate, length] = [header.readUInt32LE(20), header.readUInt32LE(24), header.readUInt32LE(32)];
  return {
    kind: header.toString("latin1", 0, 4),
    durationMs: rate > 0 ? Math.round((length * scale * MS) / rate) : 0,
    format: of("strf"),
    properties: of("vprp"),
  };
};

/** The displayed width. `vprp` has the aspect ratio of the whole frame. */
const shownWidth = (width: number, height: number, properties: Buffer | undefined): number => {
  if (properties === undefined || properties.length < 24) return width;
  const [high, wide] = [properties.readUInt16LE(20), properties.readUInt16LE(22)];
  return high > 0 && wide > 0 ? Math.round((height * wide) / high) : width;
};

/** @throws RangeError if a header is cut off */
export const aviOf = async (readAt: ReadAt): Promise<Measurements> => {
  const head = chunksOf(await readAt(FORM_BYTES, HEAD_BYTES)).find(({ list }) => list === "hdrl");
  const streams = head ? chunksOf(head.data).flatMap((chunk) => (chunk.list === "strl" ? (streamOf(chunk) ?? []) : [])) : [];
  const durationMs = Math.max(0, ...streams.map((stream) => stream.durationMs));
  const video = streams.find(({ kind }) => kind === "vids");
  if (!video?.format) return { durationMs, isSound: streams.some(({ kind }) => kind === "auds") };
  // A negative height means that rows start at the top.
  const [width, height] = [video.format.readInt32LE(4), Math.abs(video.format.readInt32LE(8))];
  return { width: shownWidth(width, height, video.properties), height, durationMs };
};
