import { ProviderError, type ProviderFile } from "../dialect";
import { pointerAll } from "../pointer";
import type { JsonCall } from "../transport";
import type { OpenAiImagesSettings } from "./settings";

export const imagesCall = ({ baseUrl, model, parameters }: OpenAiImagesSettings, inputs: Record<string, unknown>): JsonCall => {
  const { count, ...rest } = inputs;
  return {
    method: "POST",
    url: `${baseUrl}/images/generations`,
    body: { ...rest, ...(count === undefined ? {} : { n: count }), ...parameters, model },
  };
};

const DATA_URL = /^data:[^,]*;base64,/i;
/** A multiple of four: every piece is base64 by itself. */
const PIECE_CHARS = 256 * 1_024;

/** Decodes piece by piece, so that a picture is never in memory twice. */
async function* decoded(base64: string): AsyncIterable<Uint8Array> {
  for (let at = 0; at < base64.length; at += PIECE_CHARS) yield Buffer.from(base64.slice(at, at + PIECE_CHARS), "base64");
}

const inline = (base64: string): ProviderFile => {
  // Line breaks are rare, and a copy is large.
  const text = /\s/.test(base64) ? base64.replace(/\s+/g, "") : base64;
  return { read: () => decoded(text) };
};

const fileOf = (picture: unknown): ProviderFile[] => {
  const { b64_json: base64, url } = (picture ?? {}) as { b64_json?: unknown; url?: unknown };
  if (typeof base64 === "string" && base64 !== "") return [inline(base64)];
  if (typeof url !== "string" || url === "") return [];
  const header = DATA_URL.exec(url)?.[0];
  return [header === undefined ? { url } : inline(url.slice(header.length))];
};

/**
 * The pictures of an answer, in order.
 * @throws ProviderError when it has none.
 */
export const picturesOf = (answer: unknown): ProviderFile[] => {
  const files = pointerAll(answer, "/data/*").flatMap(fileOf);
  if (files.length === 0) throw new ProviderError("incomplete", "the provider's answer has no pictures");
  return files;
};
