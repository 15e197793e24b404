import { unavailable } from "@nodeloom/kernel";
import { notFound } from "../../http/errors";
import type { CallContext } from "../../edge/route";

/** Reads files that runs created. */

const READ_MS = 60_000;
/** Maximum bytes of a file inside a JSON response, or sent whole. */
const MAX_BYTES = 50 * 1024 * 1024;

export interface ReadFile {
  contentType: string;
  bytes: Buffer;
}

/** Key in a file's address: the part after its last slash, without the extension. */
const keyOf = (url: string): string => new URL(url).pathname.split("/").at(-1)!;

/** Reads a stored file. @throws DomainError if media doesn't have it, the caller can't read it, or it exceeds 50 MB */
export const readFile = async ({ gateway, caller }: Pick<CallContext<"any">, "gateway" | "caller">, url: string): Promise<ReadFile> => {
  if ((await gateway.mediaUrls.readable(url, caller)) === undefined) throw notFound("media");
  let contentType = "";
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const { part } of gateway.services.media.readObject({ key: keyOf(url) }, { deadlineMs: READ_MS, signal: gateway.stopping })) {
    if (part?.$case === "header") contentType = part.value.contentType;
    if (part?.$case !== "chunk") continue;
    bytes += part.value.length;
    if (bytes > MAX_BYTES) throw unavailable("the file is too large for this route: request its URL instead");
    pieces.push(part.value);
  }
  return { contentType, bytes: Buffer.concat(pieces) };
};
