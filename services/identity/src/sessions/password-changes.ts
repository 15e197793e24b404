import { randomBytes, timingSafeEqual } from "node:crypto";
import { DomainError, invalidRequest } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import type { UserRecord } from "../records";
import type { Tiers } from "../tiers/tiers";
import { passwordProblem } from "../users/password-rules";
import type { Passwords } from "../users/passwords";
import { noSuchUser, toUser, type User } from "../users/user";
import type { UserStore } from "../users/user-store";
import type { LoginThrottle } from "./login-throttle";
import { nameOf } from "./networks";

export const RESET_LINK_MS = 60 * 60 * 1_000;
const SECRET_BYTES = 32;
/** `<user id>.<secret>`: the user is found without an index on secrets. */
const TOKEN = /^([0-9a-f-]{36})\.([\w-]{43})$/;
const RESET_PURPOSE = "password reset";

export interface PasswordChange {
  userId: string;
  current: string;
  next: string;
  /** The client's network address; empty where it is not known. */
  address: string;
}

/** Ways in which a password is replaced. Each ends all sessions of the user. */
export interface PasswordChanges {
  /** UNAUTHENTICATED for a wrong current password, RATE_LIMIT_EXCEEDED after too many, INVALID_REQUEST for a bad new one. */
  change(change: PasswordChange): Promise<User>;
  /** A token that sets the password once, for an hour; an earlier one ends. NOT_FOUND when there is no such user. */
  createReset(userId: string): Promise<{ token: string; expiresAt: Date }>;
  /** UNAUTHENTICATED for a token that is unknown, used or expired; INVALID_REQUEST for a bad password, which doesn't use it up. */
  redeemReset(reset: { token: string; next: string; address: string }): Promise<User>;
  /** Ends all sessions, the password stays. */
  endSessions(userId: string): Promise<User>;
}

export interface PasswordChangesOptions {
  store: UserStore;
  tiers: Pick<Tiers, "planOf">;
  passwords: Passwords;
  throttle: LoginThrottle;
  changes: Changes;
  pepper: string;
  clock?: () => number;
}

const wrongPassword = (): DomainError => new DomainError("unauthenticated", "UNAUTHENTICATED", "the current password is wrong");
const deadLink = (): DomainError =>
  new DomainError("unauthenticated", "UNAUTHENTICATED", "this link is unknown, used or expired; ask an administrator for another one");

const requireGood = (password: string, email: string): void => {
  const problem = passwordProblem(password, email);
  if (problem) throw invalidRequest([{ path: "new", message: problem }]);
};

const sameHash = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

export const createPasswordChanges = (options: PasswordChangesOptions): PasswordChanges => {
  const { store, tiers, passwords, throttle, changes, pepper, clock = Date.now } = options;
  const secretHash = (secret: string): string => nameOf(pepper, RESET_PURPOSE, secret);

  const told = async (user: UserRecord): Promise<User> => {
    await changes.announce({ type: "user", id: user._id });
    return toUser(user, await tiers.planOf(user.tier));
  };

  return {
    change: async ({ userId, current, next, address }) => {
      const user = await store.find(userId);
      if (!user) throw noSuchUser();
      await throttle.attempt(user.email, address);
      if (!(await passwords.verify(user.passwordHash, current))) throw wrongPassword();
      await throttle.succeeded(user.email, address);
      requireGood(next, user.email);
      const changed = await store.replacePassword(userId, user.passwordHash, await passwords.hash(next));
      // It was changed by another session meanwhile.
      if (!changed) throw wrongPassword();
      return told(changed);
    },

    createReset: async (userId) => {
      const secret = randomBytes(SECRET_BYTES).toString("base64url");
      const expiresAt = new Date(clock() + RESET_LINK_MS);
      if (!(await store.setPasswordReset(userId, { hash: secretHash(secret), expiresAt }))) throw noSuchUser();
      return { token: `${userId}.${secret}`, expiresAt };
    },

    redeemReset: async ({ token, next, address }) => {
      const [, userId, secret] = TOKEN.exec(token) ?? [];
      if (!userId || !secret) throw deadLink();
      const hash = secretHash(secret);
      const user = await store.find(userId);
      const reset = user?.passwordReset;
      if (!user || !reset || !sameHash(reset.hash, hash) || reset.expiresAt.getTime() <= clock()) throw deadLink();
      requireGood(next, user.email);
      const changed = await store.redeemPasswordReset(userId, hash, new Date(clock()), await passwords.hash(next));
      if (!changed) throw deadLink();
      // Whoever has the link may sign in: from this address no earlier failures count.
      await throttle.succeeded(user.email, address);
      return told(changed);
    },

    endSessions: async (userId) => {
      const user = await store.endSessions(userId);
      if (!user) throw noSuchUser();
      return told(user);
    },
  };
};
