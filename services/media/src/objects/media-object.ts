/** A stored file. Never changes once it exists. */
export interface MediaObject {
  id: string;
  /** The public name in its URL: random bits of its own, so that nobody who knows the id has the file. */
  key: string;
  ownerId: string;
  contentType: string;
  bytes: number;
  sha256: string;
  /** Name of its bytes in the blob store. */
  blob: string;
  createdAt: Date;
  origin: Origin;
  /** Token under which it counts against its owner's quota. */
  countedBy?: string | undefined;
}

/** Whether a person brought a file or a run made it. */
export type Origin = "upload" | "generated";

/** True for what stays until it is deleted, and counts against its owner's quota: uploads, and what was kept. */
export const isCounted = ({ origin, countedBy }: Pick<MediaObject, "origin" | "countedBy">): boolean =>
  origin === "upload" || Boolean(countedBy);
