import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { Refusal, EXIT } from "./outcome";

/** Addresses of the files in a result, each named after its member. */
export const filesIn = (result: Readonly<Record<string, unknown>>): { name: string; url: string }[] => {
  const files: { name: string; url: string }[] = [];
  const visit = (name: string, value: unknown): void => {
    if (Array.isArray(value)) return value.forEach((item, index) => visit(value.length === 1 ? name : `${name}-${index + 1}`, item));
    if (typeof value !== "object" || value === null) return;
    const { url } = value as { url?: unknown };
    if (typeof url === "string" && /^https?:/.test(url)) files.push({ name, url });
  };
  for (const [name, value] of Object.entries(result)) visit(name, value);
  return files;
};

const isFolder = async (path: string): Promise<boolean> => {
  if (path.endsWith("/")) return true;
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
};

export const download = async (url: string, path: string): Promise<void> => {
  const response = await fetch(url);
  if (!response.ok || response.body === null) throw new Refusal(`${url} answered ${response.status}`, EXIT.failed);
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.part`;
  try {
    await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
};

/**
 * Saves the files of a result.
 * @param output a path for a single file, or a folder for all
 * @returns the paths
 * @throws Refusal if there is no file, or several files for one path
 */
export const saveFiles = async (result: Readonly<Record<string, unknown>>, output: string): Promise<string[]> => {
  const files = filesIn(result);
  const [first, ...others] = files;
  if (!first) throw new Refusal(`the result has no files to save as ${output}`, EXIT.failed);
  if (!(await isFolder(output))) {
    if (others.length > 0)
      throw new Refusal(`the result has ${files.length} files: give a folder instead of ${output} (${basename(output)}/)`, EXIT.failed);
    await download(first.url, output);
    return [output];
  }
  const saved: string[] = [];
  for (const { name, url } of files) {
    const path = join(output, `${name.replaceAll(/[^\p{L}\p{N}._-]/gu, "_")}${extname(new URL(url).pathname)}`);
    await download(url, path);
    saved.push(path);
  }
  return saved;
};
