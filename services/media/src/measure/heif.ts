/**
 * The displayed size of a HEIC or AVIF image: the size of its main item, rotated (ISO/IEC 23008-12). Phones store the sizes of tiles first.
 */

interface Box {
  type: string;
  start: number;
  end: number;
}

const HEADER_BYTES = 8;
const FULL_BOX_BYTES = 4;
const QUARTERS = 3;

const boxesOf = (bytes: Buffer, start: number, end: number): Box[] => {
  const boxes: Box[] = [];
  for (let at = start; at + HEADER_BYTES <= end;) {
    const size = bytes.readUInt32BE(at);
    // A 64-bit box contains pixels. Metadata comes before it.
    if (size < HEADER_BYTES) break;
    boxes.push({ type: bytes.toString("latin1", at + 4, at + HEADER_BYTES), start: at + HEADER_BYTES, end: Math.min(end, at + size) });
    at += size;
  }
  return boxes;
};

const boxOf = (boxes: readonly Box[], type: string): Box | undefined => boxes.find((box) => box.type === type);

/** Property indexes of an item. */
const propertiesOf = (bytes: Buffer, { start }: Box, item: number): number[] => {
  const [isLongId, isLongIndex] = [bytes[start]! > 0, (bytes[start + 3]! & 1) === 1];
  let at = start + FULL_BOX_BYTES;
  const take = (length: number): number => bytes.readUIntBE((at += length) - length, length);
  for (let entries = take(4); entries > 0; entries -= 1) {
    const id = take(isLongId ? 4 : 2);
    const indices = Array.from({ length: take(1) }, () => (isLongIndex ? take(2) & 0x7fff : take(1) & 0x7f));
    if (id === item) return indices;
  }
  return [];
};

/** @param head the start of the file @returns undefined if no size is stored @throws RangeError if boxes extend beyond `head` */
export const heifSize = (head: Buffer): { width: number; height: number } | undefined => {
  const meta = boxOf(boxesOf(head, 0, head.length), "meta");
  const inside = meta ? boxesOf(head, meta.start + FULL_BOX_BYTES, meta.end) : [];
  const [main, all] = [boxOf(inside, "pitm"), boxOf(inside, "iprp")];
  const groups = all ? boxesOf(head, all.start, all.end) : [];
  const [list, links] = [boxOf(groups, "ipco"), boxOf(groups, "ipma")];
  if (!main || !list || !links) return undefined;
  const item = head[main.start] === 0 ? head.readUInt16BE(main.start + FULL_BOX_BYTES) : head.readUInt32BE(main.start + FULL_BOX_BYTES);
  const properties = boxesOf(head, list.start, list.end);
  const own = propertiesOf(head, links, item).flatMap((index) => properties[index - 1] ?? []);
  const [size, turn] = [boxOf(own, "ispe"), boxOf(own, "irot")];
  if (!size) return undefined;
  const [width, height] = [head.readUInt32BE(size.start + 4), head.readUInt32BE(size.start + 8)];
  return turn && (head[turn.start]! & QUARTERS) % 2 === 1 ? { width: height, height: width } : { width, height };
};
