import type { BlobStore, StagedBlob } from "../blobs/blobs";
import { editStaged } from "../marks/edit-staged";
import { windowed, type Bytes, type Edit } from "../marks/edits";
import { OUTSIDE } from "../marks/marks";
import { mp4, webm } from "./films";
import type { StripFormat } from "./format";
import { gif, jpeg, png, webp } from "./pictures";
import { flac, mp3, ogg, wav } from "./sounds";

/**
 * strip/: takes out texts that a file carries beside its picture or sound, where ComfyUI writes its workflow (`nodes.py`,
 * `comfy_extras`, `comfy_api/latest/_ui.py`). XMP of pictures and MP4 stays: it says how a file came to be.
 */

const FORMATS: Readonly<Record<string, StripFormat>> = {
  "image/png": png,
  "image/jpeg": jpeg,
  "image/webp": webp,
  "image/gif": gif,
  "video/mp4": mp4,
  "video/quicktime": mp4,
  "audio/mp4": mp4,
  "video/webm": webm,
  "audio/webm": webm,
  "video/x-matroska": webm,
  "audio/x-matroska": webm,
  "audio/flac": flac,
  "audio/mpeg": mp3,
  "audio/ogg": ogg,
  "audio/wav": wav,
};

/** The edits that take texts out of a file of some type; none for a type or a file that can't be read. */
export const strippingOf = async (file: Bytes, contentType: string): Promise<Edit[]> => {
  const format = Object.hasOwn(FORMATS, contentType) ? FORMATS[contentType] : undefined;
  try {
    const edits = (await format?.(windowed(file))) ?? [];
    return edits.some(({ at, remove }) => at + remove > file.size) ? [] : edits;
  } catch (error) {
    if (OUTSIDE.has((error as NodeJS.ErrnoException).code)) return [];
    throw error;
  }
};

/** Takes texts out of bytes that arrived. @returns the changed bytes, or the same where there is nothing to take out */
export const createStrip =
  (blobs: Pick<BlobStore, "stage">) =>
  (staged: StagedBlob, contentType: string): Promise<StagedBlob> =>
    editStaged(blobs, staged, (file) => strippingOf(file, contentType));
export type Strip = ReturnType<typeof createStrip>;
