import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Request, RequestHandler, Response } from "express";

/** A constant text, stored only in compressed form. */
export interface CompressedText {
  type: string;
  gzip: Buffer;
  tag: string;
}

/** @param type a content type, or a short form that Express expands: `html` */
export const keep = (type: string, content: string): CompressedText => ({
  type,
  gzip: gzipSync(content),
  tag: createHash("sha1").update(content).digest("base64url"),
});

/** Sends a text; 304 if the client has it. */
export const sendKept = ({ type, gzip, tag }: CompressedText, request: Request, response: Response): void => {
  const isZipped = request.acceptsEncodings("gzip") === "gzip";
  if (isZipped) response.set("Content-Encoding", "gzip");
  response
    .vary("Accept-Encoding")
    .set("ETag", `"${tag}${isZipped ? "-gzip" : ""}"`)
    .set("Cache-Control", "no-cache");
  response.type(type).send(isZipped ? gzip : gunzipSync(gzip));
};

/** Sends a text that is created at the first request. */
export const fixed = (type: string, make: () => string): RequestHandler => {
  let page: CompressedText | undefined;
  return (request, response) => sendKept((page ??= keep(type, make())), request, response);
};
