import { insertion, replacement, type Bytes, type Edit, type MarkFormat } from "../edits";
import { addTo, MAX_PACKET_BYTES, newPacket } from "../xmp";

/** MP3. An ID3v2 tag precedes the audio (https://id3.org/id3v2.3.0). XMP is the tag's `PRIV` frame with the owner `XMP`. */

export const HEADER_BYTES = 10;
const OWNER = Buffer.from("XMP\0", "latin1");
/** Sizes use seven bits per byte. */
const MAX_TAG_BYTES = 2 ** 28 - 1;
const MAX_FRAMES = 10_000;
const WITHOUT_FLAGS = 0;

const toSyncsafe = (value: number): Buffer => Buffer.from([21, 14, 7, 0].map((shift) => (value >>> shift) & 0x7f));
export const fromSyncsafe = (bytes: Uint8Array): number => bytes.reduce((value, byte) => value * 0x80 + (byte & 0x7f), 0);

const privateFrame = (version: number, packet: Uint8Array): Buffer => {
  const length = OWNER.length + packet.length;
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("PRIV", "latin1");
  if (version === 4) toSyncsafe(length).copy(header, 4);
  else header.writeUInt32BE(length, 4);
  return Buffer.concat([header, OWNER, packet]);
};

const newTag = (packet: Uint8Array): Buffer => {
  const frame = privateFrame(3, packet);
  return Buffer.concat([Buffer.from("ID3\x03\0\0", "latin1"), toSyncsafe(frame.length), frame]);
};

interface Frame {
  at: number;
  length: number;
}

const findXmp = async (bytes: Bytes, version: number, until: number): Promise<Frame | undefined> => {
  for (let at = HEADER_BYTES, count = 0; at + HEADER_BYTES <= until && count < MAX_FRAMES; count++) {
    const header = await bytes.read(at, HEADER_BYTES + OWNER.length);
    // A zero byte starts the padding after the frames.
    if (header[0] === 0) return undefined;
    const size = header.subarray(4, 8);
    const length = version === 4 ? fromSyncsafe(size) : size.readUInt32BE(0);
    if (header.toString("latin1", 0, 4) === "PRIV" && header.subarray(HEADER_BYTES).equals(OWNER)) return { at, length };
    at += HEADER_BYTES + length;
  }
  return undefined;
};

export const mp3: MarkFormat = async (bytes, type) => {
  const header = await bytes.read(0, HEADER_BYTES);
  if (header.toString("latin1", 0, 3) !== "ID3") return [insertion(0, newTag(newPacket(type)))];
  const version = header[3]!;
  const size = fromSyncsafe(header.subarray(6, HEADER_BYTES));
  const isPlain = (version === 3 || version === 4) && header[5] === WITHOUT_FLAGS && HEADER_BYTES + size <= bytes.size;
  if (!isPlain) return undefined;
  const packet = await findXmp(bytes, version, HEADER_BYTES + size);
  const withSize = (edit: Edit): Edit[] | undefined => {
    const newSize = size + edit.insert.length - edit.remove;
    return newSize > MAX_TAG_BYTES ? undefined : [replacement(6, toSyncsafe(newSize)), edit];
  };
  if (!packet) return withSize(insertion(HEADER_BYTES, privateFrame(version, newPacket(type))));
  const { at, length } = packet;
  if (length > MAX_PACKET_BYTES || at + HEADER_BYTES + length > HEADER_BYTES + size) return undefined;
  const added = addTo(await bytes.read(at + HEADER_BYTES + OWNER.length, length - OWNER.length), type);
  if (added === undefined || added === "marked") return added;
  return withSize({ at, remove: HEADER_BYTES + length, insert: privateFrame(version, added) });
};
