import type { Asset } from "@nodeloom/platform";
import { EMBEDDING_ASSETS } from "./embedding-assets";
import { LANGUAGE_ASSETS } from "./language-assets";
import { LIST_VARIABLE, PICTURE_ASSETS } from "./picture-assets";
import { RESTORE_ASSETS } from "./restore-assets";
import { VOICE_ASSETS } from "./voice-assets";

/** Assets that are downloaded only on request, by name. `LOCAL_VOICES=on` or `--voices` requests `voices`. */
export const ON_REQUEST = {
  voices: VOICE_ASSETS,
  languages: LANGUAGE_ASSETS,
  restore: RESTORE_ASSETS,
  embeddings: EMBEDDING_ASSETS,
  pictures: PICTURE_ASSETS,
} as const satisfies Record<string, Record<string, Asset>>;

const variableOf = (name: string): string => `LOCAL_${name.toUpperCase().replaceAll("-", "_")}`;

const isAsked = (name: string): boolean => process.env[variableOf(name)] === "on" || process.argv.includes(`--${name}`);

/** The name with which an asset is requested; undefined if it is downloaded by default. */
export const requestOf = (asset: string): string | undefined =>
  Object.entries(ON_REQUEST).find(([, assets]) => Object.hasOwn(assets, asset))?.[0];

export const isWanted = (asset: string): boolean => {
  const request = requestOf(asset);
  return request === undefined || isAsked(request);
};

const HOW_TO_GET_PICTURES =
  `its files aren't there: put a model's ${PICTURE_ASSETS.pictures.required.join(", ")} into the folder pictures of LOCAL_MODELS_DIR, or name ` +
  `their address in ${LIST_VARIABLE} and start with LOCAL_PICTURES=on: see docs/guide/local-models.md#local-pictures`;

/** Explains how to request a download. */
export const howToAsk = (name: string): string => {
  if (name in PICTURE_ASSETS) return HOW_TO_GET_PICTURES;
  return `its files are fetched on request: ${variableOf(name)}=on npm start, or node services/inference/dist/fetch/main.js --${name}`;
};
