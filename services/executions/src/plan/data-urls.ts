import { createHash, randomBytes } from "node:crypto";
import { dataUrlType, DomainError, LIMITS, MEDIA_FAMILIES, mediaFamily, parseJsonText, readDataUrl, type DataFile } from "@nodeloom/kernel";
import { members } from "@nodeloom/kernel/json-text";
import { uploadParts } from "@nodeloom/platform";
import { media as mediaProto } from "@nodeloom/proto";
import type { Media } from "../clients";
import { base64Bytes } from "@nodeloom/providers";
import { mediaValue } from "./files";

/**
 * Stores data URLs in a run's inputs as files of the runner, before the run is recorded. Otherwise each data URL would be written, encoded
 * and sent with the plan, every call and the inputs.
 */

const STARTS = /"data:/gi;
const BACKSLASH = 0x5c;
/** Characters that JSON leaves unescaped. */
const HEAD = /^[^"\\\p{Cc}]+$/u;
const STAND_IN_BYTES = 24;

/** Number of characters that are hashed at once. */
const CHUNK_CHARS = 192 * 1024;
/** Maximum files that one plan stores. The longest data URLs are stored first; the rest stay inline. */
const MOST_FILES = 100;
const STORED_AT_ONCE = 4;
const DAY_MS = 86_400_000;

/** Decodes the characters of a JSON text; undefined if the text ends inside an escape. */
const unescaped = (escapedText: string): string | undefined => {
  if (!escapedText.includes("\\")) return escapedText;
  const parsed = parseJsonText(`"${escapedText}"`)?.value;
  return typeof parsed === "string" ? parsed : undefined;
};

export interface TakenOut {
  /** Inputs in which a short stand-in replaces each long data URL. */
  inputsJson: string;
  /** Long data URLs by their stand-ins. */
  urls: ReadonlyMap<string, string>;
}

/**
 * Replaces long data URLs in a JSON text. They exceed the maximum text length, so they must be files. The stand-in is a data URL of the
 * same type with random bytes. Malformed parts aren't replaced, and planning reports them.
 */
export const takeOutDataUrls = (inputsJson: string): TakenOut => {
  const urls = new Map<string, string>();
  if (inputsJson.length <= LIMITS.textValueBytes) return { inputsJson, urls };
  const parts: string[] = [];
  let keptUpTo = 0;
  STARTS.lastIndex = 0;
  for (let match = STARTS.exec(inputsJson); match; match = STARTS.exec(inputsJson)) {
    const from = match.index + 1;
    const end = inputsJson.indexOf('"', from);
    // Continue after the text in every case, so that each text is read once.
    if (end < 0) break;
    STARTS.lastIndex = end;
    if (end - from <= LIMITS.textValueBytes || inputsJson.charCodeAt(match.index - 1) === BACKSLASH) continue;
    const url = unescaped(inputsJson.slice(from, end));
    const dataUrl = url === undefined ? undefined : readDataUrl(url);
    if (!dataUrl || !HEAD.test(dataUrl.head)) continue;
    const standIn = dataUrl.head + randomBytes(STAND_IN_BYTES).toString("base64url");
    urls.set(standIn, dataUrl.head + dataUrl.data);
    parts.push(inputsJson.slice(keptUpTo, from), standIn);
    keptUpTo = end;
  }
  return { inputsJson: urls.size === 0 ? inputsJson : [...parts, inputsJson.slice(keptUpTo)].join(""), urls };
};

/** Returns the inputs to record: data URLs are replaced with the addresses of their files. */
export const recordedInputs = (inputsJson: string, fileInputs: readonly string[], data: ReadonlyMap<string, DataFile>): string => {
  const inputMembers = members(inputsJson);
  const address = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(address) : typeof value === "string" ? (data.get(value)?.file?.url ?? value) : value;
  for (const name of fileInputs) {
    const json = inputMembers.get(name);
    if (json !== undefined) inputMembers.set(name, JSON.stringify(address(JSON.parse(json))));
  }
  return `{${[...inputMembers].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
};

/** The id is deterministic for data, owner and day. */
const fileId = (url: string, ownerId: string, now: number): string => {
  const hash = createHash("sha256").update(`${Math.floor(now / DAY_MS)}\n${ownerId}\n`);
  // Hash in parts to avoid another copy.
  for (let from = 0; from < url.length; from += CHUNK_CHARS) hash.update(url.slice(from, from + CHUNK_CHARS));
  return hash.digest("hex").slice(0, 32);
};

/** True if storage rejected the data. False if storage failed to store it. */
const isRefused = (error: unknown): boolean => error instanceof DomainError && (error.kind === "invalid" || error.kind === "failed");

/** Stores data URLs as generated files. A file is stored once per owner, content and day, over any number of runs. */
export const createDataFiles = ({
  media,
  now = Date.now,
}: {
  media: Pick<Media, "getObjects" | "upload" | "ingest">;
  now?: () => number;
}) => {
  const put = async (url: string, id: string, ownerId: string, accept: string[]): Promise<mediaProto.StoredObject | undefined> => {
    const { objects } = await media.getObjects({ ids: [id], ownerId });
    if (objects[0]) return objects[0];
    const base64 = readDataUrl(url);
    const placement = { id, ownerId, accept, making: undefined };
    if (base64) return (await media.upload(uploadParts(placement, base64Bytes(base64.data)))).object;
    const sourceOrigin = mediaProto.SourceOrigin.SOURCE_ORIGIN_USER;
    return (await media.ingest({ ...placement, sourceUrl: url, sourceOrigin })).object;
  };

  /** Data that storage doesn't recognize as a file stays inline, unless it is long. */
  const store = async (url: string, ownerId: string): Promise<DataFile> => {
    const declared = dataUrlType(url);
    const family = mediaFamily(declared ?? "");
    const id = fileId(url, ownerId, now());
    try {
      const object = await put(url, id, ownerId, declared === undefined ? [...MEDIA_FAMILIES] : family ? [family] : []);
      if (!object) return {};
      // A container can hold a different kind of file than its type declares. Without a declared type, the bytes decide.
      const isAsSaid = declared === undefined || (family !== undefined && mediaFamily(object.contentType) === family);
      return { file: mediaValue({ ...object, contentType: isAsSaid ? object.contentType : declared }) };
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (declared === undefined) return { problem: "the data isn't a readable picture, video, sound or 3D model" };
      return url.length > LIMITS.textValueBytes ? { problem: `the data isn't a readable ${family ?? declared} file` } : {};
    }
  };

  /**
   * @param urls data URLs or their stand-ins
   * @param takenOut long data URLs by their stand-ins
   * @returns each data URL with its stored file, or an empty entry if it stays inline
   */
  return async (urls: readonly string[], takenOut: ReadonlyMap<string, string>, ownerId: string): Promise<[string, DataFile][]> => {
    const inOrder = [...urls].sort((a, b) => Number(takenOut.has(b)) - Number(takenOut.has(a)));
    const files: [string, DataFile][] = inOrder.slice(MOST_FILES).map((url) => [url, {}]);
    for (let from = 0; from < Math.min(inOrder.length, MOST_FILES); from += STORED_AT_ONCE) {
      const batch = inOrder.slice(from, Math.min(from + STORED_AT_ONCE, MOST_FILES));
      const storedUrls = await Promise.all(batch.map((url) => store(takenOut.get(url) ?? url, ownerId)));
      files.push(...batch.map((url, index): [string, DataFile] => [url, storedUrls[index]!]));
    }
    return files;
  };
};
