import { invalidRequest, LIMITS } from "@nodeloom/kernel";
import { media } from "@nodeloom/proto";
import type { Request } from "express";
import { z } from "zod";
import { payloadTooLarge, unsupportedMediaType } from "../../http/errors";
import { MEDIA_CHUNK_BYTES, MEDIA_UPLOAD_MS } from "../../http/limits";
import { fileOfForm, formBoundary } from "../../http/multipart";
import { defineRoute } from "../../http/route";

const stored = z
  .object({ id: z.string(), url: z.string(), contentType: z.string(), bytes: z.number() })
  .meta({ id: "Media", example: { id: "med_1", url: "http://127.0.0.1:8080/media/med_1.png", contentType: "image/png", bytes: 20480 } });

/** Bodies that wrap the bytes in something else. */
const WRAPPED = /^(?:multipart\/|application\/x-www-form-urlencoded)/i;
/** What a form may have beside its file. */
const FORM_BYTES = 64 * 1024;

/** Refuses before anything is read what can be refused by its headers. */
const checkHeaders = (request: Request, boundary: string | undefined): void => {
  if (boundary === undefined && WRAPPED.test(request.headers["content-type"] ?? "")) {
    throw unsupportedMediaType("send the file's bytes as the body, or a form with the file");
  }
  const length = request.headers["content-length"];
  const most = LIMITS.mediaBytes + (boundary === undefined ? 0 : FORM_BYTES);
  if (length !== undefined && Number(length) > most) throw payloadTooLarge(LIMITS.mediaBytes);
  if (Number(length ?? 0) === 0 && request.headers["transfer-encoding"] === undefined) {
    throw invalidRequest([{ path: "", message: "the body is empty" }]);
  }
};

/** A body that ends with an error once it is longer than it may be. */
async function* atMost(body: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > most) throw payloadTooLarge(LIMITS.mediaBytes);
    yield piece;
  }
}

/** The upload as media expects it: a header, chunks of bounded size, the end. A request that is cut off raises an error instead. */
async function* uploadOf(request: Request, ownerId: string, boundary: string | undefined): AsyncIterable<media.UploadRequest> {
  yield media.UploadRequest.fromPartial({ part: { $case: "header", value: { ownerId } } });
  // The request must survive a refusal: its connection carries the answer.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const file = boundary === undefined ? body : fileOfForm(atMost(body, LIMITS.mediaBytes + FORM_BYTES), boundary);
  for await (const piece of atMost(file, LIMITS.mediaBytes)) {
    for (let from = 0; from < piece.length; from += MEDIA_CHUNK_BYTES) {
      yield { part: { $case: "chunk", value: piece.subarray(from, from + MEDIA_CHUNK_BYTES) } };
    }
  }
  yield { part: { $case: "end", value: {} } };
}

export const mediaRoutes = [
  defineRoute({
    method: "POST",
    path: "/api/media",
    operationId: "uploadMedia",
    summary: "Upload a file; its bytes are the body",
    description: "At most 100 MB. The type is recognized from the bytes. A form will do, too: its first file is taken.",
    tag: "Media",
    auth: "any",
    limit: "user",
    binaryBody: true,
    responses: { 201: stored },
    errors: ["INVALID_REQUEST", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"],
    handler: async ({ gateway, caller, request }) => {
      const boundary = formBoundary(request.headers["content-type"]);
      checkHeaders(request, boundary);
      try {
        const { object } = await gateway.services.media.upload(uploadOf(request, caller.user.id, boundary), {
          deadlineMs: MEDIA_UPLOAD_MS,
        });
        if (!object) throw new Error("media answered without an object");
        const { id, url, contentType, bytes } = object;
        return { status: 201, body: { id, url, contentType, bytes } };
      } catch (error) {
        if (request.destroyed && !request.complete) throw invalidRequest([{ path: "", message: "the upload was cut off" }]);
        throw error;
      } finally {
        // After a refusal the rest is read and dropped, so that the client gets to see the answer.
        request.resume();
      }
    },
  }),
];
