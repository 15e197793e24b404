import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { DomainError, isUnavailable } from "@nodeloom/kernel";
import { observedGauge, startSweeper, uploadParts, type Logger } from "@nodeloom/platform";
import { media as mediaProto } from "@nodeloom/proto";
import type { Media } from "../clients";
import type { Stores } from "../record/stores";
import { isOver } from "../run/states";
import { TIMING } from "../run/timing";

/**
 * Keeps files that providers returned on disk while media can't store them, because they are paid for and can't be requested again. An
 * entry is one file: the length of its upload header (4 bytes), the header, the bytes. Its name is the id of the media file, which begins
 * with the id of its run.
 */

const LENGTH_BYTES = 4;
const UUID_CHARS = 36;
const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const SWEEP_MS = 30_000;
/** Age at which an unfinished entry belongs to a process that has ended. */
const ABANDONED_MS = 3_600_000;
const ENTRY = /^[\w.-]+$/;
const UNFINISHED = ".part";

export interface SpoolOptions {
  folder: string;
  /** Maximum bytes of all entries. */
  maxBytes: number;
  media: Pick<Media, "upload">;
  rows: Pick<Stores["rows"], "statesOf">;
  logger: Logger;
}

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export type Spool = Awaited<ReturnType<typeof openSpool>>;

/** The disk or the spool has no room, or can't be written. */
class NoRoom extends Error {}

/** The id of a file starts with the id of its run. See `mediaId`. */
const executionOf = (id: string): string => id.slice(0, UUID_CHARS);

/** Media rejects the file itself, so another attempt can't succeed. */
const isRejected = (error: unknown): boolean => error instanceof DomainError && !isUnavailable(error);

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0;

/** Opens the spool of this process. Several processes can share a folder. */
export const openSpool = async ({ folder, maxBytes, media, rows, logger }: SpoolOptions) => {
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  /** Entries that a call of this process stores itself. */
  const inUse = new Set<string>();
  let usedBytes = 0;

  const pathOf = (id: string): string => join(folder, id);
  const remove = async (path: string): Promise<void> => {
    const bytes = await sizeOf(path);
    await rm(path, { force: true });
    usedBytes = Math.max(0, usedBytes - bytes);
  };

  const append = async (handle: FileHandle, chunk: Uint8Array): Promise<void> => {
    if (usedBytes + chunk.length > maxBytes) throw new NoRoom("the spool is full");
    usedBytes += chunk.length;
    await handle.appendFile(chunk).catch((error: unknown) => {
      usedBytes -= chunk.length;
      throw new NoRoom("the spool can't be written", { cause: error });
    });
  };

  const write = async (path: string, header: mediaProto.UploadHeader, bytes: Bytes): Promise<void> => {
    const handle = await open(path, "wx", OWNER_ONLY);
    try {
      const head = mediaProto.UploadHeader.encode(header).finish();
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32BE(head.length);
      await append(handle, Buffer.concat([length, head]));
      for await (const chunk of bytes) await append(handle, chunk);
      await handle.sync();
    } finally {
      await handle.close();
    }
  };

  /** Returns the entry's upload, or undefined if the entry doesn't exist. */
  const uploadOf = async (id: string): Promise<AsyncIterable<mediaProto.UploadRequest> | undefined> => {
    const handle = await open(pathOf(id)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (!handle) return undefined;
    try {
      const length = Buffer.alloc(LENGTH_BYTES);
      await handle.read(length, 0, LENGTH_BYTES, 0);
      const head = Buffer.alloc(length.readUInt32BE());
      await handle.read(head, 0, head.length, LENGTH_BYTES);
      const bytes = createReadStream(pathOf(id), { start: LENGTH_BYTES + head.length }) as AsyncIterable<Buffer>;
      return uploadParts(mediaProto.UploadHeader.decode(head), bytes);
    } finally {
      await handle.close();
    }
  };

  const upload = async (id: string): Promise<mediaProto.UploadResponse | undefined> => {
    const parts = await uploadOf(id);
    return parts && media.upload(parts, { deadlineMs: TIMING.direct });
  };

  /** Removes unfinished entries of processes that have ended. @returns ids of the entries */
  const entries = async (): Promise<string[]> => {
    const names = await readdir(folder);
    const unfinished = names.filter((name) => name.endsWith(UNFINISHED));
    for (const name of unfinished) {
      const { mtimeMs } = (await stat(pathOf(name)).catch(() => undefined)) ?? { mtimeMs: Date.now() };
      if (Date.now() - mtimeMs > ABANDONED_MS) await rm(pathOf(name), { force: true });
    }
    const ids = names.filter((name) => ENTRY.test(name) && !name.endsWith(UNFINISHED));
    usedBytes = (await Promise.all(names.map((name) => sizeOf(pathOf(name))))).reduce((sum, bytes) => sum + bytes, 0);
    return ids;
  };

  const store = async (id: string): Promise<mediaProto.UploadResponse | undefined> => {
    try {
      const stored = await upload(id);
      await remove(pathOf(id));
      return stored;
    } catch (error) {
      if (isRejected(error)) await remove(pathOf(id));
      throw error;
    }
  };

  /** Stores entries that an earlier process left, and removes those whose runs have ended, so that erasing a run includes them. */
  const sweep = async (stopping: AbortSignal): Promise<void> => {
    const ids = (await entries()).filter((id) => !inUse.has(id));
    if (ids.length === 0) return;
    const states = await rows.statesOf([...new Set(ids.map(executionOf))]);
    const active = new Set(states.filter((row) => !isOver(row)).map(({ _id }) => _id));
    const needed: string[] = [];
    for (const id of ids) {
      if (active.has(executionOf(id))) needed.push(id);
      else await remove(pathOf(id));
    }
    for (const id of needed) {
      if (stopping.aborted) return;
      if (inUse.has(id)) continue;
      await store(id).catch((err: unknown) => {
        if (!isRejected(err)) throw err;
        logger.error({ err, mediaId: id }, "a file of a provider was removed, because media rejects it");
      });
    }
  };

  await entries();
  const sweeper = startSweeper({
    sweep,
    intervalMs: SWEEP_MS,
    onFailure: (err) => logger.warn({ err }, "files of providers wait on disk until media can store them"),
  });
  const endGauge = observedGauge("nodeloom.spool.bytes", "bytes of files that wait on disk until media can store them", () => [
    { value: usedBytes },
  ]);

  return {
    /**
     * Writes a file to disk. The caller then stores it with `store`.
     * @returns false if the disk or the spool has no room
     */
    keep: async (header: mediaProto.UploadHeader, bytes: Bytes): Promise<boolean> => {
      const path = join(folder, `${header.id}.${randomUUID()}${UNFINISHED}`);
      inUse.add(header.id);
      try {
        await write(path, header, bytes);
        await rename(path, pathOf(header.id));
        return true;
      } catch (error) {
        inUse.delete(header.id);
        await remove(path);
        if (!(error instanceof NoRoom)) throw error;
        logger.warn({ err: error, mediaId: header.id }, "a file of a provider stays in memory until media can store it");
        return false;
      }
    },

    /**
     * Stores a kept file and removes it from the disk, unless media is unavailable. A rejected file is removed, too.
     * @returns undefined if another process has stored it
     */
    store,

    /** Leaves an entry to the sweep, after its call has ended. */
    leave: (id: string): void => void inUse.delete(id),

    stop: async (): Promise<void> => {
      endGauge();
      await sweeper.stop();
    },
  };
};
