import { insertion, type MarkFormat } from "../edits";
import { newPacket, saysGenerated } from "../xmp";

/** SVG. XMP is in a `metadata` element at the start of the root. Storage writes its own vectors, which have no other metadata. */

/** Bytes at the start of a file in which the root's tag ends. Values in it are escaped. */
const HEAD_BYTES = 64 * 1024;

export const metadataElement = (packet: Uint8Array): string => `<metadata>${Buffer.from(packet).toString()}</metadata>`;

export const svg: MarkFormat = async (bytes, type) => {
  const head = (await bytes.read(0, HEAD_BYTES)).toString("latin1");
  const end = head.indexOf(">");
  if (!head.startsWith("<svg") || end < 0 || head[end - 1] === "/") return undefined;
  if (saysGenerated(head)) return "marked";
  return [insertion(end + 1, Buffer.from(metadataElement(newPacket(type))))];
};
