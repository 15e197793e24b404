/** Signed addresses: an HMAC over a file's key and the end of its address's life. */

import { createHmac, timingSafeEqual } from "node:crypto";
import { isEncryptionKey } from "@nodeloom/platform";
import { z } from "zod";

const SIGNATURE_CHARS = 43;
const EXPIRES = /^\d{1,11}$/;
const SIGNATURE = new RegExp(`^[A-Za-z0-9_-]{${SIGNATURE_CHARS}}$`);

/** Keys as the environment holds them. */
export const urlKeys = () =>
  z
    .string()
    .transform((text) => text.split(",").map((key) => key.trim()))
    .refine((keys) => keys.every(isEncryptionKey), "must be keys of 64 hexadecimal digits each, separated by commas");

export interface Signatures {
  /** The query of a signed address. @param expires Unix time in seconds */
  sign(key: string, expires: number): string;
  /** Whether a signature is valid at a time. @param now Unix time in milliseconds */
  isValid(key: string, sent: { expires: string; signature: string }, now: number): boolean;
}

/** @param keys the first signs, all verify, so that keys can be replaced while addresses are in use */
export const createSignatures = (keys: readonly string[]): Signatures => {
  const ring = keys.map((hex) => Buffer.from(hex, "hex"));
  const made = (secret: Buffer, key: string, expires: string): Buffer =>
    createHmac("sha256", secret).update(`nodeloom media url\n${key}\n${expires}`).digest();
  return {
    sign: (key, expires) => `e=${expires}&s=${made(ring[0]!, key, String(expires)).toString("base64url")}`,
    isValid: (key, { expires, signature }, now) => {
      if (!EXPIRES.test(expires) || !SIGNATURE.test(signature) || Number(expires) * 1_000 <= now) return false;
      const sent = Buffer.from(signature, "base64url");
      return ring.some((secret) => timingSafeEqual(made(secret, key, expires), sent));
    },
  };
};
