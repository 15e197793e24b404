import { open, type FileHandle } from "node:fs/promises";
import { DomainError, isRecord, parseJsonText } from "@nodeloom/kernel";
import { readAt } from "./read-at";

/**
 * Checks 3D models (GLB, binary glTF 2.0) before they are stored. Viewers then find a complete file that loads nothing from other servers.
 * Format: https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html#glb-file-format-specification
 */

export const GLB_TYPE = "model/gltf-binary";

export const GLB_BOUNDS = {
  /** Maximum bytes of the description (the JSON chunk). */
  jsonBytes: 4 * 1024 * 1024,
  chunks: 16,
  /** Maximum items of a list in the description, such as nodes or meshes. */
  items: 50_000,
  images: 256,
  /** Maximum values of all accessors. A file can declare more values than it contains, and viewers allocate memory for them. */
  values: 50_000_000,
} as const;

const MAGIC = "glTF";
const VERSION = 2;
const HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;

type Json = Readonly<Record<string, unknown>>;

/** @throws DomainError UNSUPPORTED_MEDIA_TYPE */
const refuse = (problem: string): never => {
  throw new DomainError("invalid", "UNSUPPORTED_MEDIA_TYPE", `the 3D model ${problem}`);
};

interface Chunk {
  type: number;
  at: number;
  length: number;
}

const readChunks = async (handle: FileHandle, bytes: number): Promise<Chunk[]> => {
  const chunks: Chunk[] = [];
  for (let at = HEADER_BYTES; at < bytes; at = chunks.at(-1)!.at + chunks.at(-1)!.length) {
    if (chunks.length === GLB_BOUNDS.chunks) refuse(`has more than ${GLB_BOUNDS.chunks} chunks`);
    const header = await readAt(handle, at, CHUNK_HEADER_BYTES);
    if (header.length < CHUNK_HEADER_BYTES) refuse("ends inside a chunk: it is truncated");
    const [length, type] = [header.readUInt32LE(0), header.readUInt32LE(4)];
    if (at + CHUNK_HEADER_BYTES + length > bytes) refuse("ends inside a chunk: it is truncated");
    chunks.push({ type, at: at + CHUNK_HEADER_BYTES, length });
  }
  return chunks;
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

const countOf = (accessor: unknown): number =>
  isRecord(accessor) && Number.isSafeInteger(accessor.count) ? Math.max(0, Number(accessor.count)) : 0;

const checkCounts = (gltf: Json): void => {
  const [name] = Object.entries(gltf).find(([, value]) => listOf(value).length > GLB_BOUNDS.items) ?? [];
  if (name !== undefined) refuse(`has more than ${GLB_BOUNDS.items} ${name.slice(0, 100)}`);
  if (listOf(gltf.images).length > GLB_BOUNDS.images) refuse(`has more than ${GLB_BOUNDS.images} images`);
  const values = listOf(gltf.accessors).reduce<number>((sum, accessor) => sum + countOf(accessor), 0);
  if (values > GLB_BOUNDS.values) refuse(`declares more than ${GLB_BOUNDS.values} values`);
};

/** Extensions can name files too, so every `uri` counts, wherever it is. */
const checkAddresses = (gltf: Json): void => {
  const rest: unknown[] = [gltf];
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (typeof value !== "object" || value === null) continue;
    const { uri } = value as { uri?: unknown };
    if (typeof uri === "string" && !/^data:/i.test(uri)) refuse("refers to another file: embed its buffers and textures");
    for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) rest.push(inner);
  }
};

const checkBuffers = (gltf: Json, binary: Chunk | undefined): void => {
  for (const [index, buffer] of listOf(gltf.buffers).entries()) {
    if (!isRecord(buffer)) return refuse("has a buffer that isn't an object");
    if (buffer.uri !== undefined) continue;
    if (index > 0 || !binary || Number(buffer.byteLength) > binary.length) refuse("lacks the data of a buffer");
  }
};

const describe = async (handle: FileHandle, [first]: readonly Chunk[]): Promise<Json> => {
  if (first?.type !== JSON_CHUNK) return refuse("has no description: its first chunk must be JSON");
  if (first.length > GLB_BOUNDS.jsonBytes) return refuse(`has a description of more than ${GLB_BOUNDS.jsonBytes} bytes`);
  const gltf = parseJsonText((await readAt(handle, first.at, first.length)).toString())?.value;
  if (!isRecord(gltf)) return refuse("has a description that isn't valid JSON or is nested too deep");
  return gltf;
};

/**
 * Checks a GLB file.
 * @param bytes size of the file
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE, which says what is wrong
 */
export const checkGlb = async (path: string, bytes: number): Promise<void> => {
  const handle = await open(path, "r");
  try {
    const header = await readAt(handle, 0, HEADER_BYTES);
    if (header.length < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC) refuse("has no complete header");
    const [version, declaredBytes] = [header.readUInt32LE(4), header.readUInt32LE(8)];
    if (version !== VERSION) refuse(`is glTF ${version}: only glTF ${VERSION} is supported`);
    if (declaredBytes !== bytes) refuse(`has ${bytes} bytes, but its header says ${declaredBytes}: it is truncated or damaged`);
    const chunks = await readChunks(handle, bytes);
    const gltf = await describe(handle, chunks);
    if (!isRecord(gltf.asset) || !/^2\.\d+$/.test(String(gltf.asset.version))) refuse("doesn't say that it is glTF 2 (asset.version)");
    checkCounts(gltf);
    checkAddresses(gltf);
    checkBuffers(gltf, chunks[1]?.type === BINARY_CHUNK ? chunks[1] : undefined);
  } finally {
    await handle.close();
  }
};
