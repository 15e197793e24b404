import type { PackageAsset } from "@nodeloom/platform";
import { EMBEDDING_ASSETS } from "./embedding-assets";
import { LANGUAGE_ASSETS } from "./language-assets";
import { RESTORE_ASSETS } from "./restore-assets";
import { VOICE_ASSETS } from "./voice-assets";

/** Assets that are downloaded only on request, by name. `LOCAL_VOICES=on` or `--voices` requests `voices`. */
export const ON_REQUEST = {
  voices: VOICE_ASSETS,
  languages: LANGUAGE_ASSETS,
  restore: RESTORE_ASSETS,
  embeddings: EMBEDDING_ASSETS,
} as const satisfies Record<string, Record<string, PackageAsset>>;

const variableOf = (name: string): string => `LOCAL_${name.toUpperCase().replaceAll("-", "_")}`;

const isAsked = (name: string): boolean => process.env[variableOf(name)] === "on" || process.argv.includes(`--${name}`);

/** The name with which an asset is requested; undefined if it is downloaded by default. */
export const requestOf = (asset: string): string | undefined =>
  Object.entries(ON_REQUEST).find(([, assets]) => Object.hasOwn(assets, asset))?.[0];

export const isWanted = (asset: string): boolean => {
  const request = requestOf(asset);
  return request === undefined || isAsked(request);
};

/** Explains how to request a download. */
export const howToAsk = (name: string): string =>
  `its files are fetched on request: ${variableOf(name)}=on npm start, or node services/inference/dist/fetch/main.js --${name}`;
