import { randomBytes, timingSafeEqual } from "node:crypto";
import { nameOf } from "./networks";

/** What links carry that prove whoever has them: `<user id>.<secret>`. The user is found without an index on secrets. */

const SECRET_BYTES = 32;
const TOKEN = /^([0-9a-f-]{36})\.([\w-]{43})$/;

export interface StoredLink {
  /** Keyed hash of the link's secret. */
  hash: string;
  expiresAt: Date;
}

export interface LinkTokens {
  /** A token, and what is stored of it. */
  create(userId: string): { token: string; hash: string };
  /** Whose a token is, and the hash under which it would be stored; undefined for what is no token. */
  read(token: string): { userId: string; hash: string } | undefined;
}

/** @param purpose links for one purpose are none for another */
export const createLinkTokens = (pepper: string, purpose: string): LinkTokens => ({
  create: (userId) => {
    const secret = randomBytes(SECRET_BYTES).toString("base64url");
    return { token: `${userId}.${secret}`, hash: nameOf(pepper, purpose, secret) };
  },
  read: (token) => {
    const [, userId, secret] = TOKEN.exec(token) ?? [];
    return userId && secret ? { userId, hash: nameOf(pepper, purpose, secret) } : undefined;
  },
});

const sameHash = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

/** Whether a stored link is the one of this hash, and not over. */
export const isLive = (link: StoredLink | null | undefined, hash: string, now: number): boolean =>
  Boolean(link) && sameHash(link!.hash, hash) && link!.expiresAt.getTime() > now;
