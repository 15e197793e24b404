import { timingSafeEqual } from "node:crypto";
import { isNotice, NOTICES, type Notice } from "@nodeloom/kernel";
import { nameOf } from "../networks";

/** Unsubscribe links in notices. A link works without a session, for one notice of one user, as long as the user exists. */

const PURPOSE = "unsubscribe";
const TOKEN = /^([0-9a-f-]{36})\.(\w+)\.([0-9a-f]{64})$/;

export interface Unsubscribing {
  /** Returns one token per notice. */
  tokensFor(userId: string): Record<Notice, string>;
  /** @returns undefined for an invalid token */
  read(token: string): { userId: string; notice: Notice } | undefined;
}

export const createUnsubscribing = (pepper: string): Unsubscribing => {
  const signature = (userId: string, notice: string): string => nameOf(pepper, PURPOSE, userId, notice);
  return {
    tokensFor: (userId) =>
      Object.fromEntries(NOTICES.map((notice) => [notice, `${userId}.${notice}.${signature(userId, notice)}`])) as Record<Notice, string>,
    read: (token) => {
      const [, userId, notice, mac] = TOKEN.exec(token) ?? [];
      if (!userId || !notice || !mac || !isNotice(notice)) return undefined;
      return timingSafeEqual(Buffer.from(mac), Buffer.from(signature(userId, notice))) ? { userId, notice } : undefined;
    },
  };
};
