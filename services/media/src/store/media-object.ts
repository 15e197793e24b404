import type { SourceType } from "../marks/xmp";
import type { Measurements } from "../measure/measure";
import type { Finding, Making } from "./making";
import type { Width } from "./widths";

/** Reasons why a file has no signature: its format, its size, too many files at once, an error, or the setting. */
export type UnsignedReason = "format" | "size" | "busy" | "failed" | "off";

/** A stored file. Only its status can change. */
export interface MediaObject extends Measurements, Finding {
  id: string;
  /** Public name in the file's URL. It is random, so that the id alone gives no access. */
  key: string;
  ownerId: string;
  contentType: string;
  bytes: number;
  sha256: string;
  /** SHA-256 of the bytes before marks were added; absent if none was added. */
  contentHash?: string | undefined;
  blob: string;
  createdAt: Date;
  /** Time of the last reuse by a run, which restarts the retention period of a generated file. */
  renewedAt?: Date | undefined;
  origin: Origin;
  /** The marked source type; absent if neither a model nor a program generated the file. */
  sourceType?: SourceType | undefined;
  /** Set for files that runs generated. */
  making?: Making | undefined;
  /** True if a generated file has a manifest signed by this installation. Absent for files created before manifests existed. */
  signed?: boolean | undefined;
  /** The reason why a generated file isn't signed. */
  unsigned?: UnsignedReason | undefined;
  /** Thumbnails by width. They don't count against the quota and are deleted with the object. */
  thumbnails?: Partial<Record<Width, Thumbnail>> | undefined;
  /** Quota token; set if the object counts against its owner's quota. */
  countedBy?: string | undefined;
  /** Secret that the URL of a held file needs in addition to the key. */
  look?: string | undefined;
  /** True if reading the file needs a signed URL. Absent for files from before URLs were signed. */
  private?: boolean | undefined;
  /** True if the owner made the file readable by everyone. */
  public?: boolean | undefined;
}

/** A small image of a file, or the loudness curve of an audio file. */
export type Thumbnail = Pick<MediaObject, "blob" | "bytes" | "sha256" | "contentType">;

export type Origin = "upload" | "generated";

/** True for files that count against the quota and stay until they are deleted: uploads and kept files. */
export const isCounted = ({ origin, countedBy }: Pick<MediaObject, "origin" | "countedBy">): boolean =>
  origin === "upload" || Boolean(countedBy);
