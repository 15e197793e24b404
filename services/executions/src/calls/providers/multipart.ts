import { randomUUID } from "node:crypto";
import type { RawBody } from "./transport";

/** A file as it goes to a provider: what it is, and its bytes, read anew by each call. */
export interface SentFile {
  /** With the extension of its type. */
  name: string;
  contentType: string;
  length: number;
  read: () => AsyncIterable<Uint8Array>;
}

const quoted = (text: string): string => text.replace(/["\r\n]/g, (character) => encodeURIComponent(character));

/** A form (RFC 7578) with texts and then one file, whose bytes are passed on as they are read. */
export const multipart = (texts: Readonly<Record<string, string>>, member: string, file: SentFile): RawBody => {
  const boundary = `nodeloom-${randomUUID()}`;
  const fields = Object.entries(texts).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
  );
  const disposition = `content-disposition: form-data; name="${quoted(member)}"; filename="${quoted(file.name)}"`;
  const head = Buffer.from(`${fields.join("")}--${boundary}\r\n${disposition}\r\ncontent-type: ${file.contentType}\r\n\r\n`);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* bytes(): AsyncIterable<Uint8Array> {
    yield head;
    yield* file.read();
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: head.length + file.length + tail.length,
    bytes: bytes(),
  };
};
