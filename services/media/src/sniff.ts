import type { MediaFamily } from "@nodeloom/kernel";
import { filetypeinfo, register } from "magic-bytes.js";

export interface MediaType {
  contentType: string;
  extension: string;
  /** Families the file can count as: a container may hold sound only. */
  families: readonly MediaFamily[];
}

/** Bytes from the start of a file that sniffing looks at. */
export const HEAD_BYTES = 4_096;

/** What every file that is no known media is served as. */
export const UNKNOWN: MediaType = { contentType: "application/octet-stream", extension: "bin", families: [] };

const hex = (text: string): string[] => [...Buffer.from(text, "latin1")].map((byte) => `0x${byte.toString(16).padStart(2, "0")}`);
const OGG_HEADER = [...hex("OggS"), ...Array<string>(24).fill("?")];
const FILE_TYPE_BOX_OFFSET = 4;

register("opus", [...OGG_HEADER, ...hex("OpusHead")], { mime: "audio/ogg", extension: "ogg" });
register("aifc", [...hex("FORM"), "?", "?", "?", "?", ...hex("AIFC")], { mime: "audio/aiff", extension: "aifc" });
register("amr", hex("#!AMR"), { mime: "audio/amr", extension: "amr" });
register("m4a", hex("ftypM4A "), { mime: "audio/mp4", extension: "m4a" }, FILE_TYPE_BOX_OFFSET);

const type = (contentType: string, extension: string, ...families: MediaFamily[]): MediaType => ({ contentType, extension, families });

/**
 * The types that are served under their own name, the more specific signature first. Documents that a browser would
 * run (SVG, HTML, XML) are missing on purpose.
 */
const SERVED: readonly (readonly [signature: string, type: MediaType])[] = [
  ["png", type("image/png", "png", "image")],
  ["jpg", type("image/jpeg", "jpg", "image")],
  ["gif", type("image/gif", "gif", "image")],
  ["webp", type("image/webp", "webp", "image")],
  ["avif", type("image/avif", "avif", "image")],
  ["heif", type("image/heif", "heif", "image")],
  ["tif", type("image/tiff", "tif", "image")],
  ["bmp", type("image/bmp", "bmp", "image")],
  ["wav", type("audio/wav", "wav", "audio")],
  ["flac", type("audio/flac", "flac", "audio")],
  ["opus", type("audio/ogg", "ogg", "audio")],
  ["ogg", type("audio/ogg", "ogg", "audio")],
  ["oga", type("audio/ogg", "ogg", "audio")],
  ["spx", type("audio/ogg", "ogg", "audio")],
  ["ogv", type("video/ogg", "ogv", "video")],
  ["ogm", type("video/ogg", "ogv", "video")],
  ["aac", type("audio/aac", "aac", "audio")],
  ["aiff", type("audio/aiff", "aiff", "audio")],
  ["aifc", type("audio/aiff", "aifc", "audio")],
  ["amr", type("audio/amr", "amr", "audio")],
  ["mp3", type("audio/mpeg", "mp3", "audio")],
  ["m4a", type("audio/mp4", "m4a", "audio")],
  ["webm", type("video/webm", "webm", "video", "audio")],
  ["mkv", type("video/x-matroska", "mkv", "video", "audio")],
  ["avi", type("video/x-msvideo", "avi", "video")],
  ["mov", type("video/quicktime", "mov", "video")],
  ["mp4", type("video/mp4", "mp4", "video", "audio")],
];

const TRANSPORT_STREAM = type("video/mp2t", "ts", "video");
/** Types of containers that hold sound only. */
const SOUNDS: Readonly<Record<string, MediaType>> = {
  "video/webm": type("audio/webm", "webm", "audio"),
  "video/mp4": type("audio/mp4", "m4a", "audio"),
  "video/x-matroska": type("audio/x-matroska", "mka", "audio"),
};

/** Types that are read here and shown by no browser: they are served as downloads. */
const DOWNLOADS: ReadonlySet<string> = new Set([
  ...["image/tiff", "audio/aiff", "audio/amr"],
  ...["video/x-matroska", "audio/x-matroska", "video/x-msvideo", TRANSPORT_STREAM.contentType],
]);

/** The type that a file is served as. */
export const servedType = (contentType: string): string => (DOWNLOADS.has(contentType) ? UNKNOWN.contentType : contentType);

/** WebM and Matroska share their signature; only the document type inside tells them apart. */
const isWebm = (head: Uint8Array): boolean => Buffer.from(head).includes("webm");

const PACKET_BYTES = 188;
const SYNC = 0x47;
/** Packets of one length, each with a mark in front; those of cameras (M2TS) begin with a time of four bytes. */
const isTransportStream = (head: Uint8Array): boolean =>
  [0, 4].some((offset) => [0, 1, 2].every((packet) => head[offset + packet * (PACKET_BYTES + offset)] === SYNC));

/** The type of a file by its first bytes. What a client or a provider calls it plays no part. */
export const sniff = (head: Uint8Array): MediaType => {
  const signatures = new Set(filetypeinfo(head).map((guess) => guess.typename));
  if (signatures.has("webm")) signatures.delete(isWebm(head) ? "mkv" : "webm");
  const found = SERVED.find(([signature]) => signatures.has(signature))?.[1];
  return found ?? (isTransportStream(head) ? TRANSPORT_STREAM : UNKNOWN);
};

/** The type of a file that has a sound and no pictures. */
export const asSound = (found: MediaType): MediaType => SOUNDS[found.contentType] ?? found;

/** Whether a type counts as one of the families; no families accept everything. */
export const isAccepted = (found: MediaType, accept: readonly string[]): boolean =>
  accept.length === 0 || found.families.some((family) => accept.includes(family));
