import type { Edit } from "../marks/edits";
import { boxesOf, FREE, type Box } from "../marks/formats/mp4";
import { elementAt, free, ID } from "../marks/formats/webm";
import type { StripFormat } from "./format";

/** Both formats contain file offsets, so texts are replaced with free space of equal length. */

/** Larger texts aren't removed. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/** Boxes in which ffmpeg stores metadata. */
const MP4_TEXTS: ReadonlySet<string> = new Set(["udta", "meta"]);

const asFree = ({ at, data, end }: Box): Edit[] => [
  { at: at + 4, remove: FREE.length, insert: FREE },
  { at: data, remove: end - data, insert: Buffer.alloc(end - data) },
];

export const mp4: StripFormat = async (bytes) => {
  const boxes = await boxesOf(bytes, 0, bytes.size);
  const movie = boxes?.find(({ name }) => name === "moov");
  const inner = movie && (await boxesOf(bytes, movie.data, movie.end));
  return inner?.filter(({ name, data, end }) => MP4_TEXTS.has(name) && end - data <= MAX_TEXT_BYTES).flatMap(asFree);
};

/** Maximum elements in a segment. A long film has a cluster every few seconds. */
const MAX_ELEMENTS = 100_000;

export const webm: StripFormat = async (bytes) => {
  const header = await elementAt(bytes, 0);
  const segment = header?.end === undefined ? undefined : await elementAt(bytes, header.end);
  if (segment?.id !== ID.segment) return undefined;
  const edits: Edit[] = [];
  for (let at = segment.data, count = 0; at < bytes.size && count < MAX_ELEMENTS; count++) {
    const one = await elementAt(bytes, at);
    // Clusters of a live recording have no end, so only texts before them are removed.
    if (one?.end === undefined || one.end > bytes.size) break;
    const length = one.end - one.at;
    const space = one.id === ID.tags && length <= MAX_TEXT_BYTES ? free(length) : undefined;
    if (space) edits.push({ at, remove: length, insert: Buffer.concat([space, Buffer.alloc(length - space.length)]) });
    at = one.end;
  }
  return edits;
};
