/** Manifests in MP4, M4A and MOV: C2PA 2.1, section A.5. The box is inserted after `ftyp`, so positions of samples move. */

import { BMFF } from "@trustnxt/c2pa-ts/asset";

const HEADER_BYTES = 8;
const LARGE_HEADER_BYTES = 16;
const LARGE = 1;
const CONTAINERS: ReadonlySet<string> = new Set(["moov", "trak", "mdia", "minf", "stbl"]);
/** Bytes of a sample position by table. */
const POSITION_BYTES: Readonly<Record<string, 4 | 8>> = { stco: 4, co64: 8 };
/** After the box's header: version, flags and a count. */
const TABLE_HEADER_BYTES = 8;
const MOST_BOXES = 10_000;

/** Major brands of files that are read. The library knows pictures alone. */
const BRANDS = ["isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "M4A ", "M4V ", "qt  ", "dash"];

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

/** Adds a distance to the positions of one table. @throws if a position would no longer fit */
const movePositions = (view: DataView, { type, start, end, header }: Box, distance: number): void => {
  const bytes = POSITION_BYTES[type]!;
  const first = start + header + TABLE_HEADER_BYTES;
  const count = view.getUint32(first - 4);
  if (first + count * bytes > end) throw new Error(`the box ${type} is damaged`);
  for (let at = first; at < first + count * bytes; at += bytes) {
    const moved = (bytes === 4 ? view.getUint32(at) : Number(view.getBigUint64(at))) + distance;
    if (bytes === 4 && moved > 0xff_ff_ff_ff) throw new Error("the file is too long for its sample positions");
    if (bytes === 4) view.setUint32(at, moved);
    else view.setBigUint64(at, BigInt(moved));
  }
};

const moveTables = (view: DataView, from: number, to: number, distance: number): void => {
  for (const box of boxesIn(view, from, to)) {
    if (CONTAINERS.has(box.type)) moveTables(view, box.start + box.header, box.end, distance);
    if (box.type in POSITION_BYTES) movePositions(view, box, distance);
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

/** A file whose samples are in one `mdat`. Fragments have positions in other tables: such files aren't signed. */
export class Movie extends Heif {
  static override canRead(bytes: Uint8Array): boolean {
    try {
      const view = viewOf(bytes);
      const types = [...boxesIn(view, 0, bytes.length)].map(({ type }) => type);
      const brand = Buffer.from(bytes.subarray(HEADER_BYTES, HEADER_BYTES + 4)).toString("latin1");
      return types[0] === "ftyp" && BRANDS.includes(brand) && types.includes("moov") && !types.includes("moof");
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
