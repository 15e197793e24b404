import { createHash, randomUUID } from "node:crypto";
import { open, readdir, rm, stat, type FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { DomainError } from "@nodeloom/kernel";
import type { FileSummary, StagedBlob } from "./blobs";
import { makeFolder } from "./folders";
import { HEAD_BYTES } from "../sniff";

/** Received bytes in a temporary file. */
export interface StagedFile extends Omit<StagedBlob, "keep"> {
  /** Call it after renaming the file, so that `discard` does nothing. */
  moved(): void;
}

export interface Staging {
  /** @throws DomainError PAYLOAD_TOO_LARGE above maxBytes. If the source fails, the received bytes are deleted. */
  stage(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StagedFile>;
  /** Stages a file that the caller creates at a path. If that fails, it is deleted. */
  stageFile(create: (path: string) => Promise<FileSummary>): Promise<StagedFile>;
  /** @throws if the folder is unusable */
  check(): Promise<void>;
}

const TEMPORARY = "tmp";
const WRITE_BYTES = 512 * 1024;
/** Age after which a temporary file of another machine counts as abandoned. */
const ABANDONED_AFTER_MS = 60 * 60 * 1_000;
const SEPARATOR = "~";

/** Temporary files that this process is writing, in all its stores. */
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

/** True if the process that wrote the file has ended, or the file is old. */
const isAbandoned = async (folder: string, name: string): Promise<boolean> => {
  const [host, pid] = name.split(SEPARATOR);
  if (host === hostname()) return Number(pid) === process.pid ? !writing.has(name) : !isAlive(Number(pid));
  const { mtimeMs } = await stat(join(folder, name));
  return Date.now() - mtimeMs > ABANDONED_AFTER_MS;
};

const sweep = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) if (await isAbandoned(folder, name)) await rm(join(folder, name), { force: true });
};

const DISK_FULL: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT"]);
/** The folder is missing, read-only, or its disk fails. */
const DISK_UNUSABLE: ReadonlySet<string | undefined> = new Set(["EACCES", "EIO", "ENODEV", "ENOENT", "EPERM", "EROFS", "ESTALE"]);
const unusable = (problem: string): DomainError => new DomainError("unavailable", "SERVICE_UNAVAILABLE", `${problem}: retry later`);
const diskFull = (): DomainError => unusable("the disk for files is full");

/** Maps an error of the disk to a failure that callers retry. Other errors stay the same. */
export const diskFailure = (error: unknown): unknown => {
  const { code } = error as NodeJS.ErrnoException;
  if (DISK_FULL.has(code)) return diskFull();
  return DISK_UNUSABLE.has(code) ? unusable(`the folder for files can't be written (${code})`) : error;
};

/** Batches small chunks into larger writes. */
const gatheringWriter = (handle: FileHandle) => {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (bytes === 0) return;
    const { bytesWritten } = await handle.writev(waiting);
    if (bytesWritten !== bytes) throw diskFull();
    waiting = [];
    bytes = 0;
  };
  const write = async (piece: Uint8Array): Promise<void> => {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes >= WRITE_BYTES) await flush();
  };
  return { write, flush };
};

const writeAll = async (handle: FileHandle, source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<FileSummary> => {
  const hash = createHash("sha256");
  const heads: Uint8Array[] = [];
  const { write, flush } = gatheringWriter(handle);
  let bytes = 0;
  for await (const chunk of source) {
    if (bytes < HEAD_BYTES) heads.push(chunk.subarray(0, HEAD_BYTES - bytes));
    bytes += chunk.length;
    if (bytes > maxBytes) throw new DomainError("invalid", "PAYLOAD_TOO_LARGE", `the file is larger than ${maxBytes} bytes`);
    hash.update(chunk);
    await write(chunk);
  }
  await flush();
  return { bytes, sha256: hash.digest("hex"), head: Buffer.concat(heads) };
};

/** Opens a folder for received bytes. Deletes files of processes that have ended. */
export const openStaging = async (root: string): Promise<Staging> => {
  const folder = join(root, TEMPORARY);
  await makeFolder(folder);
  await sweep(folder);
  const stageFile: Staging["stageFile"] = async (create) => {
    const name = temporaryName();
    const path = join(folder, name);
    let isMoved = false;
    const moved = (): void => void (isMoved = true);
    const discard = async (): Promise<void> => {
      if (!isMoved) await rm(path, { force: true });
      writing.delete(name);
    };
    writing.add(name);
    try {
      return { ...(await create(path)), path, discard, moved };
    } catch (error) {
      await discard();
      throw diskFailure(error);
    }
  };

  return {
    stageFile,
    stage: (source, maxBytes) =>
      stageFile(async (path) => {
        const handle = await open(path, "wx");
        try {
          return await writeAll(handle, source, maxBytes);
        } finally {
          await handle.close();
        }
      }),
    check: async () => {
      await readdir(folder);
    },
  };
};
