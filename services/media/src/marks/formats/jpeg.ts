import { insertion, type Bytes, type MarkFormat } from "../edits";
import { addTo, newPacket } from "../xmp";

/** JPEG. Segments, each with marker, length and data, precede the image. XMP is an APP1 segment with a fixed name. */

const START_BYTES = 2;
const MARKER_BYTES = 4;
const LENGTH_BYTES = 2;
const MAX_SEGMENT = 0xffff;
const PREFIX = 0xff;
const APP0 = 0xe0;
const APP1 = 0xe1;
const START_OF_SCAN = 0xda;
const NAME = Buffer.from("http://ns.adobe.com/xap/1.0/\0", "latin1");
export const EXIF = Buffer.from("Exif\0", "latin1");
/** Far above the number in any real file. */
export const MAX_SEGMENTS = 10_000;

const segment = (packet: Uint8Array): Buffer | undefined => {
  const length = LENGTH_BYTES + NAME.length + packet.length;
  if (length > MAX_SEGMENT) return undefined;
  const header = Buffer.from([PREFIX, APP1, length >> 8, length & 0xff]);
  return Buffer.concat([header, NAME, packet]);
};

interface Layout {
  /** Position for XMP, which is after the format header and the camera's metadata. */
  place: number;
  xmp?: { at: number; length: number };
}

const layoutOf = async (bytes: Bytes): Promise<Layout | undefined> => {
  let place = START_BYTES;
  for (let at = START_BYTES, count = 0; at + MARKER_BYTES <= bytes.size && count < MAX_SEGMENTS; count++) {
    const header = await bytes.read(at, MARKER_BYTES + NAME.length);
    const marker = header[1]!;
    if (header[0] !== PREFIX) return undefined;
    if (marker === PREFIX) {
      at += 1;
      continue;
    }
    if (marker === START_OF_SCAN) return { place };
    const length = header.readUInt16BE(2);
    if (length < LENGTH_BYTES) return undefined;
    const data = header.subarray(MARKER_BYTES);
    if (marker === APP1 && data.equals(NAME)) return { place, xmp: { at, length } };
    const isFirst = marker === APP0 || (marker === APP1 && data.subarray(0, EXIF.length).equals(EXIF));
    at += LENGTH_BYTES + length;
    if (isFirst) place = at;
  }
  return undefined;
};

export const jpeg: MarkFormat = async (bytes, type) => {
  const layout = await layoutOf(bytes);
  if (!layout) return undefined;
  const { place, xmp } = layout;
  if (!xmp) return [insertion(place, segment(newPacket(type))!)];
  const packet = await bytes.read(xmp.at + MARKER_BYTES + NAME.length, xmp.length - LENGTH_BYTES - NAME.length);
  const added = addTo(packet, type);
  if (added === undefined || added === "marked") return added;
  const insert = segment(added);
  return insert && [{ at: xmp.at, remove: LENGTH_BYTES + xmp.length, insert }];
};
