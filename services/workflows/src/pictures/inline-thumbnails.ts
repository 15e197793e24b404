import { createHash } from "node:crypto";
import { DomainError, invalidRequest, isNotFound } from "@nodeloom/kernel";
import { notApproved } from "../definition/errors";
import type { Workflow } from "../definition/workflow";
import { isInline, type Media } from "../definition/pictures";

/**
 * Stores thumbnails sent as data URLs as files of their workflow. They count against the owner's quota and are deleted when they are
 * replaced.
 */
export interface InlineThumbnails {
  /**
   * Stores a thumbnail. Idempotent per workflow.
   * @returns the key of its file; a thumbnail that isn't a data URL is returned unchanged
   * @throws DomainError ACCOUNT_NOT_APPROVED, MEDIA_QUOTA_EXCEEDED, or INVALID_REQUEST if it isn't an image
   */
  keep(workflow: Of, thumbnail: string | null, allowed: Allowance): Promise<string | null>;
  /** Deletes the file of a replaced thumbnail. */
  drop(workflow: Of & Partial<Pick<Workflow, "slug">>, thumbnail: string | null): Promise<void>;
}

type Of = Pick<Workflow, "creationId" | "createdBy">;

export interface Allowance {
  /** True if the owner's account awaits approval. */
  unapproved: boolean;
  /** The owner's quota in bytes; undefined if there is none. */
  mediaQuota: number | undefined;
}

export interface InlineThumbnailsDeps {
  media: Pick<Media, "ingest" | "keepObject" | "deleteObject">;
  warn(error: unknown, thumbnailId: string): void;
}

const STORE_MS = 10_000;
const ID_CHARS = 40;

/** @param owner the workflow's creationId */
export const thumbnailFileId = (owner: string, thumbnail: string): string =>
  `thumbnail-${createHash("sha256").update(`${owner}\n${thumbnail}`).digest("hex").slice(0, ID_CHARS)}`;

const NO_PICTURE = "isn't a supported image: send a PNG, JPEG, WebP, GIF or AVIF";

/** Converts an error about the bytes to an issue of the thumbnail. */
const asIssue = (error: unknown): unknown => {
  const isOfBytes = error instanceof DomainError && (error.kind === "failed" || error.kind === "invalid");
  return isOfBytes ? invalidRequest([{ path: "thumbnail", message: NO_PICTURE }]) : error;
};

export const createInlineThumbnails = ({ media, warn }: InlineThumbnailsDeps): InlineThumbnails => {
  const remove = async (id: string, ownerId: string): Promise<void> => {
    try {
      await media.deleteObject({ id, ownerId });
    } catch (error) {
      if (!isNotFound(error)) warn(error, id);
    }
  };

  return {
    keep: async ({ creationId, createdBy: ownerId }, thumbnail, { unapproved, mediaQuota: quotaBytes }) => {
      if (!thumbnail || !isInline(thumbnail)) return thumbnail;
      if (unapproved) throw notApproved();
      const id = thumbnailFileId(creationId, thumbnail);
      const request = { id, ownerId, sourceUrl: thumbnail, accept: ["image"], sourceOrigin: 0, making: undefined };
      const { object } = await media.ingest(request, { deadlineMs: STORE_MS }).catch((error: unknown) => {
        throw asIssue(error);
      });
      if (!object) throw new Error("media answered without an object");
      try {
        await media.keepObject({ id, ownerId, quotaBytes }, { deadlineMs: STORE_MS });
      } catch (error) {
        await remove(id, ownerId);
        throw error;
      }
      return object.key;
    },
    drop: async ({ creationId, createdBy, slug }, thumbnail) => {
      if (!thumbnail || !isInline(thumbnail)) return;
      // Old thumbnail files are named after the slug.
      for (const owner of slug === undefined ? [creationId] : [creationId, slug])
        await remove(thumbnailFileId(owner, thumbnail), createdBy);
    },
  };
};
