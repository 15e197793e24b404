import { access } from "node:fs/promises";
import { assetFolder, type Asset } from "./asset";
import { isRunning, readProgress, type Progress } from "./progress";
import { unsupported } from "./support";

/** Whether what was to be fetched can be used now, and if not, why and when. */

export type Availability =
  | { status: "ready" }
  | { status: "downloading"; fetchedBytes: number; totalBytes: number; retryAfterSeconds: number }
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

/** Until a fetch ends that goes on as fast as it did so far. */
const waitOf = ({ fetchedBytes, totalBytes, startedAt }: Progress): number => {
  const seconds = Math.max(1, (Date.now() - startedAt) / 1_000);
  const rest = (totalBytes - fetchedBytes) / Math.max(1, fetchedBytes / seconds);
  return Math.ceil(Math.min(MAX_WAIT_SECONDS, Math.max(MIN_WAIT_SECONDS, rest)));
};

/** The folders of the assets that are there, by name. */
export const foldersOf = async (root: string, assets: Assets): Promise<Record<string, string>> => {
  const folders = Object.entries(assets).map(([name, asset]): [string, string] => [name, assetFolder(root, name, asset)]);
  const present = await Promise.all(folders.map(([, folder]) => exists(folder)));
  return Object.fromEntries(folders.filter((_, index) => present[index]));
};

/** Of all of the assets together. @param root the folder that they are fetched into */
export const availabilityOf = async (root: string, assets: Assets): Promise<Availability> => {
  const reason = unsupported();
  if (reason !== undefined) return { status: "away", reason };
  const present = await foldersOf(root, assets);
  const missing = Object.keys(assets).filter((name) => !Object.hasOwn(present, name));
  if (missing.length === 0) return { status: "ready" };
  const progress = await readProgress(root);
  const failure = missing.map((name) => progress?.failures[name]).find((one) => one !== undefined);
  if (progress?.state === "fetching" && isRunning(progress.pid)) {
    const { fetchedBytes, totalBytes } = progress;
    return { status: "downloading", fetchedBytes, totalBytes, retryAfterSeconds: waitOf(progress) };
  }
  return { status: "away", reason: failure === undefined ? NOT_FETCHED : `its files could not be fetched: ${failure}` };
};
