import type { MediaFile } from "@nodeloom/client";
import { familyOfUrl, safeUrl, type MediaFamily } from "./url";

/** A file that a run created. */
export interface OutputFile {
  url: string;
  family: MediaFamily | undefined;
  /** Text such as "1024 × 768, PNG"; undefined if unknown. */
  format?: string | undefined;
  /** True for a mask, which is shown over its picture. */
  isMask?: true;
  /** Address of the picture of a mask, if it is known. */
  over?: string | undefined;
}

const FAMILIES: ReadonlyMap<string, MediaFamily> = new Map([
  ["images", "image"],
  ["image", "image"],
  ["videos", "video"],
  ["video", "video"],
  ["audios", "audio"],
  ["audio", "audio"],
  ["models3d", "model3d"],
  ["model3d", "model3d"],
]);

type Values = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

export const familyOfType = (contentType: unknown): MediaFamily | undefined => {
  const family = typeof contentType === "string" ? contentType.split("/")[0] : undefined;
  if (family === "model") return "model3d";
  return family === "image" || family === "video" || family === "audio" ? family : undefined;
};

/** A library file for display; undefined without a safe address. */
export const fileOf = ({ url: address, contentType }: Pick<MediaFile, "url" | "contentType">): OutputFile | undefined => {
  const url = safeUrl(address);
  return url === undefined ? undefined : { url, family: familyOfType(contentType) ?? familyOfUrl(url) };
};

/** Size and type of a file, as in a run. */
const formatOf = ({ width, height, contentType }: Readonly<Record<string, unknown>>): string | undefined => {
  const pixels = typeof width === "number" && typeof height === "number" ? `${width} × ${height}` : undefined;
  const kind = typeof contentType === "string" ? contentType.split("/")[1]?.split(/[+;]/)[0]?.toUpperCase() : undefined;
  return [pixels, kind].filter(Boolean).join(", ") || undefined;
};

const MAX_DEPTH = 6;

/** Files with the service's own or https addresses inside a value. */
export const filesIn = (value: unknown, name = "", depth = 0): OutputFile[] => {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item) => filesIn(item, name, depth + 1));
  if (!isRecord(value)) return [];
  const url = typeof value.url === "string" ? safeUrl(value.url) : undefined;
  if (url !== undefined)
    return [
      {
        url,
        family: familyOfType(value.contentType) ?? FAMILIES.get(name) ?? familyOfUrl(url),
        format: formatOf(value),
        ...(/^masks?$/.test(name) && { isMask: true }),
      },
    ];
  return Object.entries(value).flatMap(([member, inner]) => filesIn(inner, member, depth + 1));
};

/** Texts and other values of a result, by name. */
export const valuesIn = (result: Values): [string, unknown][] =>
  Object.entries(result).filter(
    ([, value]) => filesIn(value).length === 0 && value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
