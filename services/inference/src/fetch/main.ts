import { setTimeout as delay } from "node:timers/promises";
import {
  assetsFolders,
  foldersOf,
  isRunning,
  readProgress,
  unsupported,
  type Asset,
  type Assets,
  type DownloadProgress as Progress,
} from "@nodeloom/platform";
import { ASSETS } from "./assets";
import { fetchAssets } from "./fetch-assets";
import { isWanted } from "./on-request";
import { pictureAsset } from "./picture-assets";

/**
 * `node services/inference/dist/fetch/main.js` downloads missing files of local models, including requested ones (`on-request.ts`). It
 * prints its progress and sends it to a parent process.
 */

const MB = 1_000_000;
const STEP = 0.1;
const OTHER_LOOK_MS = 1_000;

const progressText = ({ fetchedBytes, totalBytes }: Progress): string =>
  `${Math.round(fetchedBytes / MB)} of ${Math.round(totalBytes / MB)} MB`;

type Printer = (progress: Progress) => void;

const createPrinter = (): Printer => {
  let printed = -1;
  return (progress) => {
    process.send?.(progress, undefined, undefined, () => undefined);
    const share = progress.totalBytes === 0 ? 1 : progress.fetchedBytes / progress.totalBytes;
    if (share < 1 && share - printed < STEP) return;
    if (share === printed) return;
    printed = share;
    process.stdout.write(`${progressText(progress)}\n`);
  };
};

/** Prints the progress of another process's download until the download ends. */
const follow = async (root: string, print: Printer): Promise<void> => {
  for (let progress = await readProgress(root); progress && isRunning(progress.pid) && progress.state === "fetching";) {
    print(progress);
    await delay(OTHER_LOOK_MS);
    progress = await readProgress(root);
  }
};

/** Requested assets that are in no other folder. */
const wantedAssets = async (folders: readonly string[]): Promise<Assets> => {
  const there = await foldersOf(folders, ASSETS);
  const missing = Object.entries<Asset>(ASSETS).filter(([name]) => isWanted(name) && !Object.hasOwn(there, name));
  const assets = missing.map(async ([name, asset]) => [name, asset.kind === "folder" ? await pictureAsset(process.env) : asset] as const);
  return Object.fromEntries(await Promise.all(assets));
};

const main = async (): Promise<number> => {
  const reason = unsupported();
  if (reason !== undefined) {
    process.stderr.write(`The models of this machine can't run here: ${reason}\n`);
    return 1;
  }
  const [root, ...folders] = assetsFolders(process.env);
  const assets = await wantedAssets(folders);
  const print = createPrinter();
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  if (process.send) process.once("disconnect", () => stop.abort(new Error("the parent is gone")));
  let progress = await fetchAssets({ root, assets, onProgress: print, signal: stop.signal });
  while (!progress) {
    await follow(root, print);
    await delay(OTHER_LOOK_MS, undefined, { signal: stop.signal });
    progress = await fetchAssets({ root, assets, onProgress: print, signal: stop.signal });
  }
  for (const [name, why] of Object.entries(progress.failures)) process.stderr.write(`${name} could not be had: ${why}\n`);
  return progress.state === "done" ? 0 : 1;
};

void main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
