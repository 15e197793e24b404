/**
 * Bytes as the text of an encoding; undefined where they are none of it.
 * @throws RangeError for a label that names no encoding
 */
export const decodeText = (bytes: Uint8Array, encoding: string): string | undefined => {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    // In two steps: Node.js 20 decodes Windows-1252 in one step as ISO 8859-1, without its quotes, dashes and €.
    return decoder.decode(bytes, { stream: true }) + decoder.decode();
  } catch {
    return undefined;
  }
};
