import type { SourceType } from "../marks/xmp";
import type { Measured } from "../measure/measure";
import type { Making } from "../provenance/making";
import type { Width } from "../thumbnails/widths";

/** A stored file. Never changes once it exists. */
export interface MediaObject extends Measured {
  id: string;
  /** The public name in its URL: random bits of its own, so that nobody who knows the id has the file. */
  key: string;
  ownerId: string;
  contentType: string;
  bytes: number;
  sha256: string;
  /** SHA-256 before marks were added; absent where that is the same. */
  contentHash?: string | undefined;
  /** Name of its bytes in the blob store. */
  blob: string;
  createdAt: Date;
  /** When a run took it over last: a generated file is kept as long from then on as a new one. */
  renewedAt?: Date | undefined;
  origin: Origin;
  /** How it came to be, as it says itself; absent for what no model or program made. */
  sourceType?: SourceType | undefined;
  /** What made it, where a run did. */
  making?: Making | undefined;
  /** Those that were made, by their width. They don't count, and go with the object. */
  thumbnails?: Partial<Record<Width, Thumbnail>> | undefined;
  /** Token under which it counts against its owner's quota. */
  countedBy?: string | undefined;
  /** Of a file that is held: what its URL must say beside its key. */
  look?: string | undefined;
}

/** A small picture of a file, or what is drawn of a sound. */
export type Thumbnail = Pick<MediaObject, "blob" | "bytes" | "sha256" | "contentType">;

/** Whether a person brought a file or a run made it. */
export type Origin = "upload" | "generated";

/** True for what stays until it is deleted, and counts against its owner's quota: uploads, and what was kept. */
export const isCounted = ({ origin, countedBy }: Pick<MediaObject, "origin" | "countedBy">): boolean =>
  origin === "upload" || Boolean(countedBy);
