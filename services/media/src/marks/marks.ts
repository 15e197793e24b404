/** Marks generated files in their format's metadata (IPTC "Digital Source Type"). */

import { windowed, type Bytes, type Edit, type MarkFormat } from "./edits";
import { flac } from "./formats/flac";
import { gif } from "./formats/gif";
import { mp3 } from "./formats/id3";
import { jpeg } from "./formats/jpeg";
import { mp4 } from "./formats/mp4";
import { ogg } from "./formats/ogg";
import { png } from "./formats/png";
import { wav, webp } from "./formats/riff";
import { svg } from "./formats/svg";
import { webm } from "./formats/webm";
import { saysGenerated, type SourceType } from "./xmp";

const FORMATS: Readonly<Record<string, MarkFormat>> = {
  "image/png": png,
  "image/jpeg": jpeg,
  "image/gif": gif,
  "image/svg+xml": svg,
  "image/webp": webp,
  "image/avif": mp4,
  "image/heif": mp4,
  "video/mp4": mp4,
  "video/quicktime": mp4,
  "video/webm": webm,
  "audio/webm": webm,
  "audio/mp4": mp4,
  "audio/wav": wav,
  "audio/mpeg": mp3,
  "audio/flac": flac,
  "audio/ogg": ogg,
};

/** Bytes at the start of a file that are searched for signed content credentials. */
const CREDENTIALS_BYTES = 1024 * 1024;
const MANIFEST = "c2pa";

/** True if signed content credentials (C2PA) already mark the file. Any change would break their signature. */
const hasCredentials = async (bytes: Bytes): Promise<boolean> => {
  const head = await bytes.read(0, CREDENTIALS_BYTES);
  return head.includes(MANIFEST) && saysGenerated(head.toString("latin1"));
};

/** Error codes of reads outside of the file, from an invalid header. */
export const OUTSIDE: ReadonlySet<string | undefined> = new Set(["ERR_OUT_OF_RANGE", "ERR_BUFFER_OUT_OF_BOUNDS"]);

export interface Marking {
  edits: Edit[];
  outcome: "marked" | "kept" | "unmarked";
}

const UNMARKED: Marking = { edits: [], outcome: "unmarked" };
const KEPT: Marking = { edits: [], outcome: "kept" };

/** How to mark a file. Files that can't be marked stay unchanged. */
export const markingOf = async (file: Bytes, contentType: string, type: SourceType): Promise<Marking> => {
  const format = Object.hasOwn(FORMATS, contentType) ? FORMATS[contentType] : undefined;
  if (!format) return UNMARKED;
  const bytes = windowed(file);
  try {
    if (await hasCredentials(bytes)) return KEPT;
    const edits = await format(bytes, type);
    if (edits === undefined) return UNMARKED;
    // An invalid length in the file points outside of it.
    if (edits !== "marked" && edits.some(({ at, remove }) => at + remove > file.size)) return UNMARKED;
    return edits === "marked" ? KEPT : { edits, outcome: "marked" };
  } catch (error) {
    if (OUTSIDE.has((error as NodeJS.ErrnoException).code)) return UNMARKED;
    throw error;
  }
};
