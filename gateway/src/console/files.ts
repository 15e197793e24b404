import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import type { Request, Response } from "express";

/** Encodings that the build leaves beside a file, the smallest first, by the ending of their names. */
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;
const COMPRESSED: ReadonlySet<string> = new Set(ENCODINGS.map(([, ending]) => ending));

type Encoding = (typeof ENCODINGS)[number][0];

/** A file of the console, with its compressed copies. */
export interface ConsoleFile {
  extension: string;
  content: Buffer;
  encoded: ReadonlyMap<Encoding, Buffer>;
  /** Of its content. */
  hash: string;
}

/** Every file of a folder, by its path from there (`/assets/index-abc.js`). */
export const readFiles = (folder: string): ReadonlyMap<string, ConsoleFile> => {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length).split(sep).join("/"), readFileSync(path)] as const;
    }),
  );
  return new Map(
    [...contents]
      .filter(([path]) => !COMPRESSED.has(extname(path)))
      .map(([path, content]) => {
        const encoded = new Map(
          ENCODINGS.flatMap(([name, ending]): [Encoding, Buffer][] => {
            const copy = contents.get(`${path}${ending}`);
            return copy === undefined ? [] : [[name, copy]];
          }),
        );
        const hash = createHash("sha256").update(content).digest("base64url");
        return [path, { extension: extname(path), content, encoded, hash }];
      }),
  );
};

/** The part of a file that is asked for, as browsers ask for sounds and films; undefined for all of it. */
const partOf = (request: Request, bytes: number): { start: number; end: number } | undefined => {
  const asked = request.range(bytes);
  return Array.isArray(asked) && asked.type === "bytes" && asked.length === 1 ? asked[0] : undefined;
};

/** Answers with a file in the smallest encoding that the client takes, or with a part of one that has none; 304 where it has it already. */
export const sendFile = ({ extension, content, encoded, hash }: ConsoleFile, request: Request, response: Response): void => {
  // Of several encodings the client's order would decide; the build's does.
  const encoding = ENCODINGS.map(([name]) => name).find((name) => encoded.has(name) && request.acceptsEncodings(name) === name);
  if (encoding !== undefined) response.setHeader("Content-Encoding", encoding);
  response.setHeader("ETag", `"${hash}${encoding === undefined ? "" : `-${encoding}`}"`);
  response.type(extension);
  const part = encoded.size === 0 ? partOf(request, content.length) : undefined;
  if (!part) return void response.send(encoding === undefined ? content : encoded.get(encoding));
  response.status(206).setHeader("Content-Range", `bytes ${part.start}-${part.end}/${content.length}`);
  response.send(content.subarray(part.start, part.end + 1));
};
