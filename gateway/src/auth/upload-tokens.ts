import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * Signed addresses of one file for libraries that send and read files without a key. Every gateway can read them, and nothing is stored.
 * An address names the file before its bytes arrive.
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const LIFETIMES_MS = { write: 15 * MINUTE_MS, read: 24 * HOUR_MS } as const;
const PURPOSE = "upload";
/** Two ids and a time. */
const MAX_CHARS = 1_000;

export type UploadUse = keyof typeof LIFETIMES_MS;

export interface UploadClaims {
  /** Id of the file in media. */
  id: string;
  ownerId: string;
}

export interface UploadTokens {
  issue(use: UploadUse, claims: UploadClaims): string;
  /** @returns the claims of a valid token; undefined for any other text, and after its end unless `ended` is true */
  read(use: UploadUse, token: string, options?: { ended?: boolean }): UploadClaims | undefined;
}

type Payload = [id: string, ownerId: string, expiresAtMs: number];

/** @param secret shared by all gateways; a new one ends all addresses */
export const createUploadTokens = (secret: string, now: () => number = Date.now): UploadTokens => {
  const sign = (use: UploadUse, payload: string): Buffer =>
    createHmac("sha256", secret)
      .update(JSON.stringify([PURPOSE, use, payload]))
      .digest();

  return {
    issue: (use, { id, ownerId }) => {
      const payload = Buffer.from(JSON.stringify([id, ownerId, now() + LIFETIMES_MS[use]] satisfies Payload)).toString("base64url");
      return `${payload}.${sign(use, payload).toString("base64url")}`;
    },
    read: (use, token, { ended = false } = {}) => {
      const [payload = "", signature = "", ...more] = token.length > MAX_CHARS ? [] : token.split(".");
      const [sentMac, right] = [Buffer.from(signature, "base64url"), sign(use, payload)];
      if (more.length > 0 || sentMac.length !== right.length || !timingSafeEqual(sentMac, right)) return undefined;
      const [id, ownerId, expiresAtMs] = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Payload;
      return ended || now() < expiresAtMs ? { id, ownerId } : undefined;
    },
  };
};
