import { randomUUID } from "node:crypto";
import type { RawBody } from "./transport";

/** Streamed request bodies that contain files. */

/** A file for a provider. Each call of `read` reads its bytes from the start. */
export interface SentFile {
  /** File name with an extension that matches the type. */
  name: string;
  contentType: string;
  length: number;
  read: () => AsyncIterable<Uint8Array>;
}

export const isSentFile = (value: unknown): value is SentFile =>
  typeof value === "object" && value !== null && typeof (value as SentFile).read === "function";

const quoted = (text: string): string => text.replace(/["\r\n]/g, (character) => encodeURIComponent(character));

const partHead = (boundary: string, name: string, value: string | SentFile): string => {
  const disposition = `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"`;
  return typeof value === "string"
    ? `${disposition}\r\n\r\n`
    : `${disposition}; filename="${quoted(value.name)}"\r\ncontent-type: ${value.contentType}\r\n\r\n`;
};

/** A form (RFC 7578). Its files are streamed. */
export const multipart = (parts: readonly (readonly [name: string, value: string | SentFile])[]): RawBody => {
  const boundary = `nodeloom-${randomUUID()}`;
  const pieces = parts.map(([name, value]) => ({ head: Buffer.from(partHead(boundary, name, value)), value }));
  const end = Buffer.from("\r\n");
  const tail = Buffer.from(`--${boundary}--\r\n`);
  const lengthOf = (value: string | SentFile): number => (typeof value === "string" ? Buffer.byteLength(value) : value.length);
  async function* bytes(): AsyncIterable<Uint8Array> {
    for (const { head, value } of pieces) {
      yield head;
      if (typeof value === "string") yield Buffer.from(value);
      else yield* value.read();
      yield end;
    }
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: pieces.reduce((sum, { head, value }) => sum + head.length + lengthOf(value) + end.length, tail.length),
    bytes: bytes(),
  };
};
