import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createEgressClient, hostAndPort, linkSignals, type AddressedFile, type EgressClient, type FolderAsset } from "@nodeloom/platform";
import { WrongContent } from "./wrong-content";

/** Downloads the files of a folder from the operator's address. Interrupted downloads continue where they ended. */

const REDIRECTS = 5;
/** Slowest download that is accepted, in bytes per millisecond. */
const SLOWEST = 50;
/** Time without a byte after which a download is ended. */
const STALL_MS = 60_000;
const [OK, PARTIAL] = [200, 206];
/** Lists a folder's files with their hashes, in the format of the program `sha256sum`. */
export const SUMS_FILE = "SHA256SUMS";

export const sumsOf = ({ source }: FolderAsset): string => (source?.files ?? []).map(({ sha256, path }) => `${sha256}  ${path}\n`).join("");

const bytesOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

const sha256Of = async (path: string): Promise<string> => {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
};

/** Appends the missing rest of a file. */
const continueFile = async (
  client: EgressClient,
  url: string,
  { bytes }: AddressedFile,
  part: string,
  signal?: AbortSignal,
): Promise<void> => {
  const present = await bytesOf(part);
  if (present >= bytes) return;
  const { signal: ending, abort, unlink } = linkSignals(...(signal ? [signal] : []));
  const stall = setTimeout(() => abort(new Error(`${url} sent nothing for ${STALL_MS / 1_000} s`)), STALL_MS);
  try {
    const { status, body } = await client.stream({
      url,
      headers: present > 0 ? { range: `bytes=${present}-` } : {},
      maxRedirects: REDIRECTS,
      maxBytes: bytes,
      timeoutMs: STALL_MS + bytes / SLOWEST,
      signal: ending,
    });
    if (status !== OK && status !== PARTIAL) {
      for await (const _ of body) break;
      throw new Error(`${url} answers ${status}`);
    }
    // Each piece is written before the next one is read, so that an interruption loses nothing.
    const output = await open(part, status === PARTIAL ? "a" : "w");
    try {
      for await (const piece of body) {
        stall.refresh();
        await output.writeFile(piece);
      }
    } finally {
      await output.close();
    }
  } finally {
    clearTimeout(stall);
    unlink();
  }
};

export interface FillFolderOptions {
  folder: string;
  temporary: string;
  signal?: AbortSignal | undefined;
}

/** @throws WrongContent */
export const fillFolder = async (asset: FolderAsset, { folder, temporary, signal }: FillFolderOptions): Promise<void> => {
  const { source, problem = "its files have no address" } = asset;
  if (!source) throw new WrongContent(problem);
  const client = createEgressClient({ ownServers: [hostAndPort(source.address)] });
  try {
    for (const [index, file] of source.files.entries()) {
      const path = join(folder, file.path);
      if ((await bytesOf(path)) === file.bytes && (await sha256Of(path)) === file.sha256) continue;
      const part = join(temporary, `${index}.part`);
      await continueFile(client, source.address + file.path, file, part, signal);
      if ((await bytesOf(part)) !== file.bytes || (await sha256Of(part)) !== file.sha256) {
        await rm(part, { force: true });
        throw new WrongContent(`${source.address}${file.path} is not the expected file: its size or sha256 differs`);
      }
      await mkdir(dirname(path), { recursive: true });
      await rename(part, path);
    }
    await writeFile(join(folder, SUMS_FILE), sumsOf(asset));
  } finally {
    await client.close();
  }
};
