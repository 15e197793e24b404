import * as downloads from "@nodeloom/platform";
import { ASSETS, REQUESTED, type AssetName } from "./assets";

/** Whether the files of models are there. `roots`: folders that have them, as of `assetsFolders`. */

const ON_REQUEST = "its files are fetched on request: LOCAL_VOICES=on npm start, or node services/inference/dist/fetch/main.js --voices";

export const isOnRequest = (names: readonly AssetName[]): boolean => names.some((name) => REQUESTED.has(name));

const named = (names: readonly AssetName[]): downloads.Assets => Object.fromEntries(names.map((name) => [name, ASSETS[name]]));

/** The folders of a model's assets that are there. */
export const foldersOf = (roots: readonly string[], names: readonly AssetName[]): Promise<Record<string, string>> =>
  downloads.foldersOf(roots, named(names));

export const availabilityOf = (roots: readonly string[], names: readonly AssetName[]): Promise<downloads.Availability> =>
  downloads.availabilityOf(roots, named(names), isOnRequest(names) ? ON_REQUEST : undefined);
