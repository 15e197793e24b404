import { insertion, replacement, type Bytes, type Edit, type MarkFormat } from "../edits";
import { addTo, MAX_PACKET_BYTES, newPacket, type SourceType } from "../xmp";

/** RIFF. Chunks have a name, a length and data, padded to even lengths. XMP is the chunk `XMP ` in WebP and `_PMX` in WAV. */

const RIFF_HEADER_BYTES = 12;
export const HEADER_BYTES = 8;
const MAX_SIZE = 0xffff_ffff;
/** Maximum chunks. Animations have many, and their packet comes last. */
const MAX_CHUNKS = 100_000;

const SAMPLES = "data";

export interface Chunk {
  name: string;
  at: number;
  length: number;
}

export const endOf = ({ at, length }: Chunk): number => at + HEADER_BYTES + length + (length % 2);

const chunk = (name: string, data: Uint8Array): Buffer => {
  const out = Buffer.alloc(HEADER_BYTES + data.length + (data.length % 2));
  out.write(name, "latin1");
  out.writeUInt32LE(data.length, 4);
  out.set(data, HEADER_BYTES);
  return out;
};

/**
 * The chunks of a file; undefined if the last one doesn't end with the file. Writers of live audio don't know its length. If the length is
 * too large, or zero with `isOpen`, samples extend to the end of the file.
 */
export const chunksOf = async (bytes: Bytes, until: number, isOpen = false): Promise<Chunk[] | undefined> => {
  const chunks: Chunk[] = [];
  for (let at = RIFF_HEADER_BYTES; at + HEADER_BYTES <= until;) {
    const header = await bytes.read(at, HEADER_BYTES);
    const [name, declaredLength, rest] = [header.toString("latin1", 0, 4), header.readUInt32LE(4), until - at - HEADER_BYTES];
    const lastsToEnd = name === SAMPLES && (declaredLength > rest || (isOpen && declaredLength === 0));
    const riffChunk = { name, at, length: lastsToEnd ? rest : declaredLength };
    chunks.push(riffChunk);
    at = endOf(riffChunk);
    if (at > until + 1 || chunks.length > MAX_CHUNKS) return undefined;
  }
  return chunks;
};

const sizeOf = (size: number): Buffer => {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(size);
  return out;
};

const growth = (edits: readonly Edit[]): number => edits.reduce((sum, { insert, remove }) => sum + insert.length - remove, 0);

/** Adds an edit for the file size in the header. */
export const withSize = (size: number, edits: Edit[]): Edit[] | undefined =>
  size + growth(edits) > MAX_SIZE ? undefined : [replacement(4, sizeOf(size + growth(edits))), ...edits];

/** Replaces the packet's chunk, or appends one. */
const packetEdits = async (bytes: Bytes, chunks: Chunk[], name: string, type: SourceType): Promise<Edit[] | "marked" | undefined> => {
  const sameChunk = chunks.find((one) => one.name === name);
  if (!sameChunk) {
    const last = chunks.at(-1)!;
    // Some writers omit the last chunk's padding.
    const padding = Buffer.alloc(Math.max(0, endOf(last) - bytes.size));
    return [insertion(Math.min(endOf(last), bytes.size), Buffer.concat([padding, chunk(name, newPacket(type))]))];
  }
  if (sameChunk.length > MAX_PACKET_BYTES) return undefined;
  const added = addTo(await bytes.read(sameChunk.at + HEADER_BYTES, sameChunk.length), type);
  if (added === undefined || added === "marked") return added;
  return [{ at: sameChunk.at, remove: Math.min(endOf(sameChunk), bytes.size) - sameChunk.at, insert: chunk(name, added) }];
};

const XMP_FLAG = 0x04;
const ALPHA_FLAG = 0x10;
const SIDE_BITS = 14;
const SIDE_MASK = (1 << SIDE_BITS) - 1;

/** Returns the extended header (flags and size) that a simple WebP file lacks. Undefined if the image's header can't be read. */
const extendedHeader = async (bytes: Bytes, { name, at }: Chunk): Promise<Buffer | undefined> => {
  const head = await bytes.read(at + HEADER_BYTES, 10);
  if (head.length < 10) return undefined;
  let [width, height, flags] = [0, 0, XMP_FLAG];
  if (name === "VP8 " && head.readUIntBE(3, 3) === 0x9d012a) {
    [width, height] = [head.readUInt16LE(6) & SIDE_MASK, head.readUInt16LE(8) & SIDE_MASK];
  } else if (name === "VP8L" && head[0] === 0x2f) {
    const bits = head.readUInt32LE(1);
    [width, height] = [(bits & SIDE_MASK) + 1, ((bits >>> SIDE_BITS) & SIDE_MASK) + 1];
    if ((bits >>> (2 * SIDE_BITS)) & 1) flags |= ALPHA_FLAG;
  } else return undefined;
  if (width === 0 || height === 0) return undefined;
  const data = Buffer.alloc(10);
  data[0] = flags;
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return chunk("VP8X", data);
};

export const webp: MarkFormat = async (bytes, type) => {
  const size = (await bytes.read(4, 4)).readUInt32LE(0);
  if (HEADER_BYTES + size > bytes.size) return undefined;
  const chunks = await chunksOf(bytes, HEADER_BYTES + size);
  const [first] = chunks ?? [];
  if (!chunks || !first) return undefined;
  const edits = await packetEdits(bytes, chunks, "XMP ", type);
  if (edits === undefined || edits === "marked") return edits;
  if (first.name === "VP8X") {
    const flags = (await bytes.read(first.at + HEADER_BYTES, 1))[0]!;
    return withSize(size, [...edits, replacement(first.at + HEADER_BYTES, Buffer.from([flags | XMP_FLAG]))]);
  }
  const extended = await extendedHeader(bytes, first);
  return extended && withSize(size, [...edits, insertion(first.at, extended)]);
};

/** The chunks of a WAV file and the position of their end; undefined for other files. */
export const wavOf = async (bytes: Bytes): Promise<{ chunks: Chunk[]; samples: Chunk; until: number } | undefined> => {
  const header = await bytes.read(0, RIFF_HEADER_BYTES);
  if (header.length < RIFF_HEADER_BYTES || header.toString("latin1", 0, 4) !== "RIFF") return undefined;
  const size = header.readUInt32LE(4);
  const isOpen = size === 0 || HEADER_BYTES + size > bytes.size;
  const until = isOpen ? bytes.size : HEADER_BYTES + size;
  const chunks = await chunksOf(bytes, until, isOpen);
  const samples = chunks?.find(({ name }) => name === SAMPLES);
  return chunks && samples && { chunks, samples, until };
};

export const wav: MarkFormat = async (bytes, type) => {
  const wavFile = await wavOf(bytes);
  if (!wavFile) return undefined;
  const { chunks, samples, until } = wavFile;
  const edits = await packetEdits(bytes, chunks, "_PMX", type);
  if (edits === undefined || edits === "marked") return edits;
  return withSize(until - HEADER_BYTES, [replacement(samples.at + 4, sizeOf(samples.length)), ...edits]);
};
