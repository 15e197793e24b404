/** Manifests in files: C2PA 2.1, https://c2pa.org/specifications/ */

import { BMFF, JPEG, PNG, type Asset, type AssetType } from "@trustnxt/c2pa-ts/asset";
import { SuperBox } from "@trustnxt/c2pa-ts/jumbf";

/** Among several boxes of one type, the library finds none: a manifest beside XMP. Only the manifest's box is looked up as `/uuid`. */
class Heif extends BMFF {
  override getBoxByPath(path: string): ReturnType<BMFF["getBoxByPath"]> {
    if (path !== "/uuid") return super.getBoxByPath(path);
    return this.getTopLevelBoxes().find(({ userType }) => userType && Buffer.compare(userType, Buffer.from(BMFF.c2paBoxUserType)) === 0);
  }
}

const ASSETS: Readonly<Record<string, AssetType>> = { "image/png": PNG, "image/jpeg": JPEG, "image/avif": Heif, "image/heif": Heif };

/** Reads a file by the name of its format. @returns undefined if it isn't in that format */
export const assetOf = (contentType: string, bytes: Uint8Array): Asset | undefined => {
  const type = ASSETS[contentType];
  return type?.canRead(bytes) ? new type(bytes) : undefined;
};

export const boxOf = (asset: Asset | undefined): SuperBox | undefined => {
  const bytes = asset?.getManifestJUMBF();
  return bytes && SuperBox.fromBuffer(new Uint8Array(bytes));
};
