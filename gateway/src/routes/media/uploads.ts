import { LIMITS } from "@nodeloom/kernel";
import { uploadParts } from "@nodeloom/platform";
import { media } from "@nodeloom/proto";
import type { Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";
import { payloadTooLarge } from "../../http/errors";
import { MEDIA_UPLOAD_MS } from "../../http/limits";

/** Uploads of callers to media. */

/** The caller's storage quota in bytes; undefined without a limit. */
export const mediaQuota = ({ isAdmin, user }: Caller): number | undefined => (isAdmin ? undefined : user.plan.mediaBytes);

/** Fails once the body exceeds its limit. */
export async function* atMost(body: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > most) throw payloadTooLarge(LIMITS.mediaBytes);
    yield piece;
  }
}

/** Stores a file for the caller. @throws DomainError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MEDIA_QUOTA_EXCEEDED */
export const storeUpload = async (gateway: Gateway, caller: Caller, bytes: AsyncIterable<Buffer>): Promise<media.StoredObject> => {
  const header = media.UploadHeader.fromPartial({ ownerId: caller.user.id, quotaBytes: mediaQuota(caller) });
  const upload = uploadParts(header, atMost(bytes, LIMITS.mediaBytes));
  const { object } = await gateway.services.media.upload(upload, { deadlineMs: MEDIA_UPLOAD_MS });
  if (!object) throw new Error("media answered without an object");
  return object;
};
