import { access } from "node:fs/promises";
import { assetFolder, type Asset } from "./asset";
import { isRunning, readProgress, type Progress } from "./progress";
import { unsupported } from "./support";

/** Tells whether a download can be used now, and if not, why and when. */

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

/** Seconds until `leftBytes` are downloaded at the speed so far. Before the first byte: as long as the download has lasted. */
const waitOf = ({ fetchedBytes, startedAt }: Progress, leftBytes: number): number => {
  const seconds = Math.max(1, (Date.now() - startedAt) / 1_000);
  const rest = fetchedBytes > 0 ? leftBytes / (fetchedBytes / seconds) : seconds;
  return Math.ceil(Math.min(MAX_WAIT_SECONDS, Math.max(MIN_WAIT_SECONDS, rest)));
};

/**
 * Folders of the available assets, by name.
 * @param roots folders from `assetsFolders`; the first that has an asset wins
 */
export const foldersOf = async (roots: readonly string[], assets: Assets): Promise<Record<string, string>> => {
  const places = Object.entries(assets).flatMap(([name, asset]) => roots.map((root) => ({ name, folder: assetFolder(root, name, asset) })));
  const present = await Promise.all(places.map(({ folder }) => exists(folder)));
  const found = places.filter((_, index) => present[index]).reverse();
  return Object.fromEntries(found.map(({ name, folder }) => [name, folder]));
};

/**
 * Availability of a set of assets as a whole.
 * @param roots folders from `assetsFolders`; downloads go into the first
 * @param notFetched the reason and the remedy if nothing has been downloaded
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
