/** Small images of images and videos, and loudness curves of audio. They are rendered on first request. */

import { createHash } from "node:crypto";
import { DomainError, unavailable } from "@nodeloom/kernel";
import { createSlots, durationHistogram, eventCounter, NoSlot } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import type { BlobStore } from "../blobs/blobs";
import { editStaged } from "../marks/edit-staged";
import type { FindMark } from "../credentials/mark-staged";
import type { MediaObject, Thumbnail } from "../store/media-object";
import type { ObjectStore } from "../store/object-store";
import { WIDTHS, type Width } from "../store/widths";

export interface Thumbnails {
  /**
   * Returns the thumbnail of an object. Renders it if it doesn't exist yet.
   * @throws DomainError UNSUPPORTED_MEDIA_TYPE if none can be rendered, SERVICE_UNAVAILABLE if none can be rendered now
   */
  get(object: MediaObject, width: Width): Promise<Thumbnail>;
}

export interface ThumbnailsDeps {
  store: Pick<ObjectStore, "byKey" | "addThumbnail">;
  blobs: Pick<BlobStore, "stage" | "remove">;
  findMark: FindMark;
  /** @throws DomainError */
  render(key: string, width: Width): Promise<{ data: Uint8Array; contentType: string }>;
}

/** Concurrent renderings, queue length, maximum wait, and how long failures are cached. */
export const THUMBNAILS = { concurrency: 4, waiting: 500, maxWaitMs: 15_000, failureMs: 10 * 60_000, failures: 10_000 } as const;
const MAX_BYTES = 4 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 2;
const FAMILIES = /^(image|video|audio)\//;

const rendered = eventCounter("nodeloom.media.thumbnails", "thumbnails, by what became of them");
const took = durationHistogram("nodeloom.media.thumbnail.duration", "how long thumbnails took, with their wait");

const impossible = (): DomainError => new DomainError("invalid", "UNSUPPORTED_MEDIA_TYPE", "this file has no thumbnail");

/** True for errors caused by the file, for which a retry would also fail. */
const isOfTheFile = (error: unknown): boolean => error instanceof DomainError && (error.kind === "failed" || error.kind === "invalid");

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(bytes);
}

export const createThumbnails = ({ store, blobs, findMark, render }: ThumbnailsDeps): Thumbnails => {
  const turns = createSlots({ concurrency: THUMBNAILS.concurrency, queueLimit: THUMBNAILS.waiting });
  const making = new Map<string, Promise<Thumbnail>>();
  const failed = new LRUCache<string, true>({ max: THUMBNAILS.failures, ttl: THUMBNAILS.failureMs });

  /** Stores a rendering. If two processes store one concurrently, the first is kept. */
  const keep = async (object: MediaObject, width: Width, data: Uint8Array, contentType: string): Promise<Thumbnail> => {
    const received = await blobs.stage(once(data), MAX_BYTES);
    let staged = received;
    try {
      if (object.sourceType) staged = await editStaged(blobs, received, await findMark(received, contentType, object.sourceType));
      const { bytes, sha256 } = staged;
      const blob = createHash("sha256").update(`${object.blob}\n${width}\n${sha256}`).digest("hex");
      const thumbnail = { blob, bytes, sha256, contentType };
      await staged.keep(blob);
      if (await store.addThumbnail(object.id, width, thumbnail)) return thumbnail;
      const other = (await store.byKey(object.key))?.thumbnails?.[width];
      if (other?.blob !== blob) await blobs.remove(blob);
      if (!other) throw unavailable("the file is being removed");
      return other;
    } finally {
      await Promise.all([received.discard(), staged.discard()]);
    }
  };

  const make = async (object: MediaObject, width: Width): Promise<Thumbnail> => {
    const startedAt = Date.now();
    // The object may have been read before another request stored the thumbnail.
    const stored = (await store.byKey(object.key))?.thumbnails?.[width];
    if (stored) return stored;
    try {
      const { data, contentType } = await turns.use(() => render(object.key, width), {
        key: object.ownerId,
        maxWaitMs: THUMBNAILS.maxWaitMs,
      });
      const thumbnail = await keep(object, width, data, contentType);
      rendered({ outcome: "made" });
      took(Date.now() - startedAt);
      return thumbnail;
    } catch (error) {
      rendered({ outcome: isOfTheFile(error) ? "failed" : "unavailable" });
      if (isOfTheFile(error)) {
        failed.set(object.id, true);
        throw impossible();
      }
      if (error instanceof NoSlot) throw unavailable("too many thumbnails are being made", RETRY_AFTER_SECONDS);
      throw error;
    }
  };

  return {
    get: async (object, requestedWidth) => {
      const [family] = FAMILIES.exec(object.contentType)?.slice(1) ?? [];
      if (family === undefined || failed.has(object.id)) throw impossible();
      // Loudness curves have a single width.
      const width = family === "audio" ? WIDTHS[0] : requestedWidth;
      const thumbnail = object.thumbnails?.[width];
      if (thumbnail) return thumbnail;
      const name = `${object.id} ${width}`;
      const task = making.get(name) ?? make(object, width).finally(() => making.delete(name));
      making.set(name, task);
      return task;
    },
  };
};
