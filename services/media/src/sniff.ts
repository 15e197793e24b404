import type { MediaFamily } from "@nodeloom/kernel";
import { filetypeinfo, register } from "magic-bytes.js";
import { GLB_TYPE } from "./glb";
import { isSvg, SVG_TYPE } from "./svg";

export interface MediaType {
  contentType: string;
  extension: string;
  /** Media families of the file. A container can count as audio, because it may have no video. */
  families: readonly MediaFamily[];
}

/** Number of leading bytes from which the type is detected. */
export const HEAD_BYTES = 4_096;

/** Type of files that aren't recognized. */
export const UNKNOWN: MediaType = { contentType: "application/octet-stream", extension: "bin", families: [] };

const hex = (text: string): string[] => [...Buffer.from(text, "latin1")].map((byte) => `0x${byte.toString(16).padStart(2, "0")}`);
const OGG_HEADER = [...hex("OggS"), ...Array<string>(24).fill("?")];
const FILE_TYPE_BOX_OFFSET = 4;

register("opus", [...OGG_HEADER, ...hex("OpusHead")], { mime: "audio/ogg", extension: "ogg" });
register("aifc", [...hex("FORM"), "?", "?", "?", "?", ...hex("AIFC")], { mime: "audio/aiff", extension: "aifc" });
// WAV for files above 4 GB. Recorders also write small files in this form.
register("rf64", [...hex("RF64"), "?", "?", "?", "?", ...hex("WAVE")], { mime: "audio/wav", extension: "wav" });
register("amr", hex("#!AMR"), { mime: "audio/amr", extension: "amr" });
register("m4a", hex("ftypM4A "), { mime: "audio/mp4", extension: "m4a" }, FILE_TYPE_BOX_OFFSET);

register("glb", hex("glTF"), { mime: GLB_TYPE, extension: "glb" });

const type = (contentType: string, extension: string, ...families: MediaFamily[]): MediaType => ({ contentType, extension, families });

/**
 * Types that are served as detected, with the more specific signatures first. Documents that a browser would execute (HTML, XML) are
 * excluded on purpose. SVG has no signature; it is sanitized before it is stored.
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
  ["rf64", type("audio/wav", "wav", "audio")],
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
  ["glb", type(GLB_TYPE, "glb", "model3d")],
];

const VECTOR = type(SVG_TYPE, "svg", "image");
const TRANSPORT_STREAM = type("video/mp2t", "ts", "video");
/** Types of containers that have only audio. */
const SOUNDS: Readonly<Record<string, MediaType>> = {
  "video/webm": type("audio/webm", "webm", "audio"),
  "video/mp4": type("audio/mp4", "m4a", "audio"),
  "video/x-matroska": type("audio/x-matroska", "mka", "audio"),
};

/** Types that are accepted and served as downloads, because browsers can't display them. */
const DOWNLOADS: ReadonlySet<string> = new Set([
  ...["image/tiff", "audio/aiff", "audio/amr"],
  ...["video/x-matroska", "audio/x-matroska", "video/x-msvideo", TRANSPORT_STREAM.contentType],
]);

export const servedType = (contentType: string): string => (DOWNLOADS.has(contentType) ? UNKNOWN.contentType : contentType);

/** True if a browser must save the file instead of opening it as a page. Vectors are shown in pages only as images, which run nothing. */
export const isDownload = (contentType: string): boolean => [UNKNOWN.contentType, SVG_TYPE].includes(servedType(contentType));

/** WebM and Matroska have equal signatures and differ only in their document type. */
const isWebm = (head: Uint8Array): boolean => Buffer.from(head).includes("webm");

const PACKET_BYTES = 188;
const SYNC = 0x47;
/** MPEG-TS has packets of fixed length that start with a sync byte. Cameras (M2TS) put a four-byte timestamp before it. */
const isTransportStream = (head: Uint8Array): boolean =>
  [0, 4].some((offset) => [0, 1, 2].every((packet) => head[offset + packet * (PACKET_BYTES + offset)] === SYNC));

/** Detects a file's type from its first bytes. The declared type and the file name are ignored. */
export const sniff = (head: Uint8Array): MediaType => {
  const signatures = new Set(filetypeinfo(head).map((guess) => guess.typename));
  if (signatures.has("webm")) signatures.delete(isWebm(head) ? "mkv" : "webm");
  const served = SERVED.find(([signature]) => signatures.has(signature))?.[1];
  return served ?? (isTransportStream(head) ? TRANSPORT_STREAM : isSvg(head) ? VECTOR : UNKNOWN);
};

/** The type for a file that has audio but no video. */
export const asSound = (mediaType: MediaType): MediaType => SOUNDS[mediaType.contentType] ?? mediaType;

/** True if the type belongs to one of the families. An empty list accepts every type. */
export const isAccepted = (mediaType: MediaType, accept: readonly string[]): boolean =>
  accept.length === 0 || mediaType.families.some((family) => accept.includes(family));
