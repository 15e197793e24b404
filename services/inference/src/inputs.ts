import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { EgressError, type EgressClient } from "@nodeloom/platform";
import { InputError } from "./engines/engine";

/** Stores input files in a folder, by downloading or decoding them. */

const MAX_BYTES = 50 * 1_024 * 1_024;
const TIMEOUT_MS = 60_000;
const REDIRECTS = 3;
const DATA_URL = /^data:([a-z]+)\/[^;,]+(?:;[^;,]+)*;base64,/i;

export interface FileSources {
  /** Source of the platform's own files: their public URL prefix, and the internal base URL, which can be a private address. */
  own: { prefix: string; base: string; client: EgressClient } | undefined;
  /** Client for all other files. */
  other: EgressClient;
}

const fromData = async (url: string, path: string): Promise<void> => {
  const head = DATA_URL.exec(url)?.[0];
  if (head === undefined) throw new InputError("a data URL must be in base64");
  const bytes = Buffer.from(url.slice(head.length), "base64");
  if (bytes.length > MAX_BYTES) throw new InputError(`the file has more than ${MAX_BYTES} bytes`);
  await writeFile(path, bytes);
};

/** A file's key, optionally with the query of a signed URL. */
const SIGNED_KEY = /^[\w.-]+(?:\?[\w=&.-]*)?$/;

/** Returns the internal URL of one of the platform's own files; undefined for other URLs. */
const ownAddress = ({ own }: FileSources, url: string): string | undefined => {
  if (!own || !url.startsWith(own.prefix)) return undefined;
  const key = url.slice(own.prefix.length);
  if (!SIGNED_KEY.test(key)) throw new InputError("there is no such file");
  return own.base + key;
};

const fromAddress = async (sources: FileSources, url: string, path: string, signal?: AbortSignal): Promise<void> => {
  const own = ownAddress(sources, url);
  const bounds = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, ...(signal ? { signal } : {}) };
  const { status, body } = await (own === undefined
    ? sources.other.stream({ url, maxRedirects: REDIRECTS, ...bounds })
    : sources.own!.client.stream({ url: own, maxRedirects: 0, ...bounds }));
  if (status !== 200) {
    for await (const _ of body) break;
    throw new InputError(`the file's address answers ${status}`);
  }
  await pipeline(body, createWriteStream(path));
};

/**
 * Stores a request's input files in its folder.
 * @param files URLs or data URLs, by input
 * @throws InputError with the name of the input
 */
export const bringFiles = async (
  sources: FileSources,
  files: Readonly<Record<string, string>>,
  folder: string,
  signal?: AbortSignal,
): Promise<Record<string, string>> => {
  const paths: Record<string, string> = {};
  for (const [name, url] of Object.entries(files)) {
    const path = join(folder, `input-${name}`);
    try {
      await (url.startsWith("data:") ? fromData(url, path) : fromAddress(sources, url, path, signal));
    } catch (error) {
      if (!(error instanceof EgressError) && !(error instanceof InputError)) throw error;
      throw new InputError(`${name}: ${error.message}`);
    }
    paths[name] = path;
  }
  return paths;
};
