import { unavailable } from "@nodeloom/kernel";
import type { CallContext } from "../../edge/route";

/** Bytes of files that runs made. */

const READ_MS = 60_000;
/** Of a file that goes into a JSON answer, or is sent as a whole. */
const MAX_BYTES = 50 * 1024 * 1024;

export interface ReadFile {
  contentType: string;
  bytes: Buffer;
}

/** The key in a file's address: what follows its last slash, without the extension. */
const keyOf = (url: string): string => new URL(url).pathname.split("/").at(-1)!;

/** A file of ours, whole. @throws DomainError where media does not have it, or it has more than 50 MB */
export const readFile = async ({ gateway }: Pick<CallContext, "gateway">, url: string): Promise<ReadFile> => {
  let contentType = "";
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const { part } of gateway.services.media.readObject({ key: keyOf(url) }, { deadlineMs: READ_MS, signal: gateway.stopping })) {
    if (part?.$case === "header") contentType = part.value.contentType;
    if (part?.$case !== "chunk") continue;
    bytes += part.value.length;
    if (bytes > MAX_BYTES) throw unavailable("the file is too large for this route; ask for its URL");
    pieces.push(part.value);
  }
  return { contentType, bytes: Buffer.concat(pieces) };
};
