import { createHmac, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * An API key's value is `nl_<env>_<30 base62>_<6 base62>`. The last part is the CRC-32 of everything before its underscore, so a mistyped
 * or truncated value is detected without a lookup.
 */
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARS = 30;
const CHECKSUM_CHARS = 6;
const VALUE = new RegExp(`^nl_[a-z]{1,16}_[0-9A-Za-z]{${RANDOM_CHARS}}_[0-9A-Za-z]{${CHECKSUM_CHARS}}$`);
/** Keys with ranked scopes, which capabilities replaced. All of them are invalid. */
const LEGACY_VALUE = /^nl_sk_[0-9A-Za-z]{32}$/;

/** Number of leading characters that a key's record shows. */
export const START_CHARS = 12;
/** Pattern of `<env>`. */
export const KEY_ENVIRONMENT = /^[a-z]{1,16}$/;

const toBase62 = (value: number, width: number): string => {
  let text = "";
  for (let rest = value; rest > 0; rest = Math.floor(rest / ALPHABET.length)) text = ALPHABET.charAt(rest % ALPHABET.length) + text;
  return text.padStart(width, ALPHABET.charAt(0));
};

const checksum = (text: string): string => toBase62(crc32(text), CHECKSUM_CHARS);

/** Returns a new random value (178 bits) for an environment such as `live`. */
export const generateKeyValue = (environment: string): string => {
  const random = Array.from({ length: RANDOM_CHARS }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join("");
  const body = `nl_${environment}_${random}`;
  return `${body}_${checksum(body)}`;
};

/** The kind of a value. Only `current` needs a lookup. */
export const classifyKeyValue = (value: string): "current" | "legacy" | "malformed" => {
  if (LEGACY_VALUE.test(value)) return "legacy";
  if (!VALUE.test(value)) return "malformed";
  const body = value.slice(0, -(CHECKSUM_CHARS + 1));
  return value.endsWith(`_${checksum(body)}`) ? "current" : "malformed";
};

/** The stored form of a value: HMAC-SHA-256 with the pepper, in hex. */
export const hashKeyValue = (pepper: string, value: string): string => createHmac("sha256", pepper).update(value).digest("hex");
