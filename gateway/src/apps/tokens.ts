import { createHmac, timingSafeEqual } from "node:crypto";
import { TOKEN_MS, VISITOR_MS } from "./limits";

export interface TokenClaims {
  slug: string;
  ownerId: string;
  /** Empty: issued by the app's own page, or by the owner's session. */
  keyId: string;
  visitor: string;
}

export interface IssuedToken {
  token: string;
  expiresAt: Date;
}

/** Signed tokens of apps' visitors. Every gateway can read them, and nothing is stored. Permissions are checked at each request. */
export interface AppTokens {
  issue(claims: TokenClaims): IssuedToken;
  /** @returns the claims of a valid, unexpired token; undefined for any other text */
  read(token: string): TokenClaims | undefined;
  /** Like `read`, but accepts expired tokens, which can be exchanged. */
  readEnded(token: string): TokenClaims | undefined;
}

export const TOKEN_PREFIX = "nla_";
const PURPOSE = "app token";
/** A slug, ids, and a visitor id of at most 100 characters. */
const MAX_CHARS = 2_000;

type Payload = [slug: string, ownerId: string, keyId: string, visitor: string, expiresAtMs: number];

/** @param secret shared by all gateways; a new one ends all tokens */
export const createAppTokens = (secret: string, now: () => number = Date.now): AppTokens => {
  const sign = (payload: string): Buffer =>
    createHmac("sha256", secret)
      .update(JSON.stringify([PURPOSE, payload]))
      .digest();

  const payloadOf = (token: string): Payload | undefined => {
    if (!token.startsWith(TOKEN_PREFIX) || token.length > MAX_CHARS) return undefined;
    const [payload = "", signature = "", ...more] = token.slice(TOKEN_PREFIX.length).split(".");
    const [sentMac, right] = [Buffer.from(signature, "base64url"), sign(payload)];
    // Rejects other spellings of the same signature.
    if (more.length > 0 || sentMac.toString("base64url") !== signature) return undefined;
    if (sentMac.length !== right.length || !timingSafeEqual(sentMac, right)) return undefined;
    return JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Payload;
  };

  const readUntil = (token: string, graceMs: number): TokenClaims | undefined => {
    const payload = payloadOf(token);
    if (!payload) return undefined;
    const [slug, ownerId, keyId, visitor, expiresAtMs] = payload;
    return now() < expiresAtMs + graceMs ? { slug, ownerId, keyId, visitor } : undefined;
  };

  return {
    issue: ({ slug, ownerId, keyId, visitor }) => {
      const expiresAtMs = now() + TOKEN_MS;
      const payload = Buffer.from(JSON.stringify([slug, ownerId, keyId, visitor, expiresAtMs] satisfies Payload)).toString("base64url");
      return { token: `${TOKEN_PREFIX}${payload}.${sign(payload).toString("base64url")}`, expiresAt: new Date(expiresAtMs) };
    },
    read: (token) => readUntil(token, 0),
    readEnded: (token) => readUntil(token, VISITOR_MS),
  };
};
