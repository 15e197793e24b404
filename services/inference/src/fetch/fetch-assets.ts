import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { assetFolder, isRunning, writeProgress, type Asset, type DownloadProgress as Progress } from "@nodeloom/platform";
import { fill } from "./fill";
import { SUMS_FILE, sumsOf } from "./fill-folder";
import { WrongContent } from "./wrong-content";

/** Downloads missing assets sequentially. An asset is either complete or missing, and is never downloaded twice. */

export interface FetchOptions {
  /** Folder of all assets. */
  root: string;
  assets: Readonly<Record<string, Asset>>;
  /** Called at most twice a second. */
  onProgress?: (progress: Progress) => void;
  /** Pauses before retries. There are as many retries as pauses. */
  pausesMs?: readonly number[];
  signal?: AbortSignal;
  /** Returns the free bytes on a folder's disk. */
  freeBytes?: (folder: string) => Promise<number>;
}

const PAUSES_MS = [2_000, 10_000, 30_000, 60_000, 120_000];
/** Older versions of pip report an interrupted download as a hash mismatch, so mismatches are retried. */
const WRONG_TRIES = 2;
const LOOK_MS = 500;
const MB = 1_000_000;
const DISK_FULL = /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/i;

const freeBytesOf = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

const bytesBelow = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        stat(join(entry.parentPath, entry.name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};

/** Allows one download per folder at a time. @returns a function that releases the lock, or undefined if another process holds it */
const takeLock = async (root: string): Promise<(() => Promise<void>) | undefined> => {
  const path = join(root, "lock");
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const file = await open(path, "wx");
      await file.writeFile(String(process.pid));
      await file.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const holder = Number(await readFile(path, "utf8").catch(() => ""));
      if (holder > 0 && isRunning(holder)) return undefined;
      await rm(path, { force: true });
    }
  }
  return undefined;
};

/** Removes files that killed downloads left. */
const removeDrafts = async (root: string): Promise<void> => {
  for (const name of await readdir(root)) if (name.startsWith("draft-")) await rm(join(root, name), { recursive: true, force: true });
};

interface Draft {
  folder: string;
  temporary: string;
}

/** Downloads into a private folder, then moves it to its final path. */
const fetchOne = async (options: FetchOptions, name: string, asset: Asset, draftOf: (draft: Draft) => void): Promise<void> => {
  const { root, signal, freeBytes = freeBytesOf } = options;
  const free = await freeBytes(root);
  const needed = Math.ceil(asset.diskBytes / MB);
  if (free < asset.diskBytes)
    throw new Error(`the disk of ${root} is full: ${name} needs ${needed} MB, and ${Math.floor(free / MB)} MB are free`);
  // The unfinished download of a folder is kept, because its files are large.
  const isKept = asset.kind === "folder";
  const folder = assetFolder(root, name, asset);
  const base = isKept ? join(dirname(folder), `partial-${name}`) : join(root, `draft-${randomBytes(6).toString("hex")}`);
  const draft = { folder: join(base, "content"), temporary: join(base, "temporary") };
  await mkdir(draft.folder, { recursive: true });
  await mkdir(draft.temporary, { recursive: true });
  draftOf(draft);
  let isDone = false;
  try {
    await fill(asset, { ...draft, signal });
    // Another list of files replaces a folder.
    if (isKept) await rm(folder, { recursive: true, force: true });
    await rename(draft.folder, folder);
    isDone = true;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (DISK_FULL.test(message)) throw new Error(`the disk of ${root} is full: ${name} needs ${needed} MB`, { cause: error });
    throw error;
  } finally {
    if (isDone || !isKept) await rm(base, { recursive: true, force: true });
  }
};

const isFetched = (root: string, name: string, asset: Asset): boolean => {
  const folder = assetFolder(root, name, asset);
  if (asset.kind !== "folder") return existsSync(folder);
  const sums = join(folder, SUMS_FILE);
  return existsSync(sums) && readFileSync(sums, "utf8") === sumsOf(asset);
};

/**
 * @returns the final progress, in which `failures` has the errors by asset; undefined if another process downloads into the folder
 * @throws the signal's reason
 */
export const fetchAssets = async (options: FetchOptions): Promise<Progress | undefined> => {
  const { root, assets, onProgress = () => undefined, pausesMs = PAUSES_MS, signal } = options;
  await mkdir(root, { recursive: true });
  const unlock = await takeLock(root);
  if (!unlock) return undefined;
  const wantedAssetsList = Object.entries(assets);
  const totalBytes = wantedAssetsList.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  const failures: Record<string, string> = {};
  const whole = (): number => wantedAssetsList.reduce((sum, [name, asset]) => sum + (isFetched(root, name, asset) ? asset.bytes : 0), 0);
  const startedAt = Date.now();
  let shownBytes = 0;
  const tell = async (state: Progress["state"], underWay = 0): Promise<Progress> => {
    let remainingBytes = -underWay;
    const missing = wantedAssetsList.filter(([name, asset]) => !isFetched(root, name, asset));
    const leftUntil = Object.fromEntries(missing.map(([name, { bytes }]) => [name, Math.max(0, Math.round((remainingBytes += bytes)))]));
    // The progress doesn't decrease while an asset is retried.
    shownBytes = state === "fetching" ? Math.max(shownBytes, Math.round(whole() + underWay)) : whole();
    const progress = {
      pid: process.pid,
      state,
      fetchedBytes: shownBytes,
      totalBytes,
      startedAt,
      assets: Object.keys(assets),
      left: leftUntil,
      failures,
    };
    await writeProgress(root, progress);
    onProgress(progress);
    return progress;
  };

  const watched = async (name: string, asset: Asset): Promise<void> => {
    let draft: Draft | undefined;
    const look = async (): Promise<void> => {
      const isDirect = asset.kind === "npm" || asset.kind === "folder";
      const bytes = draft ? (await bytesBelow(draft.temporary)) + (isDirect ? await bytesBelow(draft.folder) : 0) : 0;
      const share = asset.kind === "npm" ? asset.bytes / asset.installedBytes : 1;
      // The asset may have been completed while its unfinished download was measured.
      await tell("fetching", isFetched(root, name, asset) ? 0 : Math.min(asset.bytes, bytes * share));
    };
    const end = new AbortController();
    const looks = (async (): Promise<void> => {
      while (!end.signal.aborted) {
        await look();
        await delay(LOOK_MS, undefined, { signal: end.signal }).catch(() => undefined);
      }
    })();
    try {
      await fetchOne(options, name, asset, (result) => (draft = result));
    } finally {
      end.abort();
      await looks;
    }
  };

  const fetchPatiently = async (name: string, asset: Asset): Promise<void> => {
    let wrong = 0;
    for (const pauseMs of [0, ...pausesMs]) {
      await delay(pauseMs, undefined, { signal });
      try {
        await watched(name, asset);
        delete failures[name];
        return;
      } catch (error) {
        signal?.throwIfAborted();
        failures[name] = error instanceof Error ? error.message : String(error);
        if (error instanceof WrongContent && ++wrong >= WRONG_TRIES) return;
      }
    }
  };

  try {
    await removeDrafts(root);
    for (const [name, asset] of wantedAssetsList) if (!isFetched(root, name, asset)) await fetchPatiently(name, asset);
    return await tell(Object.keys(failures).length > 0 ? "failed" : "done");
  } finally {
    await unlock();
  }
};
