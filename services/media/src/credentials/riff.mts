/** Manifests in WAV and WebP: a chunk `C2PA` at the end of the RIFF file (C2PA 2.1, section A.3.7). */

import type { Asset } from "@trustnxt/c2pa-ts/asset";

const HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
const CHUNK = "C2PA";
const FORMS: Readonly<Record<string, string>> = { WAVE: "audio/wav", WEBP: "image/webp" };
const MOST_CHUNKS = 10_000;

interface Chunk {
  type: string;
  start: number;
  /** Of the contents, without the padding byte. */
  length: number;
}

const text = (bytes: Uint8Array, at: number): string => Buffer.from(bytes.subarray(at, at + 4)).toString("latin1");
const padded = (length: number): number => length + (length % 2);
const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** @throws if a chunk doesn't fit */
const chunksOf = (bytes: Uint8Array): Chunk[] => {
  const view = viewOf(bytes);
  const chunks: Chunk[] = [];
  for (let start = HEADER_BYTES; start + CHUNK_HEADER_BYTES <= bytes.length;) {
    const length = view.getUint32(start + 4, true);
    if (start + CHUNK_HEADER_BYTES + length > bytes.length || chunks.length > MOST_CHUNKS) throw new Error("a chunk is damaged");
    chunks.push({ type: text(bytes, start), start, length });
    start += CHUNK_HEADER_BYTES + padded(length);
  }
  return chunks;
};

export class Riff implements Asset {
  readonly mimeType: string;
  private data: Uint8Array;

  constructor(data: Uint8Array) {
    if (!Riff.canRead(data)) throw new Error("not a RIFF file");
    this.data = data;
    this.mimeType = FORMS[text(data, 8)]!;
  }

  static canRead(bytes: Uint8Array): boolean {
    if (bytes.length < HEADER_BYTES || text(bytes, 0) !== "RIFF" || !(text(bytes, 8) in FORMS)) return false;
    try {
      return chunksOf(bytes).filter(({ type }) => type === CHUNK).length <= 1;
    } catch {
      return false;
    }
  }

  getDataLength(): number {
    return this.data.length;
  }

  getDataRange(start = 0, length = this.data.length - start): Promise<Uint8Array> {
    return Promise.resolve(this.data.subarray(start, start + length));
  }

  dumpInfo(): string {
    return chunksOf(this.data).map(({ type, length }) => `${type} ${length}`).join("\n"); // prettier-ignore
  }

  getManifestJUMBF(): Uint8Array | undefined {
    const chunk = this.manifestChunk();
    return chunk && this.data.subarray(chunk.start + CHUNK_HEADER_BYTES, chunk.start + CHUNK_HEADER_BYTES + chunk.length);
  }

  ensureManifestSpace(length: number): Promise<void> {
    const others = chunksOf(this.data).filter(({ type }) => type !== CHUNK);
    const parts = others.map(({ start, length: bytes }) => Buffer.concat([this.data.subarray(start, start + CHUNK_HEADER_BYTES + bytes), Buffer.alloc(bytes % 2)])); // prettier-ignore
    const chunk = Buffer.alloc(CHUNK_HEADER_BYTES + padded(length));
    chunk.write(CHUNK, "latin1");
    chunk.writeUInt32LE(length, 4);
    const whole = Buffer.concat([this.data.subarray(0, HEADER_BYTES), ...parts, chunk]);
    whole.writeUInt32LE(whole.length - CHUNK_HEADER_BYTES, 4);
    // The thread hands the bytes over, which needs a buffer of their own.
    this.data = new Uint8Array(whole);
    return Promise.resolve();
  }

  getHashExclusionRange(): { start: number; length: number } {
    const chunk = this.manifestChunk();
    if (!chunk) throw new Error("no space was kept for a manifest");
    return { start: chunk.start, length: CHUNK_HEADER_BYTES + padded(chunk.length) };
  }

  writeManifestJUMBF(jumbf: Uint8Array): Promise<void> {
    const chunk = this.manifestChunk();
    if (chunk?.length !== jumbf.length) throw new Error("the space for the manifest has another size");
    this.data.set(jumbf, chunk.start + CHUNK_HEADER_BYTES);
    return Promise.resolve();
  }

  private manifestChunk(): Chunk | undefined {
    return chunksOf(this.data).find(({ type }) => type === CHUNK);
  }
}
