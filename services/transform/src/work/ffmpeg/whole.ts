import { open, type FileHandle } from "node:fs/promises";
import type { WorkFile } from "../../children/protocol";
import { InputError } from "../job";

/** Detects truncated files by their own index, because ffmpeg processes a truncated file without an error. */

const HEADER_BYTES = 16;
const LONG_SIZE = 1;
/** Maximum boxes. A fragmented video has two per fragment. */
const MOST_BOXES = 100_000;
/** Known top-level boxes. Other bytes after the last box are ignored. */
const BOXES: ReadonlySet<string> = new Set([
  "ftyp",
  "styp",
  "moov",
  "mdat",
  "moof",
  "mfra",
  "sidx",
  "free",
  "skip",
  "wide",
  "meta",
  "uuid",
  "udta",
]);

/** Checks ISO base media: boxes, each with a size, a name and content, fill the file. */
const areBoxesWhole = async (handle: FileHandle, bytes: number): Promise<boolean> => {
  const header = Buffer.alloc(HEADER_BYTES);
  let at = 0;
  for (let count = 0; at + 8 <= bytes && count < MOST_BOXES; count += 1) {
    await handle.read(header, 0, HEADER_BYTES, at);
    if (!BOXES.has(header.toString("latin1", 4, 8))) return true;
    const short = header.readUInt32BE(0);
    const size = short === LONG_SIZE ? Number(header.readBigUInt64BE(8)) : short;
    // A box without a size extends to the end.
    if (size < 8) return true;
    at += size;
  }
  return at <= bytes;
};

const EBML_ID = 0x1a45dfa3;
const SEGMENT_ID = 0x18538067;
const ID_BYTES = 4;

/** Reads an EBML number, whose first byte encodes its length. The size is undefined if it is unknown, as in live recordings. */
const ebmlSize = (from: Buffer): { size: number | undefined; length: number } => {
  const first = from[0] ?? 0;
  const length = Math.clz32(first) - 23;
  if (length > 8) return { size: undefined, length: 0 };
  const digits = from.subarray(1, length);
  const head = first & (0xff >> length);
  const isUnknown = head === 0xff >> length && digits.every((byte) => byte === 0xff);
  return { size: isUnknown ? undefined : digits.reduce((sum, byte) => sum * 256 + byte, head), length };
};

/** Checks Matroska and WebM: a header and one segment fill the file. */
const isSegmentWhole = async (handle: FileHandle, bytes: number): Promise<boolean> => {
  const header = Buffer.alloc(HEADER_BYTES);
  let at = 0;
  for (const id of [EBML_ID, SEGMENT_ID]) {
    await handle.read(header, 0, HEADER_BYTES, at);
    const { size, length } = ebmlSize(header.subarray(ID_BYTES));
    if (header.readUInt32BE(0) !== id || size === undefined) return true;
    at += ID_BYTES + length + size;
  }
  return at <= bytes;
};

const CHECKS: Readonly<Record<string, (handle: FileHandle, bytes: number) => Promise<boolean>>> = {
  mov: areBoxesWhole,
  matroska: isSegmentWhole,
};

/** @throws InputError for a truncated file */
export const checkWhole = async ({ port, path }: Pick<WorkFile, "port" | "path">, demuxer: string): Promise<void> => {
  const check = CHECKS[demuxer];
  if (!check) return;
  const handle = await open(path, "r");
  try {
    const { size } = await handle.stat();
    if (!(await check(handle, size))) throw new InputError(`${port}: the file is incomplete: its end is missing; upload it again`);
  } finally {
    await handle.close();
  }
};
