import { crc32, inflateSync } from "node:zlib";
import { insertion, type Bytes, type MarkFormat } from "../edits";
import { addTo, MAX_PACKET_BYTES, newPacket } from "../xmp";

/** PNG (ISO/IEC 15948). Chunks have a length, a type, data and a checksum. XMP is an `iTXt` chunk with a fixed keyword. */

export const SIGNATURE_BYTES = 8;
export const CHUNK_HEADER_BYTES = 8;
export const CHUNK_BYTES = 12;
export const KEYWORD = Buffer.from("XML:com.adobe.xmp\0", "latin1");
/** Fields after the keyword: no compression, no method, no language and no translated keyword. */
const PLAIN = Buffer.alloc(4);

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const out = Buffer.alloc(CHUNK_BYTES + data.length);
  out.writeUInt32BE(data.length, 0);
  out.set(body, 4);
  out.writeUInt32BE(crc32(body), CHUNK_HEADER_BYTES + data.length);
  return out;
};

const xmpChunk = (packet: Uint8Array): Buffer => chunk("iTXt", Buffer.concat([KEYWORD, PLAIN, packet]));

/** Returns the packet of an `iTXt` chunk; undefined if it can't be read. */
const packetOf = (data: Buffer): Buffer | undefined => {
  const isCompressed = data[KEYWORD.length] === 1;
  const language = data.indexOf(0, KEYWORD.length + 2);
  const translated = language < 0 ? -1 : data.indexOf(0, language + 1);
  if (translated < 0) return undefined;
  const text = data.subarray(translated + 1);
  try {
    return isCompressed ? inflateSync(text, { maxOutputLength: MAX_PACKET_BYTES }) : text;
  } catch {
    return undefined;
  }
};

interface ChunkPosition {
  at: number;
  length: number;
}

/** Returns the chunk with XMP; undefined if there is none, or `broken` if the chunks are invalid. */
const findXmp = async (bytes: Bytes): Promise<ChunkPosition | "broken" | undefined> => {
  for (let at = SIGNATURE_BYTES; at + CHUNK_BYTES <= bytes.size;) {
    const header = await bytes.read(at, CHUNK_HEADER_BYTES + KEYWORD.length);
    const length = header.readUInt32BE(0);
    const type = header.toString("latin1", 4, CHUNK_HEADER_BYTES);
    if (type === "IEND") return undefined;
    if (type === "iTXt" && header.subarray(CHUNK_HEADER_BYTES).equals(KEYWORD)) return { at, length };
    at += CHUNK_BYTES + length;
  }
  return "broken";
};

export const png: MarkFormat = async (bytes, type) => {
  const first = await bytes.read(SIGNATURE_BYTES, CHUNK_HEADER_BYTES);
  if (first.toString("latin1", 4) !== "IHDR") return undefined;
  const xmpPacket = await findXmp(bytes);
  if (xmpPacket === "broken") return undefined;
  if (!xmpPacket) return [insertion(SIGNATURE_BYTES + CHUNK_BYTES + first.readUInt32BE(0), xmpChunk(newPacket(type)))];
  const { at, length } = xmpPacket;
  if (length > MAX_PACKET_BYTES || at + CHUNK_BYTES + length > bytes.size) return undefined;
  const packet = packetOf(await bytes.read(at + CHUNK_HEADER_BYTES, length));
  const added = packet && addTo(packet, type);
  return added === undefined || added === "marked" ? added : [{ at, remove: CHUNK_BYTES + length, insert: xmpChunk(added) }];
};
