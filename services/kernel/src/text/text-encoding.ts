/**
 * Decodes bytes. Returns undefined if they are invalid in the encoding.
 * @throws RangeError for an unknown encoding label
 */
export const decodeText = (bytes: Uint8Array, encoding: string): string | undefined => {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    // Two steps are needed: in one step, Node.js 20 decodes Windows-1252 as ISO 8859-1 and loses quotes, dashes and €.
    return decoder.decode(bytes, { stream: true }) + decoder.decode();
  } catch {
    return undefined;
  }
};
