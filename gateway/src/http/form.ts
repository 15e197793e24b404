import { pipeline } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import { invalidRequest, LIMITS } from "@nodeloom/kernel";
import type { Request } from "express";
import { unsupportedMediaType } from "./errors";
import { isForm } from "./multipart";

/** Reads a multipart/form-data body with fields and files. */

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_FIELDS = 50;
const MAX_FILES = 16;

export interface Form {
  /** Those given once, as texts; `name[]` is `name`. */
  fields: Record<string, string>;
  /** What became of each file, by the name of its field, in their order. */
  files: Record<string, string[]>;
}

const plainName = (name: string): string => name.replace(/\[\]$/, "");

/**
 * @param keep takes the bytes of one file and answers what stands for it. Files are taken one after the other.
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE without a form; INVALID_REQUEST where it breaks off, or has more than 50 fields or 16 files
 */
export const readForm = async (request: Request, keep: (bytes: AsyncIterable<Buffer>) => Promise<string>): Promise<Form> => {
  const contentType = request.headers["content-type"];
  if (!isForm(contentType)) throw unsupportedMediaType("the body must be a form: multipart/form-data with a boundary");
  const parser = new Busboy({
    headers: { "content-type": contentType! },
    limits: { headerSize: MAX_HEADER_BYTES, fieldSize: LIMITS.textValueBytes, fields: MAX_FIELDS, files: MAX_FILES },
  });
  const form: Form = { fields: {}, files: {} };
  const failed = new AbortController();
  const fail = (error: Error): void => failed.abort(error);
  const refuse = (message: string): void => fail(invalidRequest([{ path: "", message }]));
  const kept: Promise<unknown>[] = [];
  parser.on("field", (name, value, _nameTruncated, valueTruncated) => {
    if (valueTruncated) refuse(`the field ${plainName(name)} has more than ${LIMITS.textValueBytes} bytes`);
    form.fields[plainName(name)] = value;
  });
  parser.on("file", (name, file) => {
    const of = (form.files[plainName(name)] ??= []);
    const index = of.push("") - 1;
    const taken = keep(file).then((reference) => (of[index] = reference));
    kept.push(taken.catch(fail));
    file.on("error", fail);
  });
  parser.on("fieldsLimit", () => refuse(`a form has at most ${MAX_FIELDS} fields`));
  parser.on("filesLimit", () => refuse(`a form has at most ${MAX_FILES} files`));
  try {
    await pipeline(request.iterator({ destroyOnReturn: false }), parser, { signal: failed.signal });
    await Promise.all(kept);
  } catch (error) {
    failed.signal.throwIfAborted();
    throw invalidRequest([
      { path: "", message: error instanceof Error ? `the form can't be read: ${error.message}` : "the form can't be read" },
    ]);
  } finally {
    // After a refusal the rest is read and dropped, so that the client gets to see the answer.
    request.resume();
  }
  failed.signal.throwIfAborted();
  return form;
};
