import { LIMITS } from "@nodeloom/kernel";
import { uploadParts } from "@nodeloom/platform";
import { media } from "@nodeloom/proto";
import { payloadTooLarge } from "../../http/errors";
import { readForm, type Form } from "../../http/form";
import { MEDIA_UPLOAD_MS } from "../../http/limits";
import type { CallContext } from "../../http/route";
import { mediaQuota } from "../media/routes";

/** Files that come with a request: uploads of the caller's while its run lasts. */

type Context = CallContext<"any", unknown, unknown, unknown>;

async function* atMost(bytes: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let count = 0;
  for await (const piece of bytes) {
    count += piece.length;
    if (count > most) throw payloadTooLarge(most);
    yield piece;
  }
}

/**
 * Reads a form, with its files as uploads by id, and removes these once the work with it is over.
 * @throws DomainError of the form, of its files' types or of the quota
 */
export const withForm = async <T>(context: Context, work: (form: Form) => Promise<T>): Promise<T> => {
  const { gateway, caller, request, logger } = context;
  const ids: string[] = [];
  const ownerId = caller.user.id;
  const keep = async (bytes: AsyncIterable<Buffer>): Promise<string> => {
    const header = media.UploadHeader.fromPartial({ ownerId, quotaBytes: mediaQuota(caller) });
    const upload = uploadParts(header, atMost(bytes, LIMITS.mediaBytes));
    const { object } = await gateway.services.media.upload(upload, { deadlineMs: MEDIA_UPLOAD_MS });
    if (!object) throw new Error("media answered without an object");
    ids.push(object.id);
    return object.id;
  };
  try {
    return await work(await readForm(request, keep));
  } finally {
    await Promise.all(
      ids.map((id) =>
        gateway.services.media
          .deleteObject({ id, ownerId })
          .catch((error: unknown) => logger.warn({ err: error }, "an upload of a finished request was not removed")),
      ),
    );
  }
};
