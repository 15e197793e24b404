/** Covers and thumbnails, which are public for templates. */

import { LIMITS, mediaPrefix, type Issue } from "@nodeloom/kernel";
import type { ClientOf } from "@nodeloom/platform";
import type { media } from "@nodeloom/proto";
import type { Settings, Workflow } from "./workflow";

export type Media = ClientOf<media.MediaServiceServer>;

/** Covers and thumbnails. Everyone who lists templates sees them, so they can refer only to files in media storage. */
export interface Pictures {
  /** Problems of changed pictures. Unchanged pictures stay valid even after PUBLIC_BASE_URL changes. */
  issues(changes: Partial<Settings>, current: Pick<Workflow, "thumbnail" | "coverJson"> | undefined): Issue[];
  /** True for the URL of a file in media storage. */
  isOurs(address: string): boolean;
  /** Returns the URL of a file in media storage. */
  addressOf(key: string): string;
  /** Returns a cover for other users, without URLs outside media storage. */
  safeCover(coverJson: string): string;
  safeThumbnail(thumbnail: string | null): string | null;
}

const KEY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,260}$/;
const INLINE = /^data:image\//i;
const SVG = /^data:image\/svg/i;
const MEMBERS = ["image", "video"] as const;

export const isInline = (thumbnail: string): boolean => /^data:/i.test(thumbnail);

const parsed = (coverJson: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(coverJson);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/**
 * @param baseUrl public base URL of the platform
 * @param formerBaseUrls base URLs that it had before
 */
export const createPictures = (baseUrl: string, formerBaseUrls: readonly string[] = []): Pictures => {
  const prefix = mediaPrefix(baseUrl);
  const ownPrefixes = [prefix, "/media/", ...formerBaseUrls.map(mediaPrefix)];
  const isOurs = (address: string): boolean =>
    ownPrefixes.some((start) => address.startsWith(start) && KEY.test(address.slice(start.length)));

  const thumbnailIssues = (thumbnail: string): Issue[] => {
    const path = "thumbnail";
    if (thumbnail === "" || isOurs(thumbnail)) return [];
    if (!INLINE.test(thumbnail))
      return [{ path, message: "must be the address of an uploaded file (POST /api/media), or an image as a data URL" }];
    if (SVG.test(thumbnail)) return [{ path, message: "is an SVG, which can contain code: send a PNG, JPEG, WebP, GIF or AVIF" }];
    const isTooLong = Buffer.byteLength(thumbnail) > LIMITS.inlineThumbnailBytes;
    return isTooLong
      ? [{ path, message: `is longer than ${LIMITS.inlineThumbnailBytes} bytes: upload the file, and send its address` }]
      : [];
  };

  const coverIssues = (coverJson: string, current: string): Issue[] => {
    const [cover, coverAddresses] = [parsed(coverJson), Object.values(parsed(current))];
    return MEMBERS.flatMap((member) => {
      const address = cover[member];
      if (address === undefined || address === null || address === "" || coverAddresses.includes(address)) return [];
      if (typeof address === "string" && isOurs(address)) return [];
      return [{ path: `cover.${member}`, message: "must be the address of an uploaded file (POST /api/media)" }];
    });
  };

  return {
    isOurs,
    addressOf: (key) => prefix + key,
    issues: ({ thumbnail, coverJson }, current) => [
      ...(thumbnail && thumbnail !== current?.thumbnail ? thumbnailIssues(thumbnail) : []),
      ...(coverJson ? coverIssues(coverJson, current?.coverJson ?? "") : []),
    ],
    safeCover: (coverJson) => {
      const cover = parsed(coverJson);
      const isSafe = MEMBERS.every((member) => cover[member] === undefined || cover[member] === null || isOurs(String(cover[member])));
      return isSafe ? coverJson : "";
    },
    safeThumbnail: (thumbnail) => (thumbnail && (isOurs(thumbnail) || INLINE.test(thumbnail)) ? thumbnail : null),
  };
};
