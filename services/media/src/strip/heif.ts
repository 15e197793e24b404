import type { Bytes, Edit } from "../marks/edits";
import { boxesOf, type Box } from "../marks/formats/mp4";
import type { StripFormat } from "./format";
import { textsAt } from "./tiff";

/** Finds texts in the EXIF items of AVIF and HEIC images (ISO/IEC 14496-12, 8.11, and 23008-12, annex A). */

const FULL_BOX_BYTES = 4;
/** Maximum size of an item table. */
const MAX_TABLE_BYTES = 1_024 * 1_024;
/** Bytes of an item's entry that contain its id and type. */
const INFO_BYTES = 16;
const IN_FILE = 0;
const IN_BOX = 1;

/** Reads numbers sequentially. @throws RangeError at the end of the table */
const numbers = (bytes: Buffer, from: number) => {
  let at = from;
  return (length: number): number => {
    at += length;
    // Offsets above 2^48 don't occur in accepted files.
    if (length === 8) return Number(bytes.readBigUInt64BE(at - 8));
    return length === 0 ? 0 : bytes.readUIntBE(at - length, length);
  };
};

const tableOf = (bytes: Bytes, { data, end }: Box): Promise<Buffer> => bytes.read(data, Math.min(end - data, MAX_TABLE_BYTES));

/** Reads the ids of the EXIF items from `iinf`. */
const exifItems = async (bytes: Bytes, list: Box): Promise<Set<number>> => {
  const header = await tableOf(bytes, list);
  const entries = await boxesOf(bytes, list.data + FULL_BOX_BYTES + (header[0] === 0 ? 2 : 4), list.end);
  const ids = new Set<number>();
  for (const entry of entries ?? []) {
    const info = await bytes.read(entry.data, INFO_BYTES);
    const idBytes = info[0] === 3 ? 4 : 2;
    const typeAt = FULL_BOX_BYTES + idBytes + 2;
    if (info.toString("latin1", typeAt, typeAt + 4) === "Exif") ids.add(info.readUIntBE(FULL_BOX_BYTES, idBytes));
  }
  return ids;
};

interface Place {
  id: number;
  method: number;
  at: number;
}

/** Reads the offsets of the items' first parts from `iloc`. */
const placesOf = (table: Buffer): Place[] => {
  const version = table[0]!;
  const [sizes, more] = [table[FULL_BOX_BYTES]!, table[FULL_BOX_BYTES + 1]!];
  const [offset, length, base, index] = [sizes >> 4, sizes & 15, more >> 4, version > 0 ? more & 15 : 0];
  // Entries without bytes are rejected, because the size of the table doesn't bound their number.
  if (offset + length === 0) return [];
  const take = numbers(table, FULL_BOX_BYTES + 2);
  const idBytes = version < 2 ? 2 : 4;
  return Array.from({ length: take(idBytes) }, () => {
    const id = take(idBytes);
    const method = version > 0 ? take(2) & 15 : IN_FILE;
    take(2);
    const start = take(base);
    const offsets = Array.from({ length: take(2) }, () => {
      take(index);
      const at = take(offset);
      take(length);
      return at;
    });
    return { id, method, at: start + (offsets[0] ?? 0) };
  });
};

export const heif: StripFormat = async (bytes) => {
  const meta = (await boxesOf(bytes, 0, bytes.size))?.find(({ name }) => name === "meta");
  const boxes = (meta && (await boxesOf(bytes, meta.data + FULL_BOX_BYTES, meta.end))) ?? [];
  const boxNamed = (name: string): Box | undefined => boxes.find((box) => box.name === name);
  const [list, locations, inside] = [boxNamed("iinf"), boxNamed("iloc"), boxNamed("idat")];
  if (!list || !locations) return [];
  const ids = await exifItems(bytes, list);
  const edits: Edit[] = [];
  for (const { id, method, at } of placesOf(await tableOf(bytes, locations))) {
    if (!ids.has(id) || (method === IN_BOX && !inside)) continue;
    const start = method === IN_BOX ? inside!.data + at : at;
    const blockAt = start + FULL_BOX_BYTES + (await bytes.read(start, FULL_BOX_BYTES)).readUInt32BE(0);
    edits.push(...((await textsAt(bytes, blockAt)) ?? []));
  }
  return edits;
};
