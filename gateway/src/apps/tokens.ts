import { createSignedPayloads } from "../auth/signed-payload";
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
  const payloads = createSignedPayloads<Payload>(secret, PURPOSE, MAX_CHARS - TOKEN_PREFIX.length);

  const readUntil = (token: string, graceMs: number): TokenClaims | undefined => {
    const payload = token.startsWith(TOKEN_PREFIX) ? payloads.read(token.slice(TOKEN_PREFIX.length)) : undefined;
    if (!payload) return undefined;
    const [slug, ownerId, keyId, visitor, expiresAtMs] = payload;
    return now() < expiresAtMs + graceMs ? { slug, ownerId, keyId, visitor } : undefined;
  };

  return {
    issue: ({ slug, ownerId, keyId, visitor }) => {
      const expiresAtMs = now() + TOKEN_MS;
      return { token: `${TOKEN_PREFIX}${payloads.write([slug, ownerId, keyId, visitor, expiresAtMs])}`, expiresAt: new Date(expiresAtMs) };
    },
    read: (token) => readUntil(token, 0),
    readEnded: (token) => readUntil(token, VISITOR_MS),
  };
};
