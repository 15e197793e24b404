import { createHmac, timingSafeEqual } from "node:crypto";

/** Signed JSON that callers keep. Every gateway can read it, and nothing is stored. */
export interface SignedPayloads<T> {
  write(payload: T): string;
  /** @returns the payload of a text that this purpose signed; undefined for any other text */
  read(text: string): T | undefined;
}

/**
 * @param secret shared by all gateways; a new one ends all signatures
 * @param purpose a text signed for one purpose is invalid for others
 * @param maxChars longer texts are rejected without reading them
 */
export const createSignedPayloads = <T>(secret: string, purpose: string, maxChars: number): SignedPayloads<T> => {
  const sign = (payload: string): Buffer =>
    createHmac("sha256", secret)
      .update(JSON.stringify([purpose, payload]))
      .digest();
  return {
    write: (value) => {
      const payload = Buffer.from(JSON.stringify(value)).toString("base64url");
      return `${payload}.${sign(payload).toString("base64url")}`;
    },
    read: (text) => {
      if (text.length > maxChars) return undefined;
      const [payload = "", signature = "", ...more] = text.split(".");
      const [sentMac, right] = [Buffer.from(signature, "base64url"), sign(payload)];
      // Rejects other spellings of the same signature.
      if (more.length > 0 || sentMac.toString("base64url") !== signature) return undefined;
      if (sentMac.length !== right.length || !timingSafeEqual(sentMac, right)) return undefined;
      return JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as T;
    },
  };
};
