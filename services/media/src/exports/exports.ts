/** Archives of account data. Each account has at most one, which expires after a day. */
import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { DomainError, expiresBefore, RETENTION, unavailable } from "@nodeloom/kernel";
import type { BlobStore } from "../blobs/blobs";
import type { Blobs, ExportStore, StoredExport } from "./export-store";

/** Maximum size of an archive, far above the exporter's own bounds. */
const MAX_BYTES = 8 * 1024 ** 3;
const NAME_BYTES = 32;
const DAY_MS = 86_400_000;
export const EXPORT_LIFETIME_MS = RETENTION.accountExports.days * DAY_MS;

export interface Exports {
  /** Stores an archive and replaces the previous one. @param readEnd called after all bytes are read */
  put(ownerId: string, bytes: AsyncIterable<Uint8Array>, readEnd: () => { isPartial: boolean }): Promise<StoredExport>;
  find(ownerId: string): Promise<StoredExport | undefined>;
  /** @throws NOT_FOUND */
  read(ownerId: string): Promise<Readable>;
  /** @returns false if the owner has no archive */
  remove(ownerId: string): Promise<boolean>;
  /** Removes expired and incomplete archives. @returns the number of removed archives */
  removeExpired(limit: number): Promise<number>;
}

export interface ExportsDeps {
  store: ExportStore;
  blobs: Pick<BlobStore, "stage" | "read" | "remove">;
  now?: () => Date;
}

export const createExports = ({ store, blobs, now = () => new Date() }: ExportsDeps): Exports => {
  const removeBytes = async (names: Blobs | null): Promise<void> => {
    for (const name of [names?.blob, names?.pending]) if (name) await blobs.remove(name);
  };

  const remove = async (ownerId: string): Promise<boolean> => {
    const names = await store.blobsOf(ownerId);
    if (!names) return false;
    await removeBytes(names);
    return store.remove(ownerId, names);
  };

  return {
    put: async (ownerId, bytes, readEnd) => {
      const blob = randomBytes(NAME_BYTES).toString("hex");
      const staged = await blobs.stage(bytes, MAX_BYTES);
      try {
        const { isPartial } = readEnd();
        const earlier = await store.begin(ownerId, blob, now());
        if (earlier?.pending) await blobs.remove(earlier.pending);
        await staged.keep(blob);
        const createdAt = now();
        const expiresAt = new Date(createdAt.getTime() + EXPORT_LIFETIME_MS);
        const stored = { ownerId, blob, bytes: staged.bytes, isPartial, createdAt, expiresAt };
        const before = await store.finish(stored);
        if (!before) {
          await blobs.remove(blob);
          throw unavailable("another archive of the account is being stored");
        }
        if (before.blob) await blobs.remove(before.blob);
        return stored;
      } finally {
        await staged.discard();
      }
    },
    find: (ownerId) => store.find(ownerId, now()),
    read: async (ownerId) => {
      const row = await store.find(ownerId, now());
      const bytes = row && (await blobs.read(row.blob));
      if (!bytes) throw new DomainError("not_found", "NOT_FOUND", "the account has no archive, or its archive has expired");
      return bytes;
    },
    remove,
    removeExpired: async (limit) => {
      const expired = await store.begunBefore(expiresBefore(RETENTION.accountExports, now()), limit);
      let removed = 0;
      for (const ownerId of expired) if (await remove(ownerId)) removed += 1;
      return removed;
    },
  };
};
