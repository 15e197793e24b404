import type { WorkFile } from "../../children/protocol";
import { InputError } from "../job";

/**
 * Demuxers by detected type. ffmpeg isn't allowed to detect the type, because it could find a playlist, which refers to other files and
 * URLs.
 */
const DEMUXERS: Readonly<Record<string, string>> = {
  "video/mp4": "mov",
  "video/quicktime": "mov",
  "audio/mp4": "mov",
  "video/webm": "matroska",
  "audio/webm": "matroska",
  "video/x-matroska": "matroska",
  "audio/x-matroska": "matroska",
  "video/x-msvideo": "avi",
  "video/mp2t": "mpegts",
  "video/ogg": "ogg",
  "audio/ogg": "ogg",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/aac": "aac",
  "audio/aiff": "aiff",
  "audio/amr": "amr",
  "image/gif": "gif",
};

/** @throws InputError if the type has no demuxer */
export const demuxerOf = ({ port, contentType }: Pick<WorkFile, "port" | "contentType">): string => {
  const demuxer = Object.hasOwn(DEMUXERS, contentType) ? DEMUXERS[contentType] : undefined;
  if (demuxer === undefined) throw new InputError(`${port}: ${contentType} isn't a video or sound that can be read`);
  return demuxer;
};

/** Allows only files named on the command line, and pipes. */
const PROTOCOLS = ["-protocol_whitelist", "file,pipe"];

export const inputArguments = (path: string, demuxer: string, ...before: string[]): string[] => [
  ...before,
  ...PROTOCOLS,
  "-f",
  demuxer,
  "-i",
  `file:${path}`,
];
