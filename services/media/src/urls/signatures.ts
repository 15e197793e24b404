/** Signed URLs. The signature is an HMAC of the file's key and the expiry. */

import { createHmac, timingSafeEqual } from "node:crypto";
import { isEncryptionKey } from "@nodeloom/platform";
import { z } from "zod";

const SIGNATURE_CHARS = 43;
const EXPIRES = /^\d{1,11}$/;
const SIGNATURE = new RegExp(`^[A-Za-z0-9_-]{${SIGNATURE_CHARS}}$`);

/** Reads the keys from an environment variable. */
export const urlKeys = () =>
  z
    .string()
    .transform((text) => text.split(",").map((key) => key.trim()))
    .refine((keys) => keys.every(isEncryptionKey), "must be keys of 64 hexadecimal digits each, separated by commas");

export interface Signatures {
  /** Returns the query of a signed URL. @param expires Unix time in seconds */
  sign(key: string, expires: number): string;
  /** Returns whether a signature is valid at a time. @param now Unix time in milliseconds */
  isValid(key: string, signed: { expires: string; signature: string }, now: number): boolean;
}

/** @param keys the first key signs, all keys verify, so that keys can be replaced while signed URLs are in use */
export const createSignatures = (keys: readonly string[]): Signatures => {
  const ring = keys.map((hex) => Buffer.from(hex, "hex"));
  const signatureOf = (secret: Buffer, key: string, expires: string): Buffer =>
    createHmac("sha256", secret).update(`nodeloom media url\n${key}\n${expires}`).digest();
  return {
    sign: (key, expires) => `e=${expires}&s=${signatureOf(ring[0]!, key, String(expires)).toString("base64url")}`,
    isValid: (key, { expires, signature }, now) => {
      if (!EXPIRES.test(expires) || !SIGNATURE.test(signature) || Number(expires) * 1_000 <= now) return false;
      const sentSignature = Buffer.from(signature, "base64url");
      return ring.some((secret) => timingSafeEqual(signatureOf(secret, key, expires), sentSignature));
    },
  };
};
