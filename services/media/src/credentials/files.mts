/** Manifests in files: C2PA 2.1, https://c2pa.org/specifications/ */

import { JPEG, MP3, PNG, type Asset, type AssetType } from "@trustnxt/c2pa-ts/asset";
import { SuperBox } from "@trustnxt/c2pa-ts/jumbf";
import { Heif, Movie } from "./movie.mjs";
import { Riff } from "./riff.mjs";

const ASSETS: Readonly<Record<string, AssetType>> = {
  "image/png": PNG,
  "image/jpeg": JPEG,
  "image/avif": Heif,
  "image/heif": Heif,
  "image/webp": Riff,
  "video/mp4": Movie,
  "video/quicktime": Movie,
  "audio/mp4": Movie,
  "audio/mpeg": MP3,
  "audio/wav": Riff,
};

/** Reads a file by the name of its format. @returns undefined if it isn't in that format */
export const assetOf = (contentType: string, bytes: Uint8Array): Asset | undefined => {
  const type = ASSETS[contentType];
  return type?.canRead(bytes) ? new type(bytes) : undefined;
};

export const boxOf = (asset: Asset | undefined): SuperBox | undefined => {
  const bytes = asset?.getManifestJUMBF();
  return bytes && SuperBox.fromBuffer(new Uint8Array(bytes));
};
