/** What is shown to the moderation hook of values: their texts and their files. */
import { createHash } from "node:crypto";
import { isDataUrl, isMedia, isStoredFile } from "@nodeloom/kernel";
import type { CallOutputs } from "../run/values";

export interface ShownFile {
  url: string;
  contentType: string | null;
  /** Of its bytes, in hexadecimal; null where the file is not in our storage. */
  sha256: string | null;
}

export interface Content {
  texts: string[];
  files: ShownFile[];
}

/** What one request to the hook shows at most; there are as many requests as it takes. */
export const PART = { texts: 200, characters: 200_000, files: 20 } as const;

const HASH_CHARS = 24;

export const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, HASH_CHARS);

/**
 * The texts of a value, each once, and the addresses of its files: those of our storage, and those that are said to be files. An address
 * elsewhere that is a mere text stands among the texts.
 * @param own what the addresses of our own files begin with
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

/** The texts of what a call gave: what is no text is shown as JSON. */
export const textsOf = ({ text, json, body }: CallOutputs): string[] => {
  const said = [text, json, body].filter((one) => one !== undefined && one !== null);
  const texts = said.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  return [...new Set(texts.filter((one) => one.trim() !== ""))];
};

/** Whether outputs are texts or JSON, and not files. */
export const isSaid = (outputs: CallOutputs): boolean => "text" in outputs || "body" in outputs;

/** A long text in pieces, which overlap so that no word is cut in all of them. */
const OVERLAP = 200;
const pieces = (text: string): string[] => {
  if (text.length <= PART.characters) return [text];
  const cut: string[] = [];
  for (let from = 0; from < text.length; from += PART.characters - OVERLAP) cut.push(text.slice(from, from + PART.characters));
  return cut;
};

/** Content as it is shown, request by request; none of an empty one. */
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
