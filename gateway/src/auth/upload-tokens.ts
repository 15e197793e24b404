import { createSignedPayloads } from "./signed-payload";

/**
 * Signed addresses of one file for libraries that send and read files without a key. Every gateway can read them, and nothing is stored.
 * An address names the file before its bytes arrive.
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const LIFETIMES_MS = { write: 15 * MINUTE_MS, read: 24 * HOUR_MS } as const;
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
  const payloads = {
    write: createSignedPayloads<Payload>(secret, "upload write", MAX_CHARS),
    read: createSignedPayloads<Payload>(secret, "upload read", MAX_CHARS),
  };
  return {
    issue: (use, { id, ownerId }) => payloads[use].write([id, ownerId, now() + LIFETIMES_MS[use]]),
    read: (use, token, { ended = false } = {}) => {
      const payload = payloads[use].read(token);
      if (!payload) return undefined;
      const [id, ownerId, expiresAtMs] = payload;
      return ended || now() < expiresAtMs ? { id, ownerId } : undefined;
    },
  };
};
