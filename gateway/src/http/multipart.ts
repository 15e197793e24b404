import { invalidRequest, type DomainError } from "@nodeloom/kernel";

/** The file in a form, read as it comes: of multipart/form-data no more than an upload needs. */

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_BOUNDARY_CHARS = 70;
const BOUNDARY = /^multipart\/form-data\b.*?;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i;
/** A part that a browser makes of a chosen file, or that is called one. */
const FILE_PART = /^content-disposition:\s*form-data\b[^\r\n]*;\s*(?:filename\*?=|name=(?:"file"|file(?:;|\s*$)))/im;
const LINE = "\r\n";
const HEADERS_END = Buffer.from(LINE + LINE);
const LAST = "--";

const malformed = (message: string): DomainError => invalidRequest([{ path: "", message }]);

/** The boundary of a form; undefined when the content type names no form. */
export const formBoundary = (contentType: string | undefined): string | undefined => {
  const [, quoted, plain] = BOUNDARY.exec(contentType ?? "") ?? [];
  const boundary = quoted ?? plain;
  return boundary !== undefined && boundary.length <= MAX_BOUNDARY_CHARS ? boundary : undefined;
};

/** Bytes that are looked at before they are taken. */
const windowOn = (source: AsyncIterable<Buffer>) => {
  const pieces = source[Symbol.asyncIterator]();
  // The first boundary has no line before it.
  let held: Buffer = Buffer.from(LINE);
  return {
    held: () => held,
    drop: (bytes: number): void => void (held = held.subarray(bytes)),
    more: async (): Promise<void> => {
      const { done, value } = await pieces.next();
      if (done) throw malformed("the form ends before its last boundary");
      held = held.length === 0 ? value : Buffer.concat([held, value]);
    },
    close: async (): Promise<void> => void (await pieces.return?.()),
  };
};
type Window = ReturnType<typeof windowOn>;

/** What comes before a delimiter, piece by piece; leaves the window behind the delimiter. */
async function* until(window: Window, delimiter: Buffer): AsyncGenerator<Buffer> {
  for (;;) {
    const at = window.held().indexOf(delimiter);
    // The end of what is held may be the beginning of the delimiter.
    const sure = at >= 0 ? at : window.held().length - delimiter.length + 1;
    if (sure > 0) {
      yield window.held().subarray(0, sure);
      window.drop(sure);
    }
    if (at >= 0) return window.drop(delimiter.length);
    await window.more();
  }
}

const headersOf = async (window: Window): Promise<string> => {
  for (;;) {
    const at = window.held().indexOf(HEADERS_END);
    if (at > MAX_HEADER_BYTES || (at < 0 && window.held().length > MAX_HEADER_BYTES)) throw malformed("a part's headers are too long");
    if (at >= 0) {
      const headers = window.held().toString("utf8", 0, at);
      window.drop(at + HEADERS_END.length);
      return headers;
    }
    await window.more();
  }
};

/**
 * The bytes of the first file in a form. What else the form has is left aside.
 * @throws INVALID_REQUEST when there is none, or the form breaks off
 */
export async function* fileOfForm(source: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Buffer> {
  const window = windowOn(source);
  const delimiter = Buffer.from(`${LINE}--${boundary}`);
  const skip = async (): Promise<void> => {
    for await (const _ of until(window, delimiter));
  };
  try {
    await skip();
    for (;;) {
      while (window.held().length < LAST.length) await window.more();
      if (window.held().toString("latin1", 0, LAST.length) === LAST) throw malformed("the form has no file");
      if (FILE_PART.test(await headersOf(window))) break;
      await skip();
    }
    yield* until(window, delimiter);
  } finally {
    // A source that is still read from could not be emptied by its connection, whose next request would wait for ever.
    await window.close();
  }
}
