import { readForm, type Form } from "../../http/form";
import type { CallContext } from "../../edge/route";
import { storeUpload } from "../media/uploads";

/** Uploads files in a request for the caller, for the duration of its run. */

type Context = CallContext<"any", unknown, unknown, unknown>;

/**
 * Reads a form, uploads its files, and deletes them after the work.
 * @param fileField name of the field with the file, for errors
 * @throws DomainError for an invalid form, unsupported file types, or an exceeded quota
 */
export const withForm = async <T>(context: Context, fileField: string, work: (form: Form) => Promise<T>): Promise<T> => {
  const { gateway, caller, request, logger } = context;
  const ids: string[] = [];
  const keep = async (bytes: AsyncIterable<Buffer>): Promise<string> => {
    const { id } = await storeUpload(gateway, caller, bytes);
    ids.push(id);
    return id;
  };
  try {
    return await work(await readForm(request, keep, fileField));
  } finally {
    await Promise.all(
      ids.map((id) =>
        gateway.services.media
          .deleteObject({ id, ownerId: caller.user.id })
          .catch((error: unknown) => logger.warn({ err: error }, "an upload of a finished request was not removed")),
      ),
    );
  }
};
