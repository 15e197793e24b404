import { withSignature } from "../document/signatures";

/** Origin of files during development; empty otherwise. */
declare const GATEWAY_ORIGIN: string;

/** True if the console runs from its sources. */
export const isDevelopment = typeof GATEWAY_ORIGIN === "string" && GATEWAY_ORIGIN !== "";

/**
 * Converts a value to an address for `src` or `href`: the service's own files, or https; undefined otherwise. No other code may do this.
 */
export const safeUrl = (value: unknown): string | undefined => {
  if (typeof value !== "string" || !URL.canParse(value, location.origin)) return undefined;
  const url = new URL(value, location.origin);
  if (GATEWAY_ORIGIN !== "" && url.origin === GATEWAY_ORIGIN) return safeUrl(url.pathname + url.search);
  if (url.origin === location.origin && url.pathname.startsWith("/media/")) return withSignature(url.href);
  return url.protocol === "https:" ? url.href : undefined;
};

/** A picture inside an address, for `src`; undefined for any other value. */
export const pictureDataUrl = (value: unknown): string | undefined =>
  typeof value === "string" && /^data:image\/(?:jpeg|png);base64,[\w+/]+=*$/.test(value) ? value : undefined;

/** True for the service's own files, which the page can embed. Others are links. */
export const isOwnMedia = (url: string): boolean => new URL(url, location.origin).origin === location.origin;

export type MediaFamily = "image" | "video" | "audio" | "model3d";
const EXTENSIONS: readonly (readonly [RegExp, MediaFamily])[] = [
  [/\.(png|jpe?g|gif|webp|avif|svg)$/i, "image"],
  [/\.(mp4|webm|mov)$/i, "video"],
  [/\.(mp3|wav|ogg|flac|m4a|aac)$/i, "audio"],
  [/\.glb$/i, "model3d"],
];

/** Media type of an address, if it shows one. */
export const familyOfUrl = (url: string): MediaFamily | undefined =>
  EXTENSIONS.find(([pattern]) => pattern.test(new URL(url, location.origin).pathname))?.[1];

/** An address without the signature, which each response renews. */
export const unsigned = (url: string): string => url.split("?")[0]!;
