import { addressOf, saysGenerated, type SourceType } from "../xmp";

/** Vorbis comments in FLAC and Ogg (https://xiph.org/vorbis/doc/v-comment.html) form a list of `NAME=value`. */

const NAME = "DIGITALSOURCETYPE";
/** Maximum size of a comment list, which can contain album covers. */
export const MAX_LIST_BYTES = 4 * 1024 * 1024;
const LENGTH_BYTES = 4;
/** Bytes read per comment. The comment with this module's name is always shorter. */
const MAX_COMMENT_BYTES = 256;

const lengthOf = (value: number): Buffer => {
  const out = Buffer.alloc(LENGTH_BYTES);
  out.writeUInt32LE(value);
  return out;
};

const comment = (type: SourceType): Buffer => {
  const text = Buffer.from(`${NAME}=${addressOf(type)}`);
  return Buffer.concat([lengthOf(text.length), text]);
};

/** Adds the mark to a list and keeps everything after the comments. Returns undefined for an invalid list. */
export const withComment = (list: Buffer, type: SourceType): Buffer | "marked" | undefined => {
  if (list.length < 2 * LENGTH_BYTES) return undefined;
  const countAt = LENGTH_BYTES + list.readUInt32LE(0);
  if (countAt + LENGTH_BYTES > list.length) return undefined;
  const count = list.readUInt32LE(countAt);
  let at = countAt + LENGTH_BYTES;
  // Every comment uses bytes, so an incorrect count can't cause a long loop.
  for (let index = 0; index < count; index++) {
    if (at + LENGTH_BYTES > list.length) return undefined;
    const end = at + LENGTH_BYTES + list.readUInt32LE(at);
    if (end > list.length) return undefined;
    const text = list.subarray(at + LENGTH_BYTES, Math.min(end, at + MAX_COMMENT_BYTES)).toString("utf8");
    if (text.toUpperCase().startsWith(`${NAME}=`) && saysGenerated(text)) return "marked";
    at = end;
  }
  return Buffer.concat([
    list.subarray(0, countAt),
    lengthOf(count + 1),
    list.subarray(countAt + LENGTH_BYTES, at),
    comment(type),
    list.subarray(at),
  ]);
};

export const newList = (type: SourceType): Buffer => Buffer.concat([lengthOf(0), lengthOf(1), comment(type)]);
