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
  /** Absent on files of earlier versions; see `originOf`. */
  origin?: Origin | undefined;
  /** Token under which it counts against its owner's quota. */
  countedBy?: string | undefined;
}

/** Whether a person brought a file or a run made it. */
export type Origin = "upload" | "generated";

/** Ids of what runs make: <executionId>-<node>-<item>-<n>. */
const GENERATED_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-\d+)+$/;

export const originOf = ({ id, origin }: Pick<MediaObject, "id" | "origin">): Origin =>
  origin ?? (GENERATED_ID.test(id) ? "generated" : "upload");

/** True for what stays until it is deleted, and counts against its owner's quota: uploads, and what was kept. */
export const isCounted = (object: Pick<MediaObject, "id" | "origin" | "countedBy">): boolean =>
  originOf(object) === "upload" || Boolean(object.countedBy);
