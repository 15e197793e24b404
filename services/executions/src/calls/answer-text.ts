import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { decodeText, LIMITS, type DomainError } from "@nodeloom/kernel";
import type { EgressResponse } from "@nodeloom/platform";
import { final } from "./failures";

/** The text of an HTTP answer: inflated, and decoded by its charset. */

/** Encodings that an answer may come in. */
export const ACCEPT_ENCODING = "gzip, br";

const bounds = { maxOutputLength: LIMITS.textValueBytes };
const DECODERS: ReadonlyMap<string, (body: Buffer) => Promise<Buffer>> = new Map([
  ["gzip", (body: Buffer) => promisify(gunzip)(body, bounds)],
  ["x-gzip", (body: Buffer) => promisify(gunzip)(body, bounds)],
  ["br", (body: Buffer) => promisify(brotliDecompress)(body, bounds)],
  ["deflate", (body: Buffer) => promisify(inflate)(body, bounds)],
  ["identity", (body: Buffer) => Promise.resolve(body)],
]);
/** Encodings over encodings that are undone. */
const MOST_ENCODINGS = 3;
const TOO_LARGE = "ERR_BUFFER_TOO_LARGE";

const failed = (message: string): DomainError => final("EXECUTION_FAILED", message);

const inflated = async ({ body, headers }: EgressResponse): Promise<Buffer> => {
  const encodings = (headers["content-encoding"] ?? "").toLowerCase().split(",").map((one) => one.trim()).filter(Boolean); // prettier-ignore
  if (body.length === 0) return body;
  let content = body;
  for (const [index, name] of encodings.reverse().entries()) {
    const decode = index < MOST_ENCODINGS ? DECODERS.get(name) : undefined;
    if (!decode) throw failed(`the answer has the content-encoding ${name.slice(0, 100)}, which can't be read`);
    content = await decode(content).catch((error: NodeJS.ErrnoException) => {
      throw failed(
        error.code === TOO_LARGE ? `the answer is larger than ${LIMITS.textValueBytes} bytes` : `the answer is not ${name} as it says`,
      );
    });
  }
  return content;
};

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;
/** Texts of old, whose servers don't say their charset, are read as browsers read them. */
const UNTOLD_CHARSET = "windows-1252";

const isCharset = (label: string): boolean => {
  try {
    return new TextDecoder(label) instanceof TextDecoder;
  } catch {
    return false;
  }
};

/**
 * An answer's body as text.
 * @throws EXECUTION_FAILED for what is binary, too large, or says of itself what can't be read
 */
export const textOf = async (response: EgressResponse): Promise<string> => {
  const content = await inflated(response);
  const contentType = response.headers["content-type"] ?? "";
  const charset = CHARSET.exec(contentType)?.[1];
  if (charset !== undefined && !isCharset(charset))
    throw failed(`the answer has the charset ${charset.slice(0, 100)}, which can't be read`);
  const isText = /^text\//i.test(contentType);
  const text =
    decodeText(content, charset ?? "utf-8") ?? (charset === undefined && isText ? decodeText(content, UNTOLD_CHARSET) : undefined);
  // No text has a zero character, and most files have.
  if (text !== undefined && !text.includes("\0")) return text;
  const [type = ""] = contentType.split(";");
  throw failed(`the answer is no text${type === "" ? "" : ` (${type.trim().slice(0, 100)})`}: this node reads text and JSON, not files`);
};
