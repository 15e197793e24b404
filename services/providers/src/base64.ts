/** Decodes base64 in pieces. */

/** A multiple of four, so that each piece is valid base64. */
const PIECE_CHARS = 256 * 1024;

/** Decodes in pieces, so that a file isn't in memory twice. */
export function* base64Bytes(base64: string): Iterable<Uint8Array> {
  for (let at = 0; at < base64.length; at += PIECE_CHARS) yield Buffer.from(base64.slice(at, at + PIECE_CHARS), "base64");
}
