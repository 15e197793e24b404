import { createReadStream } from "node:fs";
import { addressOf, SOURCE_TYPES } from "./xmp";

const ADDRESSES = SOURCE_TYPES.map(addressOf);
/** Blocks overlap, because a URL can be split between two of them. */
const OVERLAP = Math.max(...ADDRESSES.map(({ length }) => length));
const PIECE_BYTES = 256 * 1024;

/** Returns the URL of an IPTC term for generated media that a file's bytes contain; empty if there is none. */
export const sourceTypeIn = async (path: string): Promise<string> => {
  let rest = "";
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES }) as AsyncIterable<Buffer>) {
    const text = rest + piece.toString("latin1");
    const markAddress = ADDRESSES.find((address) => text.includes(address));
    if (markAddress !== undefined) return markAddress;
    rest = text.slice(-OVERLAP);
  }
  return "";
};
