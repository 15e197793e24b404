import { DomainError, invalidRequest } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import type { UserRecord } from "../records";
import type { Tiers } from "../tiers/tiers";
import type { EarlierAccess } from "../organizations/earlier-access";
import { passwordProblem } from "../users/password-rules";
import type { Passwords } from "../users/passwords";
import { isVerified, noSuchUser, toUser, type User } from "../users/user";
import type { UserStore } from "../users/user-store";
import { createLinkTokens, isLive } from "./link-tokens";
import type { LoginThrottle } from "./login-throttle";

export const RESET_LINK_MS = 60 * 60 * 1_000;
const RESET_PURPOSE = "password reset";

export interface PasswordChange {
  userId: string;
  current: string;
  next: string;
  /** The client's network address; empty if unknown. */
  address: string;
}

/** Replaces passwords. Every change ends all sessions of the user. */
export interface PasswordChanges {
  /**
   * @throws UNAUTHENTICATED for a wrong current password, RATE_LIMIT_EXCEEDED after too many attempts, INVALID_REQUEST for an unsuitable
   *   new password
   */
  change(change: PasswordChange): Promise<User>;
  /**
   * Creates a single-use reset token that is valid for one hour and replaces earlier tokens. @throws NOT_FOUND
   * @param mailed true if the token is sent only to the user's address, so that using it verifies the address
   */
  createReset(userId: string, mailed?: boolean): Promise<{ token: string; expiresAt: Date }>;
  /**
   * @throws UNAUTHENTICATED for a token that is unknown, used or expired; INVALID_REQUEST for an unsuitable password, after which the token
   *   still works
   */
  redeemReset(reset: { token: string; next: string; address: string }): Promise<User>;
  /** Ends all sessions and the grants they set up. The password and keys stay. */
  endSessions(userId: string): Promise<User>;
}

export interface PasswordChangesOptions {
  store: UserStore;
  tiers: Pick<Tiers, "planOf">;
  passwords: Passwords;
  throttle: LoginThrottle;
  changes: Changes;
  earlierAccess: Pick<EarlierAccess, "endOfRegistrant" | "endOfSessions">;
  pepper: string;
  clock?: () => number;
}

const wrongPassword = (): DomainError => new DomainError("unauthenticated", "UNAUTHENTICATED", "the current password is wrong");
const deadLink = (): DomainError =>
  new DomainError("unauthenticated", "UNAUTHENTICATED", "this link is unknown, used or expired; ask for another one");

const requireGood = (password: string, email: string): void => {
  const problem = passwordProblem(password, email);
  if (problem) throw invalidRequest([{ path: "new", message: problem }]);
};

export const createPasswordChanges = (options: PasswordChangesOptions): PasswordChanges => {
  const { store, tiers, passwords, throttle, changes, earlierAccess, pepper, clock = Date.now } = options;
  const tokens = createLinkTokens(pepper, RESET_PURPOSE);

  const announceChange = async (user: UserRecord): Promise<User> => {
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
      // Another session changed the password.
      if (!changed) throw wrongPassword();
      return announceChange(changed);
    },

    createReset: async (userId, mailed = false) => {
      const { token, hash } = tokens.create(userId);
      const expiresAt = new Date(clock() + RESET_LINK_MS);
      if (!(await store.setPasswordReset(userId, { hash, expiresAt, mailed }))) throw noSuchUser();
      return { token, expiresAt };
    },

    redeemReset: async ({ token, next, address }) => {
      const link = tokens.read(token);
      if (!link) throw deadLink();
      const user = await store.find(link.userId);
      if (!user || !isLive(user.passwordReset, link.hash, clock())) throw deadLink();
      requireGood(next, user.email);
      const provesAddress = user.passwordReset?.mailed === true && !isVerified(user);
      const redeemed = { hash: link.hash, now: new Date(clock()), passwordHash: await passwords.hash(next), provesAddress };
      const changed = await store.redeemPasswordReset(user._id, redeemed);
      if (!changed) throw deadLink();
      if (provesAddress) await earlierAccess.endOfRegistrant(changed);
      // The link allows sign-in, so earlier failures from this address are reset.
      await throttle.succeeded(user.email, address);
      return announceChange(changed);
    },

    endSessions: async (userId) => {
      const user = await store.endAccess(userId, new Date(clock()));
      if (!user) throw noSuchUser();
      await earlierAccess.endOfSessions(user);
      return announceChange(user);
    },
  };
};
