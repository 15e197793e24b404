import * as downloads from "@nodeloom/platform";
import { ASSETS, type AssetName } from "./assets";

/** Whether the files of models are there. */

const named = (names: readonly AssetName[]): downloads.Assets => Object.fromEntries(names.map((name) => [name, ASSETS[name]]));

/** The folders of a model's assets that are there. */
export const foldersOf = (root: string, names: readonly AssetName[]): Promise<Record<string, string>> =>
  downloads.foldersOf(root, named(names));

export const availabilityOf = (root: string, names: readonly AssetName[]): Promise<downloads.Availability> =>
  downloads.availabilityOf(root, named(names));
