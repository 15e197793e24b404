import { isRecord } from "./graph";

/** Reads workflows that ComfyUI writes into the pictures that it saves. */

const MOST_BYTES = 64_000_000;
const MOST_TEXT = 8_000_000;

const ascii = (bytes: Uint8Array): string => String.fromCharCode(...bytes);
const utf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const inflate = async (bytes: Uint8Array): Promise<string | undefined> => {
  const reader = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  const [parts, size] = [[] as Uint8Array[], { now: 0 }];
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size.now += part.value.length;
      if (size.now > MOST_TEXT) return undefined;
      parts.push(part.value);
    }
  } catch {
    return undefined;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  const whole = new Uint8Array(size.now);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return utf8(whole);
};

/** The keyword and text of a PNG chunk `tEXt`, `zTXt` or `iTXt`. */
const pngText = async (type: string, data: Uint8Array): Promise<[string, string] | undefined> => {
  const end = data.indexOf(0);
  if (end < 1 || end > 79 || data.length > MOST_TEXT) return undefined;
  const [name, rest] = [ascii(data.subarray(0, end)), data.subarray(end + 1)];
  if (type === "tEXt") return [name, utf8(rest)];
  if (type === "zTXt") {
    const text = await inflate(rest.subarray(1));
    return text === undefined ? undefined : [name, text];
  }
  const language = rest.indexOf(0, 2);
  const translated = language < 0 ? -1 : rest.indexOf(0, language + 1);
  if (translated < 0) return undefined;
  const body = rest.subarray(translated + 1);
  const text = rest[0] === 1 ? await inflate(body) : utf8(body);
  return text === undefined ? undefined : [name, text];
};

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const WANTED = ["workflow", "prompt"];

const fromPng = async (bytes: Uint8Array): Promise<Map<string, string>> => {
  const texts = new Map<string, string>();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = PNG.length; at + 12 <= bytes.length;) {
    const length = view.getUint32(at);
    const type = ascii(bytes.subarray(at + 4, at + 8));
    if (at + 12 + length > bytes.length || type === "IEND") break;
    const textChunk = ["tEXt", "zTXt", "iTXt"].includes(type) ? await pngText(type, bytes.subarray(at + 8, at + 8 + length)) : undefined;
    if (textChunk && WANTED.includes(textChunk[0]) && !texts.has(textChunk[0])) texts.set(...textChunk);
    at += 12 + length;
  }
  return texts;
};

/** ComfyUI writes `workflow:{…}` and `prompt:{…}` into tags of the EXIF block, each with a zero at its end. */
const fromExif = (exif: Uint8Array): Map<string, string> => {
  const texts = new Map<string, string>();
  const block = exif.length > MOST_TEXT ? "" : new TextDecoder("latin1").decode(exif);
  for (const name of WANTED) {
    const at = block.indexOf(`${name}:{`);
    if (at < 0) continue;
    const end = block.indexOf("\0", at);
    texts.set(name, utf8(exif.subarray(at + name.length + 1, end < 0 ? exif.length : end)));
  }
  return texts;
};

const fromWebp = (bytes: Uint8Array): Map<string, string> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 12; at + 8 <= bytes.length;) {
    const length = view.getUint32(at + 4, true);
    if (ascii(bytes.subarray(at, at + 4)) === "EXIF") return fromExif(bytes.subarray(at + 8, at + 8 + length));
    at += 8 + length + (length % 2);
  }
  return new Map();
};

const parsed = (text: string | undefined): unknown => {
  try {
    // Python writes NaN and infinities, which JSON doesn't have.
    return text === undefined ? undefined : JSON.parse(text.replace(/(?<=[:,[]\s?)(?:NaN|-?Infinity)(?=\s?[,\]}])/g, "null"));
  } catch {
    return undefined;
  }
};

/** The workflow in the bytes of a PNG or WebP picture that ComfyUI saved; undefined if there is none. */
export const readEmbedded = async (bytes: Uint8Array): Promise<unknown> => {
  if (bytes.length > MOST_BYTES) return undefined;
  const isPng = PNG.every((byte, index) => bytes[index] === byte);
  const isWebp = ascii(bytes.subarray(0, 4)) === "RIFF" && ascii(bytes.subarray(8, 12)) === "WEBP";
  const texts = isPng ? await fromPng(bytes) : isWebp ? fromWebp(bytes) : new Map<string, string>();
  const document = [parsed(texts.get("workflow")), parsed(texts.get("prompt"))].find(isRecord);
  return document;
};
