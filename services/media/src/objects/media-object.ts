import type { UnsignedReason } from "../credentials/claim";
import type { SourceType } from "../marks/xmp";
import type { Measured } from "../measure/measure";
import type { Making } from "../provenance/making";
import type { Width } from "../thumbnails/widths";

/** A stored file. Immutable, except for its status. */
export interface MediaObject extends Measured {
  id: string;
  /** Public name in its URL: random, so that the id alone doesn't give access. */
  key: string;
  ownerId: string;
  contentType: string;
  bytes: number;
  sha256: string;
  /** SHA-256 before marks were added; absent if no mark was added. */
  contentHash?: string | undefined;
  /** Blob name. */
  blob: string;
  createdAt: Date;
  /** Last reuse by a run; restarts the retention period of a generated file. */
  renewedAt?: Date | undefined;
  origin: Origin;
  /** The marked source type; absent if no model or program generated the file. */
  sourceType?: SourceType | undefined;
  /** Set for files that runs generated. */
  making?: Making | undefined;
  /** Generated files: whether the file has a signed manifest of this installation. Absent for files from before there were any. */
  signed?: boolean | undefined;
  /** Reason for a generated file without a signature. */
  unsigned?: UnsignedReason | undefined;
  /** By width. They don't count against the quota and are deleted with the object. */
  thumbnails?: Partial<Record<Width, Thumbnail>> | undefined;
  /** Token under which it counts against its owner's quota. */
  countedBy?: string | undefined;
  /** For a held file: required in its URL beside the key. */
  look?: string | undefined;
  /** Read by signed addresses. Absent for files that were made when all addresses were open. */
  private?: boolean | undefined;
  /** The owner lets everyone read it. */
  public?: boolean | undefined;
}

/** A small image of a file, or the loudness curve of audio. */
export type Thumbnail = Pick<MediaObject, "blob" | "bytes" | "sha256" | "contentType">;

export type Origin = "upload" | "generated";

/** True for files that stay until they are deleted, and count against the quota: uploads and kept files. */
export const isCounted = ({ origin, countedBy }: Pick<MediaObject, "origin" | "countedBy">): boolean =>
  origin === "upload" || Boolean(countedBy);
