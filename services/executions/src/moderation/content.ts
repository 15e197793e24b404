/** Collects the texts and files of values for the moderation hook. */
import { createHash } from "node:crypto";
import { isDataUrl, isMedia, isStoredFile } from "@nodeloom/kernel";
import type { CallOutputs } from "../run/values";

export interface ShownFile {
  url: string;
  contentType: string | null;
  /** Hash of the bytes in hexadecimal; null if the file isn't in the platform's storage. */
  sha256: string | null;
}

export interface Content {
  texts: string[];
  files: ShownFile[];
}

/** Limits of one request to the hook. Longer content takes several requests. */
export const PART = { texts: 200, characters: 200_000, files: 20 } as const;

const HASH_CHARS = 24;

export const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, HASH_CHARS);

/**
 * Returns the distinct texts of a value, and the addresses of its files: addresses in the platform's storage and addresses in file fields.
 * Other addresses inside plain text count as text.
 * @param own address prefix of the platform's own storage
 */
export const contentIn = (value: unknown, own: string): { texts: string[]; addresses: Map<string, string | null> } => {
  const texts = new Set<string>();
  const addresses = new Map<string, string | null>();
  const look = (one: unknown): void => {
    if (typeof one === "string") {
      if (isStoredFile(one, own)) addresses.set(one, addresses.get(one) ?? null);
      else if (one.trim() !== "" && !isDataUrl(one)) texts.add(one);
    } else if (isMedia(one)) {
      if (!isDataUrl(one.url)) addresses.set(one.url, one.contentType);
    } else if (Array.isArray(one)) one.forEach(look);
    else if (typeof one === "object" && one !== null) Object.values(one).forEach(look);
  };
  look(value);
  return { texts: [...texts], addresses };
};

/** Returns the texts of a call's outputs. Other values are returned as JSON. */
export const textsOf = ({ text, json, body }: CallOutputs): string[] => {
  const outputParts = [text, json, body].filter((one) => one !== undefined && one !== null);
  const texts = outputParts.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  return [...new Set(texts.filter((one) => one.trim() !== ""))];
};

export const isSaid = (outputs: CallOutputs): boolean => "text" in outputs || "body" in outputs;

/** Long texts are split into overlapping pieces, so that no word is cut in all of them. */
const OVERLAP = 200;
const pieces = (text: string): string[] => {
  if (text.length <= PART.characters) return [text];
  const cut: string[] = [];
  for (let from = 0; from < text.length; from += PART.characters - OVERLAP) cut.push(text.slice(from, from + PART.characters));
  return cut;
};

/** Splits content into requests. Empty content needs no request. */
export const partsOf = ({ texts, files }: Content): Content[] => {
  const parts: Content[] = [];
  let characters = 0;
  const roomFor = (isFull: (part: Content) => boolean): Content => {
    const last = parts.at(-1);
    if (last && !isFull(last)) return last;
    characters = 0;
    const next: Content = { texts: [], files: [] };
    parts.push(next);
    return next;
  };
  for (const piece of texts.flatMap(pieces)) {
    roomFor((part) => part.texts.length >= PART.texts || characters + piece.length > PART.characters).texts.push(piece);
    characters += piece.length;
  }
  for (const file of files) roomFor((part) => part.files.length >= PART.files).files.push(file);
  return parts;
};
