import { isMedia, type MediaValue } from "./value";

/** The families of files; what a port for files takes. */
export const MEDIA_FAMILIES = ["image", "video", "audio"] as const;
export type MediaFamily = (typeof MEDIA_FAMILIES)[number];

const RESULT_FAMILIES: ReadonlyMap<string, MediaFamily> = new Map(MEDIA_FAMILIES.map((family) => [`${family}s`, family]));

/** The kind of files that a member of a run's result carries; undefined for members that carry values. */
export const resultFamily = (name: string): MediaFamily | undefined => RESULT_FAMILIES.get(name);

/** The member of a run's result that takes what leaves a port: `images` for `image`. */
export const resultMember = (port: string): string => [...RESULT_FAMILIES].find(([, family]) => family === port)?.[0] ?? port;

const MEDIA_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const TYPED = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)\s*[;,]/i;
/** A type that says nothing of what the bytes are. */
const UNTOLD = "application/octet-stream";
const BASE64_HEAD = /^data:[^,]*;\s*base64\s*,/i;
const HEAD_CHARS = 220;
/** Line breaks and blanks in base64, also as they are encoded in a URL, and its signs that are encoded there. */
const ENCODED = /\s|%(?:0[ad]|20|2b|2f|3d)/gi;
const SIGNS: Readonly<Record<string, string>> = { "%2b": "+", "%2f": "/", "%3d": "=" };
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** True for what can only be the id of an uploaded file: no URL, and formed like one. */
export const isMediaId = (value: unknown): value is string => typeof value === "string" && MEDIA_ID.test(value) && !URL.canParse(value);

/** A data URL in base64, taken apart: what stands before its data, and the data as plain base64. Undefined for any other. */
export const readDataUrl = (url: string): { head: string; data: string } | undefined => {
  const head = BASE64_HEAD.exec(url.slice(0, HEAD_CHARS))?.[0];
  if (head === undefined) return undefined;
  const data = url.slice(head.length);
  // A copy of a large file is made only where that has to be.
  if (BASE64.test(data)) return { head, data };
  const plain = data.replace(ENCODED, (sign) => SIGNS[sign.toLowerCase()] ?? "");
  return BASE64.test(plain) ? { head, data: plain } : undefined;
};

export const isDataUrl = (value: unknown): value is string => typeof value === "string" && /^data:/i.test(value);

/** The type that a data URL declares, such as `image/png`; undefined where it declares none, or any bytes. */
export const dataUrlType = (url: string): string | undefined => {
  const type = TYPED.exec(url.slice(0, HEAD_CHARS))?.[1]?.toLowerCase();
  return type === UNTOLD ? undefined : type;
};

/** Whether the bytes of a data URL can be told from it. One in base64 needs no type: the bytes say what they are. */
const isReadable = (url: string): boolean => {
  const head = url.slice(0, HEAD_CHARS);
  return BASE64_HEAD.test(head) ? readDataUrl(url) !== undefined : TYPED.test(head);
};

/** What has become of a data URL that is given for a file: a file of ours, a reason why it can't be one, or neither, when it stays as it is. */
export interface DataFile {
  /** The file; before it is stored, its address leads nowhere. */
  file?: MediaValue;
  problem?: string;
  isPending?: boolean;
}

/** An http(s) URL, a data URL, or a media id. */
export const isMediaReference = (value: string): boolean => {
  if (isDataUrl(value)) return isReadable(value);
  if (URL.canParse(value)) return /^https?:$/.test(new URL(value).protocol);
  return MEDIA_ID.test(value);
};

const family = (contentType: string): string => contentType.split("/")[0]!.toLowerCase();

/** The family of files with a content type; undefined where it is of none. */
export const mediaFamily = (contentType: string): MediaFamily | undefined => MEDIA_FAMILIES.find((one) => one === family(contentType));

/** The family of a file, as far as it can be told before it is fetched. */
const familyOf = (value: unknown): string | undefined => {
  // A data URL that is not stored yet may have no type.
  if (isMedia(value)) return family(value.contentType) || undefined;
  const type = typeof value === "string" ? dataUrlType(value) : undefined;
  return type === undefined ? undefined : family(type);
};

export const fileOf = (family: string): string =>
  ({ image: "an image", video: "a video", audio: "an audio file" })[family] ?? `a file of the kind ${family}`;

/** What is wrong with a known value for a port that takes files, or undefined. */
export const mediaProblem = (takes: MediaFamily | "media", value: unknown): string | undefined => {
  const what = takes === "media" ? "a file" : fileOf(takes);
  if (!isMedia(value) && !(typeof value === "string" && isMediaReference(value)))
    return `must be ${what}: an http(s) URL, a data URL or a media id`;
  const found = familyOf(value);
  return takes === "media" || found === undefined || found === takes ? undefined : `must be ${what}, but is ${fileOf(found)}`;
};

const INNER = "inner:";

/**
 * Who owns the files that a run of a user's makes inside a graph that the user can't read: no account, so that no list, export or
 * provenance shows them. Those that the result names become the user's when the run ends.
 */
export const innerOwner = (userId: string): string => INNER + userId;

export const isInnerOwner = (ownerId: string): boolean => ownerId.startsWith(INNER);
