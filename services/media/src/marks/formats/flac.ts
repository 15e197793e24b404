import { insertion, type Bytes, type Edit, type MarkFormat } from "../edits";
import { MAX_LIST_BYTES, newList, withComment } from "./comments";

/** FLAC (RFC 9639). Metadata blocks precede the audio, and a flag marks the last one. One block contains Vorbis comments. */

export const SIGNATURE = Buffer.from("fLaC", "latin1");
const HEADER_BYTES = 4;
export const COMMENTS = 4;
const LAST = 0x80;
const MAX_BLOCK_BYTES = 0xff_ffff;

export interface Block {
  at: number;
  kind: number;
  isLast: boolean;
  end: number;
}

const blockAt = async (bytes: Bytes, at: number): Promise<Block | undefined> => {
  const header = await bytes.read(at, HEADER_BYTES);
  if (header.length < HEADER_BYTES) return undefined;
  const end = at + HEADER_BYTES + header.readUIntBE(1, 3);
  return end > bytes.size ? undefined : { at, kind: header[0]! & ~LAST, isLast: (header[0]! & LAST) !== 0, end };
};

export const blocksOf = async (bytes: Bytes): Promise<Block[] | undefined> => {
  const blocks: Block[] = [];
  for (let at = SIGNATURE.length; !blocks.at(-1)?.isLast;) {
    const block = await blockAt(bytes, at);
    if (!block) return undefined;
    blocks.push(block);
    at = block.end;
  }
  return blocks;
};

export const commentBlock = (isLast: boolean, list: Uint8Array): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = COMMENTS | (isLast ? LAST : 0);
  header.writeUIntBE(list.length, 1, 3);
  return Buffer.concat([header, list]);
};

export const flac: MarkFormat = async (bytes, type) => {
  if (!(await bytes.read(0, SIGNATURE.length)).equals(SIGNATURE)) return undefined;
  const blocks = await blocksOf(bytes);
  const info = blocks?.[0];
  if (!blocks || !info) return undefined;
  const comments = blocks.find(({ kind }) => kind === COMMENTS);
  if (!comments) {
    const notLast: Edit = { at: info.at, remove: 1, insert: Buffer.from([info.kind]) };
    return [...(info.isLast ? [notLast] : []), insertion(info.end, commentBlock(info.isLast, newList(type)))];
  }
  const { at, end, isLast } = comments;
  if (end - at > MAX_LIST_BYTES) return undefined;
  const list = withComment(await bytes.read(at + HEADER_BYTES, end - at - HEADER_BYTES), type);
  if (list === undefined || list === "marked") return list;
  return list.length > MAX_BLOCK_BYTES ? undefined : [{ at, remove: end - at, insert: commentBlock(isLast, list) }];
};
