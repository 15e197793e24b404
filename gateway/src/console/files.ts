import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import type { Request, Response } from "express";

/** Encodings stored beside a file by the build, smallest first, with their extensions. */
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;
const COMPRESSED: ReadonlySet<string> = new Set(ENCODINGS.map(([, ending]) => ending));

type Encoding = (typeof ENCODINGS)[number][0];

export interface ConsoleFile {
  extension: string;
  content: Buffer;
  encoded: ReadonlyMap<Encoding, Buffer>;
  hash: string;
}

export const readFile = (path: string): ConsoleFile => {
  const content = readFileSync(path);
  const copies = ENCODINGS.filter(([, ending]) => existsSync(path + ending));
  return {
    extension: extname(path),
    content,
    encoded: new Map(copies.map(([name, ending]) => [name, readFileSync(path + ending)])),
    hash: createHash("sha256").update(content).digest("base64url"),
  };
};

/** Files of a folder by path (`/assets/index-abc.js`). */
export const readFiles = (folder: string): ReadonlyMap<string, ConsoleFile> => {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const files = paths.filter((path) => !COMPRESSED.has(extname(path)));
  return new Map(files.map((path) => [path.slice(folder.length).split(sep).join("/"), readFile(path)]));
};

/** Range requested for audio and video; undefined for the whole file. */
const partOf = (request: Request, bytes: number): { start: number; end: number } | undefined => {
  const ranges = request.range(bytes);
  return Array.isArray(ranges) && ranges.type === "bytes" && ranges.length === 1 ? ranges[0] : undefined;
};

/** Sends a file in the smallest accepted encoding, or a range of an unencoded file; 304 if the client has it. */
export const sendFile = ({ extension, content, encoded, hash }: ConsoleFile, request: Request, response: Response): void => {
  // Prefers the build's order over the client's.
  const encoding = ENCODINGS.map(([name]) => name).find((name) => encoded.has(name) && request.acceptsEncodings(name) === name);
  if (encoding !== undefined) response.setHeader("Content-Encoding", encoding);
  response.setHeader("ETag", `"${hash}${encoding === undefined ? "" : `-${encoding}`}"`);
  response.type(extension);
  const part = encoded.size === 0 ? partOf(request, content.length) : undefined;
  if (!part) return void response.send(encoding === undefined ? content : encoded.get(encoding));
  response.status(206).setHeader("Content-Range", `bytes ${part.start}-${part.end}/${content.length}`);
  response.send(content.subarray(part.start, part.end + 1));
};
