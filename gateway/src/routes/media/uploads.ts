import { invalidRequest, LIMITS } from "@nodeloom/kernel";
import { uploadParts } from "@nodeloom/platform";
import { media } from "@nodeloom/proto";
import type { Request } from "express";
import type { Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";
import { payloadTooLarge, unsupportedMediaType } from "../../http/errors";
import { MEDIA_UPLOAD_MS } from "../../http/limits";
import { fileOfForm, isForm } from "../../http/multipart";

/** Uploads of callers to media. */

const MIB = 1024 * 1024;

/** The caller's storage quota in bytes; undefined without a limit. */
export const mediaQuota = ({ isAdmin, user }: Pick<Caller, "isAdmin" | "user">): number | undefined =>
  isAdmin ? undefined : user.plan.mediaBytes;

/** Maximum bytes of a file that the caller can upload. */
export const uploadBytes = ({ user }: Pick<Caller, "user">): number => user.plan.caps.uploadMb * MIB;

/**
 * Fails once the body exceeds its limit.
 * @param namedLimit limit shown in the error: that of the file in the body
 */
export async function* atMost(body: AsyncIterable<Buffer>, most: number, namedLimit = most): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > most) throw payloadTooLarge(namedLimit);
    yield piece;
  }
}

/**
 * Stores a file for the caller.
 * @param id of the file; empty if media chooses it. A file with this id is returned instead of stored again
 * @throws DomainError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MEDIA_QUOTA_EXCEEDED
 */
export const storeUpload = async (
  gateway: Gateway,
  caller: Pick<Caller, "user" | "isAdmin">,
  bytes: AsyncIterable<Buffer>,
  id = "",
): Promise<media.StoredObject> => {
  const header = media.UploadHeader.fromPartial({ id, ownerId: caller.user.id, quotaBytes: mediaQuota(caller) });
  const upload = uploadParts(header, atMost(bytes, uploadBytes(caller)));
  const { object } = await gateway.services.media.upload(upload, { deadlineMs: MEDIA_UPLOAD_MS });
  if (!object) throw new Error("media answered without an object");
  return object;
};

/** Content types that wrap the file, or hold its address or its Base64. */
const WRAPPED = /^(?:multipart\/|application\/x-www-form-urlencoded|application\/json\b)/i;

/** Rejects a request by its headers before its body is read. */
const checkHeaders = (request: Request, form: string | undefined, maxBytes: number): void => {
  if (form === undefined && WRAPPED.test(request.headers["content-type"] ?? "")) {
    throw unsupportedMediaType(
      "send the file's bytes as the body, with its own content type or application/octet-stream, or a form (multipart/form-data) with one file",
    );
  }
  const length = request.headers["content-length"];
  const most = maxBytes + (form === undefined ? 0 : LIMITS.formBytes);
  if (length !== undefined && Number(length) > most) throw payloadTooLarge(maxBytes);
  if (Number(length ?? 0) === 0 && request.headers["transfer-encoding"] === undefined) {
    throw invalidRequest([{ path: "", message: "the body is empty" }]);
  }
};

/** File of an upload. A truncated request raises an error instead of ending. */
const fileOf = (request: Request, form: string | undefined, maxBytes: number): AsyncIterable<Buffer> => {
  // An error must not destroy the request, because its connection carries the response.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  return form === undefined ? body : fileOfForm(atMost(body, maxBytes + LIMITS.formBytes, maxBytes), form);
};

/**
 * Passes the file of a streamed body on: the body itself, or the file in a form.
 * @throws INVALID_REQUEST, PAYLOAD_TOO_LARGE or UNSUPPORTED_MEDIA_TYPE
 */
export const withSentFile = async <T>(request: Request, maxBytes: number, use: (file: AsyncIterable<Buffer>) => Promise<T>): Promise<T> => {
  const contentType = request.headers["content-type"];
  const form = isForm(contentType) ? contentType : undefined;
  checkHeaders(request, form, maxBytes);
  try {
    return await use(fileOf(request, form, maxBytes));
  } catch (error) {
    if (request.destroyed && !request.complete) throw invalidRequest([{ path: "", message: "the upload ended early" }]);
    throw error;
  } finally {
    // After an error the rest is read and discarded, so that the client receives the response.
    request.resume();
  }
};
