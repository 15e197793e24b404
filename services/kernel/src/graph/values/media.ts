import { isMedia, type MediaValue } from "./value";

/** Families of files. A 3D model is a GLB file (binary glTF). */
export const MEDIA_FAMILIES = ["image", "video", "audio", "model3d"] as const;
export type MediaFamily = (typeof MEDIA_FAMILIES)[number];

/** Types of ports that carry files. A mask is an image file in which white is selected; `media` is a file of any family. */
export const FILE_TYPES = ["image", "mask", "video", "audio", "model3d", "media"] as const;
export type FileType = (typeof FILE_TYPES)[number];

/** The media family of the files that a port takes; undefined for any family. */
export const familyOfPort = (type: FileType): MediaFamily | undefined => (type === "mask" ? "image" : type === "media" ? undefined : type);

const RESULT_FAMILIES: ReadonlyMap<string, MediaFamily> = new Map([
  ["images", "image"],
  ["videos", "video"],
  ["audios", "audio"],
  ["models3d", "model3d"],
]);

/** The media family of a result member such as `images`; undefined for members with other values. */
export const resultFamily = (name: string): MediaFamily | undefined => RESULT_FAMILIES.get(name);

/** The result member for a port, such as `images` for `image`. */
export const resultMember = (port: string): string => [...RESULT_FAMILIES].find(([, family]) => family === port)?.[0] ?? port;

const MEDIA_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const TYPED = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)\s*[;,]/i;
/** A generic content type. It says nothing about the content. */
const UNTOLD = "application/octet-stream";
const BASE64_HEAD = /^data:[^,]*;\s*base64\s*,/i;
const HEAD_CHARS = 220;
/** Whitespace in base64 (plain or percent-encoded), and percent-encoded base64 characters. */
const ENCODED = /\s|%(?:0[ad]|20|2b|2f|3d)/gi;
const SIGNS: Readonly<Record<string, string>> = { "%2b": "+", "%2f": "/", "%3d": "=" };
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** True for a text that is a media id and can't be a URL. */
export const isMediaId = (value: unknown): value is string => typeof value === "string" && MEDIA_ID.test(value) && !URL.canParse(value);

/** Splits a base64 data URL into its head and its data, as plain base64. Returns undefined for other URLs. */
export const readDataUrl = (url: string): { head: string; data: string } | undefined => {
  const head = BASE64_HEAD.exec(url.slice(0, HEAD_CHARS))?.[0];
  if (head === undefined) return undefined;
  const data = url.slice(head.length);
  // Avoids copying large files.
  if (BASE64.test(data)) return { head, data };
  const plain = data.replace(ENCODED, (sign) => SIGNS[sign.toLowerCase()] ?? "");
  return BASE64.test(plain) ? { head, data: plain } : undefined;
};

export const isDataUrl = (value: unknown): value is string => typeof value === "string" && /^data:/i.test(value);

/** The content type that a data URL declares; undefined if it is missing or generic. */
export const dataUrlType = (url: string): string | undefined => {
  const type = TYPED.exec(url.slice(0, HEAD_CHARS))?.[1]?.toLowerCase();
  return type === UNTOLD ? undefined : type;
};

/** True if the data URL can be decoded. Base64 data needs no content type, because its bytes are inspected. */
const isReadable = (url: string): boolean => {
  const head = url.slice(0, HEAD_CHARS);
  return BASE64_HEAD.test(head) ? readDataUrl(url) !== undefined : TYPED.test(head);
};

/** Outcome of storing a data URL: a file, a problem, or neither if it stays unchanged. */
export interface DataFile {
  /** The file. Its URL works only after the file is stored. */
  file?: MediaValue;
  problem?: string;
  isPending?: boolean;
}

/** True for an http(s) URL, a data URL, or a media id. */
export const isMediaReference = (value: string): boolean => {
  if (isDataUrl(value)) return isReadable(value);
  if (URL.canParse(value)) return /^https?:$/.test(new URL(value).protocol);
  return MEDIA_ID.test(value);
};

/** First part of content types that isn't the name of their family. */
const MODEL_TYPE = "model";

/** The first part of a content type, or the media family that it stands for. */
const family = (contentType: string): string => {
  const first = contentType.split("/")[0]!.toLowerCase();
  return first === MODEL_TYPE ? "model3d" : first;
};

export const mediaFamily = (contentType: string): MediaFamily | undefined => MEDIA_FAMILIES.find((one) => one === family(contentType));

/** The media family of a file, if it is known before the file is fetched. */
const familyOf = (value: unknown): string | undefined => {
  // A data URL may have no type before it is stored.
  if (isMedia(value)) return family(value.contentType) || undefined;
  const type = typeof value === "string" ? dataUrlType(value) : undefined;
  return type === undefined ? undefined : family(type);
};

export const fileOf = (family: string): string =>
  ({
    image: "an image",
    mask: "a mask (an image file)",
    video: "a video",
    audio: "an audio file",
    model3d: "a 3D model (a GLB file)",
  })[family] ?? "a file in a format that isn't supported";

/** The problem of using a known value as a file for a port, or undefined. */
export const mediaProblem = (takes: FileType, value: unknown): string | undefined => {
  const what = takes === "media" ? "a file" : fileOf(takes);
  if (!isMedia(value) && !(typeof value === "string" && isMediaReference(value)))
    return `must be ${what}: an http(s) URL, a data URL or a media id`;
  const [portFamily, valueFamily] = [familyOfPort(takes), familyOf(value)];
  return portFamily === undefined || valueFamily === undefined || valueFamily === portFamily
    ? undefined
    : `must be ${what}, but is ${fileOf(valueFamily)}`;
};

const INNER = "inner:";

/**
 * Owner of files that a run creates inside a graph that its runner can't read. It isn't an account, so the files appear in no list, export
 * or provenance. Files in the result become the user's when the run ends.
 */
export const innerOwner = (userId: string): string => INNER + userId;

export const isInnerOwner = (ownerId: string): boolean => ownerId.startsWith(INNER);

/** Returns the account for an owner or an inner owner. */
export const accountOf = (ownerId: string): string => (isInnerOwner(ownerId) ? ownerId.slice(INNER.length) : ownerId);
