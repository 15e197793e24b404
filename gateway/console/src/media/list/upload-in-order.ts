import { messageOf } from "../../api/client";
import { MAX_UPLOAD_BYTES, uploadFile } from "../../api/files";
import { bytes } from "../../ui/format";
import { isAcceptedType } from "../../ui/inputs/accept";
import { complain } from "../../ui/overlays/toast";
import { FILE_LIST } from "../../messages/file-list";
import { UPLOAD_BUTTON } from "../../messages/media";

/** The kind of files that an input takes: one kind, or any. */
const kindOf = (accept: string): string =>
  accept.includes(",") ? FILE_LIST.anyKind : FILE_LIST.kinds[accept.split("/")[0] as keyof typeof FILE_LIST.kinds];

/** The problem of a file before it is uploaded, or undefined. */
const problemOf = ({ name, type, size }: File, accept: string): string | undefined => {
  // Browsers don't know the type of every file; the service reads it from the content.
  if (type !== "" && !isAcceptedType(type, accept)) return FILE_LIST.wrongType(name, kindOf(accept));
  return size > MAX_UPLOAD_BYTES ? UPLOAD_BUTTON.fileTooLarge(name, bytes(size), bytes(MAX_UPLOAD_BYTES)) : undefined;
};

/**
 * Uploads files one after the other. A file that can't be uploaded is reported and left out.
 * @returns their ids, in order
 */
export const uploadInOrder = async (
  files: readonly File[],
  accept: string,
  onProgress: (index: number, count: number) => void,
): Promise<string[]> => {
  const ids: string[] = [];
  for (const [index, file] of files.entries()) {
    onProgress(index + 1, files.length);
    const problem = problemOf(file, accept);
    if (problem !== undefined) complain(problem);
    else
      await uploadFile(file).then(
        ({ id }) => ids.push(id),
        (error: unknown) => complain(UPLOAD_BUTTON.couldntUpload(file.name, messageOf(error))),
      );
  }
  return ids;
};
