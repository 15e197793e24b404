import { access } from "node:fs/promises";
import { join } from "node:path";
import { assetFolder, type Asset } from "./asset";
import { isRunning, readProgress, type Progress } from "./progress";
import { unsupported } from "./support";

/** Availability of a download: usable now, or the reason why not and the expected wait. */

export type Availability =
  | { status: "ready" }
  | { status: "downloading"; fetchedBytes: number; totalBytes: number; leftBytes: number; retryAfterSeconds: number }
  | { status: "away"; reason: string };

export type Assets = Readonly<Record<string, Asset>>;

const MIN_WAIT_SECONDS = 5;
const MAX_WAIT_SECONDS = 300;
const NOT_FETCHED =
  "its files were not fetched: start the platform without LOCAL_MODELS=off, or run node services/inference/dist/fetch/main.js";

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Seconds until `leftBytes` are downloaded at the average speed. Before the first byte, the time since the start. */
const waitOf = ({ fetchedBytes, startedAt }: Progress, leftBytes: number): number => {
  const seconds = Math.max(1, (Date.now() - startedAt) / 1_000);
  const rest = fetchedBytes > 0 ? leftBytes / (fetchedBytes / seconds) : seconds;
  return Math.ceil(Math.min(MAX_WAIT_SECONDS, Math.max(MIN_WAIT_SECONDS, rest)));
};

const isComplete = async (folder: string, asset: Asset): Promise<boolean> => {
  const files = asset.kind === "folder" ? asset.required : [""];
  return (await Promise.all(files.map((file) => exists(join(folder, file))))).every(Boolean);
};

/**
 * Folders of the available assets, by name.
 * @param roots folders from `assetsFolders`; the first one that contains an asset is used
 */
export const foldersOf = async (roots: readonly string[], assets: Assets): Promise<Record<string, string>> => {
  const places = Object.entries(assets).flatMap(([name, asset]) =>
    roots.map((root) => ({ name, asset, folder: assetFolder(root, name, asset) })),
  );
  const present = await Promise.all(places.map(({ folder, asset }) => isComplete(folder, asset)));
  const presentPlaces = places.filter((_, index) => present[index]).reverse();
  return Object.fromEntries(presentPlaces.map(({ name, folder }) => [name, folder]));
};

/**
 * Combined availability of several assets.
 * @param roots folders from `assetsFolders`; the first one is for downloads
 * @param notFetched the reason and the remedy to report if nothing has been downloaded
 */
export const availabilityOf = async (roots: readonly string[], assets: Assets, notFetched = NOT_FETCHED): Promise<Availability> => {
  const reason = unsupported();
  if (reason !== undefined) return { status: "away", reason };
  const present = await foldersOf(roots, assets);
  const missing = Object.keys(assets).filter((name) => !Object.hasOwn(present, name));
  if (missing.length === 0) return { status: "ready" };
  const progress = await readProgress(roots[0] ?? "");
  const failure = missing.map((name) => progress?.failures[name]).find((one) => one !== undefined);
  const isUnderWay = progress?.assets === undefined || missing.some((name) => progress.assets?.includes(name));
  if (progress?.state === "fetching" && isUnderWay && isRunning(progress.pid)) {
    const { fetchedBytes, totalBytes, left = {} } = progress;
    const leftBytes = Math.max(0, ...missing.map((name) => left[name] ?? totalBytes - fetchedBytes));
    return { status: "downloading", fetchedBytes, totalBytes, leftBytes, retryAfterSeconds: waitOf(progress, leftBytes) };
  }
  return { status: "away", reason: failure === undefined ? notFetched : `its files could not be fetched: ${failure}` };
};
