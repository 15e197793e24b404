import type { BlobStore, StagedBlob } from "../blobs/blobs";
import { editStaged, withStaged } from "../marks/edit-staged";
import { windowed, type Bytes, type Edit } from "../marks/edits";
import { OUTSIDE } from "../marks/marks";
import { mp4, webm } from "./films";
import type { StripFormat } from "./format";
import { heif } from "./heif";
import { gif, jpeg, png, webp } from "./pictures";
import { flac, mp3, ogg, wav } from "./sounds";
import { tiff } from "./tiff";

/**
 * Removes text metadata, in which ComfyUI embeds its workflow (`nodes.py`, `comfy_extras`, `comfy_api/latest/_ui.py`). XMP of images and
 * MP4 files is kept, because it states the file's origin.
 */

const FORMATS: Readonly<Record<string, StripFormat>> = {
  "image/png": png,
  "image/jpeg": jpeg,
  "image/webp": webp,
  "image/gif": gif,
  "image/tiff": tiff,
  "image/avif": heif,
  "image/heif": heif,
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

/** Returns edits that remove texts. Empty for unknown types and for files that can't be read. */
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

/** Removes texts from staged bytes. @returns the given bytes if there is nothing to remove */
export const createStrip =
  (blobs: Pick<BlobStore, "stage">) =>
  async (staged: StagedBlob, contentType: string): Promise<StagedBlob> =>
    editStaged(blobs, staged, await withStaged(staged, (file) => strippingOf(file, contentType)));
export type Strip = ReturnType<typeof createStrip>;
