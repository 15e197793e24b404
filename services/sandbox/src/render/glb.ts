/** Writes meshes as GLB files (binary glTF 2.0): https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html#glb-file-format-specification */

export type Point = readonly [x: number, y: number, z: number];

/** A surface of triangles over a grid of points. */
export interface Surface {
  columns: number;
  rows: number;
  /** The point at a position of the texture. (0, 0) is its upper left corner, (1, 1) its lower right one. */
  at(u: number, v: number): Point;
}

export interface Texture {
  bytes: Buffer;
  contentType: "image/png" | "image/jpeg";
}

const [VERSION, JSON_CHUNK, BINARY_CHUNK] = [2, 0x4e4f534a, 0x004e4942];
const [FLOAT, UNSIGNED_SHORT] = [5126, 5123];
const ALIGNMENT = 4;

const minus = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const cross = (a: Point, b: Point): Point => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const DOWN: Point = [0, -1, 0];

/** The direction that a surface faces. A pole, where a row is a single point, faces down. */
const normalAt = ({ at, columns, rows }: Surface, u: number, v: number): Point => {
  const [halfColumn, halfRow] = [0.5 / columns, 0.5 / rows];
  const [down, right] = [minus(at(u, v + halfRow), at(u, v - halfRow)), minus(at(u + halfColumn, v), at(u - halfColumn, v))];
  const normal = cross(down, right);
  const length = Math.hypot(...normal);
  return length === 0 ? DOWN : [normal[0] / length, normal[1] / length, normal[2] / length];
};

const verticesOf = (surface: Surface) => {
  const { columns, rows, at } = surface;
  const [positions, normals, coordinates, indices]: number[][] = [[], [], [], []];
  for (let row = 0; row <= rows; row += 1)
    for (let column = 0; column <= columns; column += 1) {
      const [u, v] = [column / columns, row / rows];
      positions!.push(...at(u, v));
      normals!.push(...normalAt(surface, u, v));
      coordinates!.push(u, v);
      if (row === rows || column === columns) continue;
      const first = row * (columns + 1) + column;
      const below = first + columns + 1;
      indices!.push(first, below, first + 1, first + 1, below, below + 1);
    }
  return { positions: positions!, normals: normals!, coordinates: coordinates!, indices: indices! };
};

const padded = (bytes: Buffer, padding: string): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT, padding)]);

const chunk = (type: number, data: Buffer): Buffer => {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(data.length, 0);
  header.writeUInt32LE(type, 4);
  return Buffer.concat([header, data]);
};

const floats = (values: readonly number[]): Buffer => Buffer.from(new Float32Array(values).buffer);
const extremes = (positions: readonly number[], pick: (a: number, b: number) => number): number[] =>
  [0, 1, 2].map((axis) => positions.filter((_, index) => index % 3 === axis).reduce((a, b) => Math.fround(pick(a, b))));

/** Returns a GLB file of surfaces with one texture. The file contains all that it needs. */
export const writeGlb = (surfaces: readonly Surface[], texture: Texture, generator: string): Buffer => {
  const parts: Buffer[] = [];
  const accessors: object[] = [];
  const add = (bytes: Buffer): number => parts.push(padded(bytes, "\0")) - 1;
  const accessor = (values: readonly number[], type: "VEC3" | "VEC2", bounds: object = {}): number => {
    const count = values.length / Number(type.at(-1));
    return accessors.push({ bufferView: add(floats(values)), componentType: FLOAT, count, type, ...bounds }) - 1;
  };
  const primitives = surfaces.map((surface) => {
    const { positions, normals, coordinates, indices } = verticesOf(surface);
    const bounds = { min: extremes(positions, Math.min), max: extremes(positions, Math.max) };
    const attributes = {
      POSITION: accessor(positions, "VEC3", bounds),
      NORMAL: accessor(normals, "VEC3"),
      TEXCOORD_0: accessor(coordinates, "VEC2"),
    };
    const bufferView = add(Buffer.from(new Uint16Array(indices).buffer));
    accessors.push({ bufferView, componentType: UNSIGNED_SHORT, count: indices.length, type: "SCALAR" });
    return { attributes, indices: accessors.length - 1, material: 0 };
  });
  const image = { bufferView: add(texture.bytes), mimeType: texture.contentType };
  let byteOffset = 0;
  const bufferViews = parts.map(({ length: byteLength }) => {
    const view = { buffer: 0, byteOffset, byteLength };
    byteOffset += byteLength;
    return view;
  });
  const description = {
    asset: { version: "2.0", generator },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives }],
    materials: [{ doubleSided: true, pbrMetallicRoughness: { baseColorTexture: { index: 0 }, metallicFactor: 0, roughnessFactor: 0.7 } }],
    textures: [{ source: 0 }],
    images: [image],
    accessors,
    bufferViews,
    buffers: [{ byteLength: byteOffset }],
  };
  const chunks = [chunk(JSON_CHUNK, padded(Buffer.from(JSON.stringify(description)), " ")), chunk(BINARY_CHUNK, Buffer.concat(parts))];
  const header = Buffer.alloc(12);
  header.write("glTF");
  header.writeUInt32LE(VERSION, 4);
  header.writeUInt32LE(header.length + chunks[0]!.length + chunks[1]!.length, 8);
  return Buffer.concat([header, ...chunks]);
};
