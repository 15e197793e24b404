import { uploadParts } from "@nodeloom/platform";
import { media } from "@nodeloom/proto";
import type { Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";
import { payloadTooLarge } from "../../http/errors";
import { MEDIA_UPLOAD_MS } from "../../http/limits";

/** Uploads of callers to media. */

const MIB = 1024 * 1024;

/** The caller's storage quota in bytes; undefined without a limit. */
export const mediaQuota = ({ isAdmin, user }: Caller): number | undefined => (isAdmin ? undefined : user.plan.mediaBytes);

/** Bytes of a file that the caller can upload. */
export const uploadBytes = ({ user }: Caller): number => user.plan.caps.uploadMb * MIB;

/** Fails once the body exceeds its limit. @param named the limit of the file in it, for the error */
export async function* atMost(body: AsyncIterable<Buffer>, most: number, named = most): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > most) throw payloadTooLarge(named);
    yield piece;
  }
}

/** Stores a file for the caller. @throws DomainError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MEDIA_QUOTA_EXCEEDED */
export const storeUpload = async (gateway: Gateway, caller: Caller, bytes: AsyncIterable<Buffer>): Promise<media.StoredObject> => {
  const header = media.UploadHeader.fromPartial({ ownerId: caller.user.id, quotaBytes: mediaQuota(caller) });
  const upload = uploadParts(header, atMost(bytes, uploadBytes(caller)));
  const { object } = await gateway.services.media.upload(upload, { deadlineMs: MEDIA_UPLOAD_MS });
  if (!object) throw new Error("media answered without an object");
  return object;
};
