import { replacement, type Edit } from "../marks/edits";
import { EXIF, MAX_SEGMENTS } from "../marks/formats/jpeg";
import { CHUNK_BYTES, CHUNK_HEADER_BYTES, KEYWORD, SIGNATURE_BYTES } from "../marks/formats/png";
import { extensionsOf, placeOf, XMP } from "../marks/formats/gif";
import { chunksOf, endOf, HEADER_BYTES, withSize } from "../marks/formats/riff";
import type { StripFormat } from "./format";

const NOTHING = new Uint8Array(0);

/** Chunks with texts and EXIF. ComfyUI writes `comf` in animated files. */
const PNG_TEXTS: ReadonlySet<string> = new Set(["tEXt", "zTXt", "iTXt", "eXIf", "comf"]);

export const png: StripFormat = async (bytes) => {
  const edits: Edit[] = [];
  for (let at = SIGNATURE_BYTES; at + CHUNK_BYTES <= bytes.size;) {
    const header = await bytes.read(at, CHUNK_HEADER_BYTES + KEYWORD.length);
    const type = header.toString("latin1", 4, CHUNK_HEADER_BYTES);
    if (type === "IEND") return edits;
    const remove = CHUNK_BYTES + header.readUInt32BE(0);
    const isXmp = header.subarray(CHUNK_HEADER_BYTES).equals(KEYWORD);
    if (PNG_TEXTS.has(type) && !isXmp) edits.push({ at, remove, insert: NOTHING });
    at += remove;
  }
  return undefined;
};

const EXIF_FLAG = 0x08;

export const webp: StripFormat = async (bytes) => {
  const size = (await bytes.read(4, 4)).readUInt32LE(0);
  const chunks = HEADER_BYTES + size > bytes.size ? undefined : await chunksOf(bytes, HEADER_BYTES + size);
  const [first] = chunks ?? [];
  if (!chunks || !first) return undefined;
  const removed = chunks
    .filter(({ name }) => name === "EXIF")
    .map((one): Edit => ({ at: one.at, remove: Math.min(endOf(one), bytes.size) - one.at, insert: NOTHING }));
  if (removed.length === 0 || first.name !== "VP8X") return [];
  const flags = (await bytes.read(first.at + HEADER_BYTES, 1))[0]!;
  return withSize(size, [...removed, replacement(first.at + HEADER_BYTES, Buffer.from([flags & ~EXIF_FLAG]))]);
};

const GRAPHIC_CONTROL = 0xf9;
/** Applications that are kept, because they affect display or state the origin. */
const SHOWN: ReadonlySet<string> = new Set(["NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012", XMP]);

export const gif: StripFormat = async (bytes) => {
  const place = await placeOf(bytes);
  const extensions = place === undefined ? undefined : await extensionsOf(bytes, place);
  return extensions
    ?.filter(({ kind, name }) => kind !== GRAPHIC_CONTROL && !SHOWN.has(name))
    .map(({ at, end }): Edit => ({ at, remove: end - at, insert: NOTHING }));
};

const START_BYTES = 2;
const MARKER_BYTES = 4;
const PREFIX = 0xff;
const APP1 = 0xe1;
const COMMENT = 0xfe;
const START_OF_SCAN = 0xda;

export const jpeg: StripFormat = async (bytes) => {
  const edits: Edit[] = [];
  for (let at = START_BYTES, count = 0; at + MARKER_BYTES <= bytes.size && count < MAX_SEGMENTS; count++) {
    const header = await bytes.read(at, MARKER_BYTES + EXIF.length);
    const [prefix, marker] = header;
    if (prefix !== PREFIX) return undefined;
    if (marker === START_OF_SCAN) return edits;
    const remove = marker === PREFIX ? 1 : 2 + header.readUInt16BE(2);
    const isText = marker === COMMENT || (marker === APP1 && header.subarray(MARKER_BYTES).equals(EXIF));
    if (isText) edits.push({ at, remove, insert: NOTHING });
    at += remove;
  }
  return undefined;
};
