import { Busboy } from "@fastify/busboy";
import { invalidRequest, type DomainError } from "@nodeloom/kernel";

/** Streams the file out of a multipart/form-data body. */

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_BOUNDARY_CHARS = 70;
/** Maximum parts read in search of the file. */
const MAX_PARTS = 100;
const BOUNDARY = /^multipart\/form-data\b.*?;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i;
/** A field with this name is a file, with or without a file name. */
const FILE_FIELD = "file";

const malformed = (message: string): DomainError => invalidRequest([{ path: "", message }]);
/** Errors of forms without a complete file. */
const PROBLEMS = {
  before: "the form has no file",
  beyond: `the form's first ${MAX_PARTS} parts contain no file`,
  inside: "the form ends before its last boundary",
};

export const isForm = (contentType: string | undefined): boolean => {
  const [, quoted, plain] = BOUNDARY.exec(contentType ?? "") ?? [];
  const boundary = quoted ?? plain;
  return boundary !== undefined && boundary.length <= MAX_BOUNDARY_CHARS;
};

const SECOND_FILE = "the form has more than one file: upload each by a request of its own";

/** Parses the file of a form piece by piece. */
const fileParser = (contentType: string) => {
  const form = new Busboy({
    headers: { "content-type": contentType },
    isPartAFile: (name, _type, fileName) => fileName !== undefined || name === FILE_FIELD,
    // Ignores fields.
    limits: { headerSize: MAX_HEADER_BYTES, fieldSize: 1, parts: MAX_PARTS },
  });
  const pieces: Buffer[] = [];
  let state: keyof typeof PROBLEMS | "over" | "second" = "before";
  let isBroken = false;
  /** The rest can't be parsed and is ignored. */
  let isDone = false;
  /** Resolves the pending write: a failed parser calls no callback. */
  let resolveStep = (): void => undefined;
  const fail = (): void => {
    if (state === "over") isDone = true;
    else isBroken = true;
  };
  form.on("error", () => {
    fail();
    resolveStep();
  });
  form.on("partsLimit", () => {
    if (state === "before") state = "beyond";
  });
  form.on("file", (_name, file, fileName) => {
    file.on("error", fail);
    if (state !== "before") {
      // An empty file field of a browser has neither a file name nor content.
      const refuse = (): void => void (state = "second");
      if (fileName) refuse();
      return void file.on("data", refuse);
    }
    state = "inside";
    file.on("data", (piece: Buffer) => pieces.push(piece));
    file.on("end", () => {
      if (!isBroken && state === "inside") state = "over";
    });
  });
  const untilCalledBack = (work: (callback: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve) => {
      resolveStep = resolve;
      work(() => resolve());
    });
  return {
    write: (piece: Buffer) =>
      untilCalledBack((callback) => {
        let isWritten = false;
        form.write(piece, () => {
          isWritten = true;
          callback();
        });
        // The parser reports no part without headers, and then accepts no more input.
        setImmediate(() => {
          if (isWritten || state === "inside") return;
          fail();
          callback();
        });
      }),
    end: () => untilCalledBack((callback) => form.once("finish", callback).end()),
    pieces: () => pieces.splice(0),
    isRead: () => isBroken || isDone || state === "beyond" || state === "second",
    problem: () => {
      if (state === "over") return undefined;
      return malformed(state === "second" ? SECOND_FILE : PROBLEMS[state]);
    },
  };
};

/**
 * Bytes of the file in a form; other parts are ignored.
 * @param contentType content type of a form
 * @throws INVALID_REQUEST for no file, several files, or a truncated form
 */
export async function* fileOfForm(source: AsyncIterable<Buffer>, contentType: string): AsyncGenerator<Buffer> {
  const file = fileParser(contentType);
  for await (const piece of source) {
    await file.write(piece);
    yield* file.pieces();
    if (file.isRead()) break;
  }
  if (!file.isRead()) await file.end();
  yield* file.pieces();
  const problem = file.problem();
  if (problem) throw problem;
}
