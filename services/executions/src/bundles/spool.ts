/** Writes an uploaded archive to a temporary file, because reading an archive starts at its end. */
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { BUNDLE_BOUNDS, invalidRequest } from "@nodeloom/kernel";
import type { bundles as proto } from "@nodeloom/proto";
import { invalidBundle } from "./document";

/** An upload that was received completely. */
export interface BundleUpload {
  header: proto.ImportBundleHeader;
  order: proto.ImportBundleOrder;
  path: string;
}

async function* atMost(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > BUNDLE_BOUNDS.packedBytes) throw invalidBundle("", `has more than ${BUNDLE_BOUNDS.packedBytes} bytes`);
    yield chunk;
  }
}

/** @throws DomainError INVALID_REQUEST if the archive is too large or messages are out of order */
export const spooled = async <T>(
  messages: AsyncIterable<proto.ImportBundleRequest>,
  work: (upload: BundleUpload) => Promise<T>,
): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-bundle-"));
  try {
    const path = join(folder, "bundle.zip");
    let [header, order]: [proto.ImportBundleHeader | undefined, proto.ImportBundleOrder | undefined] = [undefined, undefined];
    async function* chunks(): AsyncIterable<Uint8Array> {
      for await (const { part } of messages) {
        if (part?.$case === "header") header = part.value;
        else if (part?.$case === "order") order = part.value;
        else if (part?.$case === "chunk") yield part.value;
      }
    }
    await pipeline(Readable.from(atMost(chunks())), createWriteStream(path));
    if (!header || !order) throw invalidRequest([{ path: "", message: "the request has no header or no order" }]);
    return await work({ header, order, path });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
