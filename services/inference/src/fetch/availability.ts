import * as downloads from "@nodeloom/platform";
import { ASSETS, type AssetName } from "./assets";
import { howToAsk, requestOf } from "./on-request";

/** Availability of models' files. See `assetsFolders` for `roots`. */

/** The name with which a model's downloads are requested; undefined if all of them are downloaded by default. */
const requestOfAll = (names: readonly AssetName[]): string | undefined => names.map(requestOf).find((one) => one !== undefined);

export const isOnRequest = (names: readonly AssetName[]): boolean => requestOfAll(names) !== undefined;

const assetsNamed = (names: readonly AssetName[]): downloads.Assets => Object.fromEntries(names.map((name) => [name, ASSETS[name]]));

/** Existing folders of a model's assets. */
export const foldersOf = (roots: readonly string[], names: readonly AssetName[]): Promise<Record<string, string>> =>
  downloads.foldersOf(roots, assetsNamed(names));

export const availabilityOf = (roots: readonly string[], names: readonly AssetName[]): Promise<downloads.Availability> => {
  const request = requestOfAll(names);
  return downloads.availabilityOf(roots, assetsNamed(names), request === undefined ? undefined : howToAsk(request));
};
