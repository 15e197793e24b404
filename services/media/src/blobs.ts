import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { DomainError } from "@nodeloom/kernel";
import { HEAD_BYTES } from "./sniff";

/** Bytes that have arrived whole but have no name yet. */
export interface StagedBlob {
  bytes: number;
  sha256: string;
  /** The first bytes, for sniffing. */
  head: Buffer;
  /** Makes the bytes readable under a name, durably and all at once. Replaces what has the name. */
  keep(name: string): Promise<void>;
  /** Forgets the bytes unless they were kept. */
  discard(): Promise<void>;
}

export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/** Where the bytes live. Names are lower-case hexadecimal. */
export interface BlobStore {
  /** @throws DomainError PAYLOAD_TOO_LARGE past maxBytes; nothing is left behind when the source fails. */
  stage(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StagedBlob>;
  /** The bytes, or undefined when there are none of that name. */
  read(name: string, range?: ByteRange): Promise<Readable | undefined>;
  remove(name: string): Promise<void>;
  /** Fails when the store can't be used. */
  check(): Promise<void>;
}

const TEMPORARY = "tmp";
/** A temporary file of another machine that was not written to for this long belongs to nobody any more. */
const ABANDONED_AFTER_MS = 60 * 60 * 1_000;
const SEPARATOR = "~";

/** Temporary files this process is writing, over all stores in it. */
const writing = new Set<string>();

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

const temporaryName = (): string => [hostname(), process.pid, randomUUID()].join(SEPARATOR);

/** Whether no one can be writing the file any more: its process is gone, or it is old. */
const isAbandoned = async (folder: string, name: string): Promise<boolean> => {
  const [host, pid] = name.split(SEPARATOR);
  if (host === hostname()) return Number(pid) === process.pid ? !writing.has(name) : !isAlive(Number(pid));
  const { mtimeMs } = await stat(join(folder, name));
  return Date.now() - mtimeMs > ABANDONED_AFTER_MS;
};

const sweep = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) if (await isAbandoned(folder, name)) await rm(join(folder, name), { force: true });
};

/** A rename is on disk only once its folder is. */
const syncFolder = async (path: string): Promise<void> => {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const writeAll = async (
  handle: FileHandle,
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Omit<StagedBlob, "keep" | "discard">> => {
  const hash = createHash("sha256");
  const heads: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    if (bytes < HEAD_BYTES) heads.push(chunk.subarray(0, HEAD_BYTES - bytes));
    bytes += chunk.length;
    if (bytes > maxBytes) throw new DomainError("invalid", "PAYLOAD_TOO_LARGE", `the file is larger than ${maxBytes} bytes`);
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  await handle.sync();
  return { bytes, sha256: hash.digest("hex"), head: Buffer.concat(heads) };
};

/**
 * Blobs as files of a folder: written to a temporary file, flushed, then renamed into place, so that a name is either
 * absent or complete whenever the machine stops. Sweeps what earlier processes left unfinished.
 */
export const openFolderBlobs = async (root: string): Promise<BlobStore> => {
  const temporary = join(root, TEMPORARY);
  await mkdir(temporary, { recursive: true });
  await sweep(temporary);
  const pathOf = (name: string): string => join(root, name.slice(0, 2), name.slice(2, 4), name);

  const keep = async (from: string, name: string): Promise<void> => {
    const path = pathOf(name);
    await mkdir(dirname(path), { recursive: true });
    await rename(from, path);
    await syncFolder(dirname(path));
  };

  return {
    stage: async (source, maxBytes) => {
      const name = temporaryName();
      const path = join(temporary, name);
      const discard = async (): Promise<void> => {
        await rm(path, { force: true });
        writing.delete(name);
      };
      writing.add(name);
      try {
        const handle = await open(path, "wx");
        const written = await writeAll(handle, source, maxBytes).finally(() => handle.close());
        return { ...written, keep: (kept) => keep(path, kept), discard };
      } catch (error) {
        await discard();
        throw error;
      }
    },
    read: async (name, range) => {
      const handle = await open(pathOf(name), "r").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      return handle && createReadStream("", { fd: handle, ...range });
    },
    remove: (name) => rm(pathOf(name), { force: true }),
    check: async () => {
      await readdir(temporary);
    },
  };
};
