/** Manifests in MP4, M4A and MOV: C2PA 2.1, section A.5. The box is inserted after `ftyp`, so samples and fragments move. */

import { BMFF } from "@trustnxt/c2pa-ts/asset";

const HEADER_BYTES = 8;
const LARGE_HEADER_BYTES = 16;
const LARGE = 1;
const CONTAINERS: ReadonlySet<string> = new Set(["moov", "trak", "mdia", "minf", "stbl", "moof", "traf", "mfra"]);
/** Version and flags, and a number. */
const TABLE_HEADER_BYTES = 8;
/** Flag of `tfhd`: a fragment's samples are counted from a position in the file, not from the fragment's start. */
const HAS_BASE = 1;
/** Positions in the index of fragments begin after version, flags, track, sizes and a count. */
const INDEX_HEADER_BYTES = 16;
const MOST_BOXES = 10_000;

/** Major brands of files that are read. The library knows pictures alone. */
const BRANDS = [
  "isom",
  "iso2",
  "iso4",
  "iso5",
  "iso6",
  "iso7",
  "iso8",
  "iso9",
  "cmfc",
  "cmf2",
  "mp41",
  "mp42",
  "avc1",
  "M4A ",
  "M4V ",
  "qt  ",
  "dash",
];

interface Box {
  type: string;
  start: number;
  end: number;
  header: number;
}

/** Boxes between two positions, one level deep. @throws if one doesn't fit */
function* boxesIn(view: DataView, from: number, to: number): Generator<Box> {
  let count = 0;
  for (let start = from; start + HEADER_BYTES <= to;) {
    const written = view.getUint32(start);
    const type = String.fromCharCode(...[4, 5, 6, 7].map((at) => view.getUint8(start + at)));
    const header = written === LARGE ? LARGE_HEADER_BYTES : HEADER_BYTES;
    const size = written === LARGE ? Number(view.getBigUint64(start + HEADER_BYTES)) : written || to - start;
    count += 1;
    if (size < header || start + size > to || count > MOST_BOXES) throw new Error(`the box ${type} is damaged`);
    yield { type, start, end: start + size, header };
    start += size;
  }
}

/** Positions in a box: where the first is, their number, the bytes of each, and the distance from one to the next. */
interface Positions {
  first: number;
  count: number;
  bytes: 4 | 8;
  step: number;
}

type PositionsOf = (view: DataView, content: number) => Positions;

const samplesOf =
  (bytes: 4 | 8): PositionsOf =>
  (view, content) => ({ first: content + TABLE_HEADER_BYTES, count: view.getUint32(content + 4), bytes, step: bytes });

const baseOf: PositionsOf = (view, content) => {
  const count = view.getUint32(content) & HAS_BASE;
  return { first: content + TABLE_HEADER_BYTES, count, bytes: 8, step: 8 };
};

/** Entries of the index have a time and a position, both of 4 bytes or, in version 1, of 8, and three numbers of 1 to 4 bytes. */
const fragmentsOf: PositionsOf = (view, content) => {
  const bytes = view.getUint8(content) === 1 ? 8 : 4;
  const sizes = view.getUint32(content + TABLE_HEADER_BYTES);
  const numbers = ((sizes >> 4) & 3) + ((sizes >> 2) & 3) + (sizes & 3) + 3;
  const count = view.getUint32(content + INDEX_HEADER_BYTES - 4);
  return { first: content + INDEX_HEADER_BYTES + bytes, count, bytes, step: 2 * bytes + numbers };
};

/** Boxes with positions in the file. */
const POSITIONS: ReadonlyMap<string, PositionsOf> = new Map([
  ["stco", samplesOf(4)],
  ["co64", samplesOf(8)],
  ["tfhd", baseOf],
  ["tfra", fragmentsOf],
]);

/** Adds a distance to the positions of one box. @throws if a position would no longer fit */
const movePositions = (view: DataView, { type, start, end, header }: Box, positionsOf: PositionsOf, distance: number): void => {
  const { first, count, bytes, step } = positionsOf(view, start + header);
  if (count > 0 && first + (count - 1) * step + bytes > end) throw new Error(`the box ${type} is damaged`);
  for (let at = first; at < first + count * step; at += step) {
    const moved = (bytes === 4 ? view.getUint32(at) : Number(view.getBigUint64(at))) + distance;
    if (bytes === 4 && moved > 0xff_ff_ff_ff) throw new Error("the file is too long for its positions");
    if (bytes === 4) view.setUint32(at, moved);
    else view.setBigUint64(at, BigInt(moved));
  }
};

const moveTables = (view: DataView, from: number, to: number, distance: number): void => {
  for (const box of boxesIn(view, from, to)) {
    if (CONTAINERS.has(box.type)) moveTables(view, box.start + box.header, box.end, distance);
    const positionsOf = POSITIONS.get(box.type);
    if (positionsOf) movePositions(view, box, positionsOf, distance);
  }
};

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const isManifest = ({ userType }: { userType: Uint8Array | undefined }): boolean =>
  userType !== undefined && Buffer.compare(userType, Buffer.from(BMFF.c2paBoxUserType)) === 0;

/** Among several boxes of one type, the library finds none: a manifest beside XMP. Only the manifest's box is looked up as `/uuid`. */
export class Heif extends BMFF {
  override getBoxByPath(path: string): ReturnType<BMFF["getBoxByPath"]> {
    return path === "/uuid" ? this.getTopLevelBoxes().find(isManifest) : super.getBoxByPath(path);
  }
}

/** A whole file. A fragmented one is signed as a whole too, so its fragments can't be checked one by one. */
export class Movie extends Heif {
  static override canRead(bytes: Uint8Array): boolean {
    try {
      const view = viewOf(bytes);
      const types = [...boxesIn(view, 0, bytes.length)].map(({ type }) => type);
      const brand = Buffer.from(bytes.subarray(HEADER_BYTES, HEADER_BYTES + 4)).toString("latin1");
      return types[0] === "ftyp" && BRANDS.includes(brand) && types.includes("moov");
    } catch {
      return false;
    }
  }

  override async ensureManifestSpace(length: number): Promise<void> {
    const before = this.data.length;
    const held = this.getManifestJUMBF() !== undefined;
    if (held && !this.manifestIsSecond()) throw new Error("an earlier manifest isn't after ftyp");
    await super.ensureManifestSpace(length);
    const distance = this.data.length - before;
    if (distance !== 0) moveTables(viewOf(this.data), 0, this.data.length, distance);
  }

  private manifestIsSecond(): boolean {
    const second = this.getTopLevelBoxes()[1];
    return second !== undefined && isManifest(second);
  }
}

// The library's constructor checks brands by this list, which its types keep private.
const known = (BMFF as unknown as { canReadBrands: Set<string> }).canReadBrands;
for (const brand of BRANDS) known.add(brand);
