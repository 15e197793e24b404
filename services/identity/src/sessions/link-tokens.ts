import { randomBytes, timingSafeEqual } from "node:crypto";
import { nameOf } from "../networks";
import type { StoredLink } from "../records";

/** Tokens in links have the form `<user id>.<secret>`. The id finds the user without an index on secrets. */

const SECRET_BYTES = 32;
const TOKEN = /^([0-9a-f-]{36})\.([\w-]{43})$/;

export interface LinkTokens {
  /** Creates a token and its stored form. */
  create(userId: string): { token: string; hash: string };
  /** Returns the user and the stored hash of a token; undefined for an invalid token. */
  read(token: string): { userId: string; hash: string } | undefined;
}

/** @param purpose purpose for which the links work; they work for no other */
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

const sameHash = (one: string, right: string): boolean =>
  one.length === right.length && timingSafeEqual(Buffer.from(one), Buffer.from(right));

/** True if the stored link has this hash and hasn't expired. */
export const isLive = (link: StoredLink | null | undefined, hash: string, now: number): boolean =>
  Boolean(link) && sameHash(link!.hash, hash) && link!.expiresAt.getTime() > now;
