import { insertion, replacement, type Bytes, type MarkFormat } from "../edits";
import { addTo, MAX_PACKET_BYTES, newPacket } from "../xmp";

/** GIF. XMP is an application extension with an unescaped packet. With the 258 bytes after the packet, every block reader finds its end. */

const SCREEN_BYTES = 13;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const APPLICATION = 0xff;
const IMAGE_HEADER_BYTES = 10;
export const XMP = "XMP DataXMP";
const HEADER = Buffer.from(`\x21\xff\x0b${XMP}`, "latin1");
const MAGIC = Buffer.from([1, ...Array.from({ length: 256 }, (_, index) => 255 - index), 0]);
/** Maximum number of blocks; each has at most 255 bytes. */
const MAX_BLOCKS = 1_000_000;

const extension = (packet: Uint8Array): Buffer => Buffer.concat([HEADER, packet, MAGIC]);

/** Size in bytes of the color table that the flags define. */
const tableBytes = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

const byteAt = async (bytes: Bytes, at: number): Promise<number | undefined> => (await bytes.read(at, 1))[0];

/** Returns the position after a series of sub-blocks; undefined if the series has no end. */
const afterBlocks = async (bytes: Bytes, from: number): Promise<number | undefined> => {
  let at = from;
  for (let count = 0; count < MAX_BLOCKS; count++) {
    const length = await byteAt(bytes, at);
    if (length === undefined) return undefined;
    at += 1 + length;
    if (length === 0) return at;
  }
  return undefined;
};

export interface Extension {
  at: number;
  end: number;
  kind: number;
  name: string;
}

export const placeOf = async (bytes: Bytes): Promise<number | undefined> => {
  const screen = await bytes.read(0, SCREEN_BYTES);
  return screen.length < SCREEN_BYTES ? undefined : SCREEN_BYTES + tableBytes(screen[10]!);
};

/** Extensions of a file; undefined if its blocks are invalid. @param from position after the global color table */
export const extensionsOf = async (bytes: Bytes, from: number): Promise<Extension[] | undefined> => {
  const extensions: Extension[] = [];
  let at: number | undefined = from;
  while (at !== undefined && at < bytes.size && extensions.length < MAX_BLOCKS) {
    const header: Buffer = await bytes.read(at, HEADER.length);
    const start: number = at;
    if (header[0] === TRAILER) return extensions;
    if (header[0] === EXTENSION) {
      at = await afterBlocks(bytes, at + 2);
      const name = header[1] === APPLICATION ? header.toString("latin1", 3) : "";
      if (at !== undefined) extensions.push({ at: start, end: at, kind: header[1]!, name });
    } else if (header[0] === IMAGE) {
      at = await afterBlocks(bytes, at + IMAGE_HEADER_BYTES + tableBytes(header[IMAGE_HEADER_BYTES - 1]!) + 1);
    } else return undefined;
  }
  return undefined;
};

export const gif: MarkFormat = async (bytes, type) => {
  const place = await placeOf(bytes);
  const extensions = place === undefined ? undefined : await extensionsOf(bytes, place);
  if (place === undefined || !extensions) return undefined;
  const xmpExtension = extensions.find(({ name }) => name === XMP);
  // Extensions require version 89a.
  const version = replacement(3, Buffer.from("89a", "latin1"));
  if (!xmpExtension) return [version, insertion(place, extension(newPacket(type)))];
  const length = xmpExtension.end - xmpExtension.at - HEADER.length - MAGIC.length;
  if (length <= 0 || length > MAX_PACKET_BYTES) return undefined;
  const added = addTo(await bytes.read(xmpExtension.at + HEADER.length, length), type);
  if (added === undefined || added === "marked") return added;
  return [{ at: xmpExtension.at, remove: xmpExtension.end - xmpExtension.at, insert: extension(added) }];
};
