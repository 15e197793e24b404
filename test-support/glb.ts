/** Builds GLB files, whole and broken. */

const [JSON_CHUNK, BINARY_CHUNK] = [0x4e4f534a, 0x004e4942];
const ALIGNMENT = 4;

const chunk = (type: number, data: Buffer, padding: string): Buffer => {
  const padded = Buffer.concat([data, Buffer.alloc((ALIGNMENT - (data.length % ALIGNMENT)) % ALIGNMENT, padding)]);
  const header = Buffer.alloc(8);
  header.writeUInt32LE(padded.length, 0);
  header.writeUInt32LE(type, 4);
  return Buffer.concat([header, padded]);
};

/** A triangle. */
const POSITIONS = Buffer.from(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]).buffer);

export const TRIANGLE = {
  asset: { version: "2.0" },
  scene: 0,
  scenes: [{ nodes: [0] }],
  nodes: [{ mesh: 0 }],
  meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
  accessors: [{ bufferView: 0, componentType: 5126, count: 3, type: "VEC3", min: [0, 0, 0], max: [1, 1, 0] }],
  bufferViews: [{ buffer: 0, byteLength: POSITIONS.length }],
  buffers: [{ byteLength: POSITIONS.length }],
};

interface Parts {
  /** The description, as an object or as text. */
  gltf?: object | string;
  binary?: Buffer | null;
  version?: number;
  /** Added to the length in the header. */
  extraLength?: number;
}

export const glbOf = ({ gltf = TRIANGLE, binary = POSITIONS, version = 2, extraLength = 0 }: Parts = {}): Buffer => {
  const text = typeof gltf === "string" ? gltf : JSON.stringify(gltf);
  const chunks = [chunk(JSON_CHUNK, Buffer.from(text), " "), ...(binary ? [chunk(BINARY_CHUNK, binary, "\0")] : [])];
  const header = Buffer.alloc(12);
  header.write("glTF");
  header.writeUInt32LE(version, 4);
  header.writeUInt32LE(chunks.reduce((sum, { length }) => sum + length, header.length) + extraLength, 8);
  return Buffer.concat([header, ...chunks]);
};
