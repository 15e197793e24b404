import { addAbortSignal } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import { groupBy, invalidRequest, LIMITS } from "@nodeloom/kernel";
import type { Request } from "express";
import { unsupportedMediaType } from "./errors";
import { isForm } from "./multipart";

/** Reads a multipart/form-data body with fields and files. */

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_FIELDS = 50;
const MAX_FILES = 16;

export interface Form {
  /** Fields sent once, as texts; `name[]` counts as `name`. */
  fields: Record<string, string>;
  /** Results of `keep` by field name, in order. */
  files: Record<string, string[]>;
}

const plainName = (name: string): string => name.replace(/\[\]$/, "");

/**
 * @param keep reads one file of the named field and returns its value; it must finish its own work before it returns or throws
 * @param fileField name of the field with the file, for the error about another body
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE without a form; INVALID_REQUEST if the form is incomplete, or has more than 50 fields or 16
 *   files
 */
export const readForm = async (
  request: Request,
  keep: (bytes: AsyncIterable<Buffer>, name: string) => Promise<string>,
  fileField: string,
): Promise<Form> => {
  const contentType = request.headers["content-type"];
  if (!isForm(contentType))
    throw unsupportedMediaType(`the body must be a form (multipart/form-data with a boundary) with the file in the field ${fileField}`);
  const parser = new Busboy({
    headers: { "content-type": contentType! },
    limits: { headerSize: MAX_HEADER_BYTES, fieldSize: LIMITS.textValueBytes, fields: MAX_FIELDS, files: MAX_FILES },
  });
  const fields = new Map<string, string>();
  const files: { name: string; reference: Promise<string> }[] = [];
  const failed = new AbortController();
  const fail = (error: unknown): void => failed.abort(error);
  const refuse = (message: string): void => fail(invalidRequest([{ path: "", message }]));
  /** Rejects names that copying would lose. */
  const checkName = (name: string): void => {
    if (plainName(name) === "__proto__") fail(invalidRequest([{ path: "__proto__", message: "can't be the name of a field" }]));
  };
  parser.on("field", (name, value, _nameTruncated, valueTruncated) => {
    checkName(name);
    if (valueTruncated) refuse(`the field ${plainName(name)} has more than ${LIMITS.textValueBytes} bytes`);
    fields.set(plainName(name), value);
  });
  parser.on("file", (name, file) => {
    checkName(name);
    const reference = keep(addAbortSignal(failed.signal, file), plainName(name));
    reference.catch(fail);
    files.push({ name: plainName(name), reference });
  });
  parser.on("fieldsLimit", () => refuse(`a form can have at most ${MAX_FIELDS} fields`));
  parser.on("filesLimit", () => refuse(`a form can have at most ${MAX_FILES} files`));
  await pipeline(request.iterator({ destroyOnReturn: false }), parser, { signal: failed.signal }).catch((error: Error) =>
    refuse(`the form is malformed: ${error.message}`),
  );
  // After an error the rest is read and discarded, so that the client receives the response.
  request.resume();
  await Promise.allSettled(files.map(({ reference }) => reference));
  failed.signal.throwIfAborted();
  const byName = groupBy(files, ({ name }) => name);
  const references = [...byName].map(async ([name, own]) => [name, await Promise.all(own.map(({ reference }) => reference))] as const);
  return { fields: Object.fromEntries(fields), files: Object.fromEntries(await Promise.all(references)) };
};
