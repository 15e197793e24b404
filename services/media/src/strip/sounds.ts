import type { Edit } from "../marks/edits";
import { blocksOf, commentBlock, COMMENTS, SIGNATURE } from "../marks/formats/flac";
import { HEADER_BYTES, fromSyncsafe } from "../marks/formats/id3";
import { bytesOf, PAGE_HEADER_BYTES, pageAt, STARTS } from "../marks/formats/ogg";
import { endOf, HEADER_BYTES as RIFF_HEADER_BYTES, wavOf, withSize } from "../marks/formats/riff";
import type { StripFormat } from "./format";

/** A comment list without a vendor and without comments. */
const EMPTY_LIST = Buffer.alloc(8);

export const flac: StripFormat = async (bytes) => {
  if (!(await bytes.read(0, SIGNATURE.length)).equals(SIGNATURE)) return undefined;
  const blocks = await blocksOf(bytes);
  return blocks
    ?.filter(({ kind }) => kind === COMMENTS)
    .map(({ at, end, isLast }): Edit => ({ at, remove: end - at, insert: commentBlock(isLast, EMPTY_LIST) }));
};

/** Chunks with text lists and ID3 tags. */
const WAV_TEXTS: ReadonlySet<string> = new Set(["LIST", "id3 ", "ID3 "]);

export const wav: StripFormat = async (bytes) => {
  const wavFile = await wavOf(bytes);
  if (!wavFile) return undefined;
  const { chunks, until } = wavFile;
  const removed = chunks
    .filter(({ name }) => WAV_TEXTS.has(name))
    .map((one): Edit => ({ at: one.at, remove: Math.min(endOf(one), bytes.size) - one.at, insert: new Uint8Array(0) }));
  return removed.length === 0 ? [] : withSize(until - RIFF_HEADER_BYTES, removed);
};

export const mp3: StripFormat = async (bytes) => {
  const header = await bytes.read(0, HEADER_BYTES);
  if (header.toString("latin1", 0, 3) !== "ID3") return [];
  return [{ at: 0, remove: HEADER_BYTES + fromSyncsafe(header.subarray(6, HEADER_BYTES)), insert: new Uint8Array(0) }];
};

/** Maximum pages of a comment list. */
const MAX_PAGES = 1_000;
const FULL_SEGMENT = 255;
/** The framing byte after Vorbis comments. */
const FRAMING = 1;

/** Pages are numbered, so the list keeps its length and its texts are overwritten with padding. */
export const ogg: StripFormat = async (bytes) => {
  const first = await pageAt(bytes, 0);
  if (!first) return undefined;
  const edits: Edit[] = [];
  let at = PAGE_HEADER_BYTES + first.segments.length + first.body.length;
  for (let count = 0; count < MAX_PAGES; count++) {
    const page = await pageAt(bytes, at);
    const start = count > 0 ? Buffer.alloc(0) : STARTS.find((one) => page?.body.subarray(0, one.length).equals(one));
    if (!page || !start) return undefined;
    const last = page.segments.findIndex((length) => length < FULL_SEGMENT);
    const length = last < 0 ? page.body.length : last * FULL_SEGMENT + page.segments[last]!;
    const body = Buffer.from(page.body).fill(0, start.length, length);
    const framingAt = start.length + EMPTY_LIST.length;
    if (count === 0 && start[0] === STARTS[1]![0] && framingAt < length) body[framingAt] = FRAMING;
    const remove = PAGE_HEADER_BYTES + page.segments.length + page.body.length;
    edits.push({ at, remove, insert: bytesOf({ ...page, body }) });
    if (last >= 0) return edits;
    at += remove;
  }
  return undefined;
};
