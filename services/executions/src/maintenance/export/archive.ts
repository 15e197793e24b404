import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { ZipFile } from "yazl";
import type { Entry } from "./entry";

async function* bytesOf(content: Entry["content"]): AsyncIterable<Uint8Array> {
  for await (const part of content) yield typeof part === "string" ? Buffer.from(part) : part;
}

/** Streams a ZIP at the pace of its reader. Each entry is read after the previous one was written. */
export async function* archive(entries: AsyncIterable<Entry>): AsyncIterable<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on("error", (error: Error) => output.destroy(error));
  const mtime = new Date();
  const add = async (): Promise<void> => {
    for await (const { path, content, isCompressed } of entries) {
      const stream = Readable.from(bytesOf(content), { objectMode: false });
      zip.addReadStream(stream, path, { mtime, compress: isCompressed !== true });
      await finished(stream);
    }
    zip.end();
  };
  const adding = add().catch((error: unknown) => {
    output.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  try {
    yield* output as AsyncIterable<Uint8Array>;
  } finally {
    output.destroy();
  }
  await adding;
}
