import { insertion, replacement, type Bytes, type Edit, type MarkFormat } from "../edits";
import { addressOf, saysGenerated, type SourceType } from "../xmp";

/**
 * WebM. A file has a segment of elements (RFC 8794, RFC 9559). The mark is a tag at the end of the segment, because indexes contain file
 * offsets. If the free space after the seek head has room for an entry, the seek head refers to the tag.
 */

export const ID = {
  header: 0x1a45dfa3,
  segment: 0x18538067,
  seekHead: 0x114d9b74,
  cluster: 0x1f43b675,
  tags: 0x1254c367,
  free: 0xec,
} as const;
const TAG_NAME = "DIGITALSOURCETYPE";
const MAX_ID_BYTES = 4;
const MAX_SIZE_BYTES = 8;
/** Maximum elements before the first cluster. */
const MAX_ELEMENTS = 1_000;
const MAX_TAGS_BYTES = 1024 * 1024;
/** Larger than any tag that this module writes. */
const TAIL_BYTES = 1024;
const CHECKSUM = 0xbf;

export interface Element {
  id: number;
  at: number;
  sizeBytes: number;
  data: number;
  /** Undefined if the element ends together with its parent. */
  end: number | undefined;
}

/** Length in bytes of a number, from the leading zeros of its first byte. */
const widthOf = (first: number): number => Math.clz32(first) - 23;

export const elementAt = async (bytes: Bytes, at: number): Promise<Element | undefined> => {
  const head = await bytes.read(at, MAX_ID_BYTES + MAX_SIZE_BYTES);
  const idBytes = widthOf(head[0] ?? 0);
  const sizeBytes = widthOf(head[idBytes] ?? 0);
  if (idBytes > MAX_ID_BYTES || sizeBytes > MAX_SIZE_BYTES || head.length < idBytes + sizeBytes) return undefined;
  const marker = 2n ** BigInt(7 * sizeBytes);
  const size = BigInt(`0x${head.toString("hex", idBytes, idBytes + sizeBytes)}`) - marker;
  const data = at + idBytes + sizeBytes;
  const end = size === marker - 1n ? undefined : data + Number(size);
  return { id: head.readUIntBE(0, idBytes), at, sizeBytes, data, end };
};

/** Encodes a size with a fixed number of bytes. Returns undefined if it doesn't fit. */
const sizeOf = (size: number, width: number): Buffer | undefined => {
  const marker = 2n ** BigInt(7 * width);
  if (BigInt(size) >= marker - 1n) return undefined;
  return Buffer.from((marker + BigInt(size)).toString(16).padStart(2 * width, "0"), "hex");
};

const element = (id: string, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(id, "hex"), sizeOf(body.length, MAX_SIZE_BYTES)!, body]);
};

/** Creates a tag element that applies to the whole file. */
const tagsOf = (type: SourceType): Buffer => {
  const simple = element("67c8", element("45a3", Buffer.from(TAG_NAME)), element("4487", Buffer.from(addressOf(type))));
  return element("1254c367", element("7373", element("63c0"), simple));
};

/** Creates a seek head entry with a position relative to the segment's data. */
const seekEntry = (position: number): Buffer => {
  const at = Buffer.alloc(8);
  at.writeBigUInt64BE(BigInt(position));
  const [id, seekPosition] = [Buffer.from("53ab841254c367", "hex"), Buffer.concat([Buffer.from("53ac88", "hex"), at])];
  return Buffer.concat([Buffer.from("4dbb", "hex"), sizeOf(id.length + seekPosition.length, 1)!, id, seekPosition]);
};

/** Creates a void element of an exact length. */
export const free = (length: number): Buffer | undefined => {
  const width = length - 2 < 0x7f ? 1 : MAX_SIZE_BYTES;
  const size = length < 2 ? undefined : sizeOf(length - 1 - width, width);
  return size && Buffer.concat([Buffer.from([ID.free]), size]);
};

/** Elements of a segment before its first cluster. */
const leading = async (bytes: Bytes, from: number, until: number): Promise<Element[] | undefined> => {
  const elements: Element[] = [];
  for (let at = from; at < until && elements.length < MAX_ELEMENTS;) {
    const one = await elementAt(bytes, at);
    if (!one) return undefined;
    if (one.id === ID.cluster || one.end === undefined) return elements;
    if (one.end > until) return undefined;
    elements.push(one);
    at = one.end;
  }
  return elements;
};

/** True if a tag contains the mark, either before the first cluster or at the end, where this module writes it. */
const isMarked = async (bytes: Bytes, elements: readonly Element[]): Promise<boolean> => {
  const tail = (await bytes.read(Math.max(0, bytes.size - TAIL_BYTES), TAIL_BYTES)).toString("latin1");
  if (tail.includes(TAG_NAME) && saysGenerated(tail)) return true;
  for (const { id, data, end } of elements) {
    if (id !== ID.tags || end === undefined || end - data > MAX_TAGS_BYTES) continue;
    if (saysGenerated((await bytes.read(data, end - data)).toString("latin1"))) return true;
  }
  return false;
};

/** Adds the tag's position to the seek head by using the free space after it. A seek head with a checksum stays unchanged. */
const seekEdits = async (bytes: Bytes, elements: readonly Element[], position: number): Promise<Edit[]> => {
  const index = elements.findIndex(({ id }) => id === ID.seekHead);
  const [head, space] = [elements[index], elements[index + 1]];
  if (!head?.end || space?.id !== ID.free || !space.end) return [];
  if ((await bytes.read(head.data, 1))[0] === CHECKSUM) return [];
  const entry = seekEntry(position);
  const [size, rest] = [sizeOf(head.end - head.data + entry.length, head.sizeBytes), free(space.end - space.at - entry.length)];
  return size && rest ? [replacement(head.data - head.sizeBytes, size), replacement(space.at, Buffer.concat([entry, rest]))] : [];
};

export const webm: MarkFormat = async (bytes, type) => {
  const header = await elementAt(bytes, 0);
  const segment = header?.id === ID.header && header.end !== undefined ? await elementAt(bytes, header.end) : undefined;
  if (segment?.id !== ID.segment || (segment.end ?? bytes.size) !== bytes.size) return undefined;
  const elements = await leading(bytes, segment.data, bytes.size);
  if (!elements) return undefined;
  if (await isMarked(bytes, elements)) return "marked";
  const tags = tagsOf(type);
  const edits = [insertion(bytes.size, tags), ...(await seekEdits(bytes, elements, bytes.size - segment.data))];
  if (segment.end === undefined) return edits;
  const size = sizeOf(bytes.size + tags.length - segment.data, segment.sizeBytes);
  return size && [replacement(segment.data - segment.sizeBytes, size), ...edits];
};
