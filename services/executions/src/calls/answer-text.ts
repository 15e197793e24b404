import { decodeText, type DomainError } from "@nodeloom/kernel";
import { final } from "./failures";

/** The text of an HTTP answer, decoded by its charset. */

const failed = (message: string): DomainError => final("EXECUTION_FAILED", message);

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
 * An answer's body as text; undefined where it is none.
 * @throws EXECUTION_FAILED for a charset that can't be read
 */
export const textOf = (content: Uint8Array, contentType: string): string | undefined => {
  const charset = CHARSET.exec(contentType)?.[1];
  if (charset !== undefined && !isCharset(charset))
    throw failed(`the answer has the charset ${charset.slice(0, 100)}, which can't be read`);
  const isText = /^text\//i.test(contentType);
  const text =
    decodeText(content, charset ?? "utf-8") ?? (charset === undefined && isText ? decodeText(content, UNTOLD_CHARSET) : undefined);
  // No text has a zero character, and most files have.
  return text?.includes("\0") ? undefined : text;
};
