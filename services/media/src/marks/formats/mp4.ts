import { insertion, replacement, type Bytes, type Edit, type MarkFormat } from "../edits";
import { addTo, MAX_PACKET_BYTES, newPacket } from "../xmp";

/**
 * MP4, QuickTime and HEIF (ISO/IEC 14496-12). Boxes have a size, a name and data. XMP is a top-level `uuid` box, or `XMP_` in the user data
 * of a QuickTime file. Boxes contain file offsets, so only the end of the file can change its length. A packet that grows therefore moves
 * to the end, and its old box becomes free space.
 */

const HEADER_BYTES = 8;
const LARGE_HEADER_BYTES = 16;
const XMP_UUID = Buffer.from("be7acfcb97a942e89c71999491e3afac", "hex");
export const FREE = Buffer.from("free", "latin1");
const MAX_SIZE = 0xffff_ffff;
/** Maximum boxes per level. A fragmented video has about two boxes per second. */
const MAX_BOXES = 100_000;
/** Maximum size of an image's item metadata that is searched for a packet. */
const MAX_META_BYTES = 1024 * 1024;

export interface Box {
  name: string;
  at: number;
  data: number;
  end: number;
  /** True if the stored size is zero, so that the box extends to the end of the file. */
  isOpen: boolean;
}

const boxAt = async (bytes: Bytes, at: number, until: number): Promise<Box | undefined> => {
  const header = await bytes.read(at, LARGE_HEADER_BYTES);
  if (header.length < HEADER_BYTES) return undefined;
  const short = header.readUInt32BE(0);
  const isLarge = short === 1;
  if (isLarge && header.length < LARGE_HEADER_BYTES) return undefined;
  const size = isLarge ? Number(header.readBigUInt64BE(8)) : short === 0 ? until - at : short;
  const data = at + (isLarge ? LARGE_HEADER_BYTES : HEADER_BYTES);
  if (at + size > until || at + size < data) return undefined;
  return { name: header.toString("latin1", 4, HEADER_BYTES), at, data, end: at + size, isOpen: short === 0 };
};

/** Boxes between two positions; undefined if they don't fill the range. */
export const boxesOf = async (bytes: Bytes, from: number, until: number): Promise<Box[] | undefined> => {
  const boxes: Box[] = [];
  for (let at = from; at + HEADER_BYTES <= until;) {
    const box = await boxAt(bytes, at, until);
    if (!box || boxes.length >= MAX_BOXES) return undefined;
    boxes.push(box);
    at = box.end;
  }
  return boxes;
};

interface Packet {
  box: Box;
  from: number;
}

const packetBeside = async (bytes: Bytes, boxes: Box[]): Promise<Packet | undefined> => {
  for (const box of boxes) {
    if (box.name !== "uuid" || !(await bytes.read(box.data, XMP_UUID.length)).equals(XMP_UUID)) continue;
    return { box, from: box.data + XMP_UUID.length };
  }
  return undefined;
};

const packetInUserData = async (bytes: Bytes, boxes: Box[]): Promise<Packet | undefined> => {
  let level: Box[] | undefined = boxes;
  for (const name of ["moov", "udta"]) {
    const inner: Box | undefined = level?.find((box) => box.name === name);
    // User data may end with four zero bytes that aren't a box.
    level = inner && (await boxesOf(bytes, inner.data, inner.end));
  }
  const box = level?.find(({ name }) => name === "XMP_");
  return box && { box, from: box.data };
};

/** True if an image stores XMP as an item. An item can't grow without moving others. */
const hasPacketItem = async (bytes: Bytes, boxes: Box[]): Promise<boolean> => {
  const meta = boxes.find(({ name }) => name === "meta");
  if (!meta) return false;
  return (await bytes.read(meta.data, Math.min(meta.end - meta.data, MAX_META_BYTES))).includes("application/rdf+xml");
};

const xmpBox = (packet: Uint8Array): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(HEADER_BYTES + XMP_UUID.length + packet.length);
  header.write("uuid", 4, "latin1");
  return Buffer.concat([header, XMP_UUID, packet]);
};

/** Writes the size of a last box whose size is zero. Returns undefined if the size doesn't fit its header. */
const closed = ({ at, end, isOpen }: Box): Edit[] | undefined => {
  if (!isOpen) return [];
  if (end - at > MAX_SIZE) return undefined;
  const size = Buffer.alloc(4);
  size.writeUInt32BE(end - at);
  return [replacement(at, size)];
};

export const mp4: MarkFormat = async (bytes, type) => {
  const boxes = await boxesOf(bytes, 0, bytes.size);
  const last = boxes?.at(-1);
  if (!boxes || !last || boxes[0]!.name !== "ftyp" || (await hasPacketItem(bytes, boxes))) return undefined;
  const closedBox = closed(last);
  if (!closedBox) return undefined;
  // Readers search the fragment index backwards from the end of the file.
  const place = last.name === "mfra" ? last.at : last.end;
  const packet = (await packetBeside(bytes, boxes)) ?? (await packetInUserData(bytes, boxes));
  if (!packet) return [...closedBox, insertion(place, xmpBox(newPacket(type)))];
  const { box, from } = packet;
  if (box.end - from > MAX_PACKET_BYTES) return undefined;
  const added = addTo(await bytes.read(from, box.end - from), type);
  if (added === undefined || added === "marked") return added;
  return [...closedBox, replacement(box.at + 4, FREE), insertion(place, xmpBox(added))];
};
