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
const DATA_URL = /^data:(([a-z0-9.+-]+)\/[a-z0-9.+-]+)[;,]/i;
/** Where the bytes of a data URL begin. */
const BASE64_DATA = /^data:[^,]{1,200};base64,/i;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** True for what can only be the id of an uploaded file: no URL, and formed like one. */
export const isMediaId = (value: unknown): value is string => typeof value === "string" && MEDIA_ID.test(value) && !URL.canParse(value);

const hasReadableData = (url: string): boolean => {
  const head = BASE64_DATA.exec(url)?.[0];
  return head === undefined || BASE64.test(url.slice(head.length));
};

export const isDataUrl = (value: unknown): value is string => typeof value === "string" && /^data:/i.test(value);

/** The type that a data URL declares, such as `image/png`. */
export const dataUrlType = (url: string): string | undefined => DATA_URL.exec(url)?.[1]?.toLowerCase();

/** What has become of a data URL that is given for a file: a file of ours, a reason why it can't be one, or neither, when it stays as it is. */
export interface DataFile {
  /** The file; before it is stored, its address leads nowhere. */
  file?: MediaValue;
  problem?: string;
  isPending?: boolean;
}

/** An http(s) URL, a data URL, or a media id. */
export const isMediaReference = (value: string): boolean => {
  if (/^data:/i.test(value)) return DATA_URL.test(value) && hasReadableData(value);
  if (URL.canParse(value)) return /^https?:$/.test(new URL(value).protocol);
  return MEDIA_ID.test(value);
};

const family = (contentType: string): string => contentType.split("/")[0]!.toLowerCase();

/** The family of files with a content type; undefined where it is of none. */
export const mediaFamily = (contentType: string): MediaFamily | undefined => MEDIA_FAMILIES.find((one) => one === family(contentType));

/** The family of a file, as far as it can be told before it is fetched. */
const familyOf = (value: unknown): string | undefined => {
  if (isMedia(value)) return family(value.contentType);
  const type = typeof value === "string" ? DATA_URL.exec(value)?.[2] : undefined;
  return type?.toLowerCase();
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
