import { randomBytes } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import type { SignInNotes } from "../audit/sign-in-notes";
import type { UserRecord } from "../records";
import type { LoginThrottle } from "../sessions/login-throttle";
import { nameOf, networkOf } from "../networks";
import type { Tiers } from "../tiers/tiers";
import { hasSecondFactor, toUser, type User } from "../users/user";
import type { UserStore } from "../users/user-store";
import { wrongCode, type CodeMatching } from "../second-factor/matching";
import type { PendingSignInStore } from "./pending-sign-in-store";

/** Time limit for entering the code after the password. */
export const PENDING_SIGN_IN_MS = 5 * 60 * 1_000;
const TOKEN_BYTES = 32;

export interface PendingSignIn {
  /** The token is shown only once. */
  token: string;
  expiresAt: Date;
}

/** Sign-ins for which the password was correct and the code is pending. */
export interface PendingSignIns {
  /** Starts a pending sign-in. Call it after a correct password from this address. */
  begin(user: UserRecord, address: string): Promise<PendingSignIn>;
  /**
   * Completes a sign-in with a code, from the address that sent the password. Works once. A wrong code leaves the sign-in pending.
   * @throws UNAUTHENTICATED, or RATE_LIMIT_EXCEEDED after too many codes
   */
  complete(step: { token: string; code: string; address: string }): Promise<User>;
}

export interface PendingSignInsOptions {
  store: PendingSignInStore;
  users: Pick<UserStore, "find">;
  tiers: Pick<Tiers, "planOf">;
  matching: CodeMatching;
  /** Passwords and codes are counted separately. */
  throttles: { passwords: LoginThrottle; codes: LoginThrottle };
  notes: SignInNotes;
  pepper: string;
  clock?: () => number;
}

const notPending = (): DomainError =>
  new DomainError("unauthenticated", "UNAUTHENTICATED", "this sign-in has expired, was used or was begun elsewhere: sign in again");

export const createPendingSignIns = (options: PendingSignInsOptions): PendingSignIns => {
  const { store, users, tiers, matching, throttles, notes, pepper, clock = Date.now } = options;
  const idOf = (token: string): string => nameOf(pepper, "pending sign-in", token);
  const placeOf = (address: string): string => nameOf(pepper, "network of a pending sign-in", networkOf(address));
  return {
    begin: async ({ _id: userId, sessionEpoch }, address) => {
      const token = randomBytes(TOKEN_BYTES).toString("base64url");
      const expiresAt = new Date(clock() + PENDING_SIGN_IN_MS);
      await store.insert({ _id: idOf(token), userId, network: placeOf(address), sessionEpoch, expiresAt });
      return { token, expiresAt };
    },

    complete: async ({ token, code, address }) => {
      const pending = await store.find(idOf(token), new Date(clock()));
      if (!pending || pending.network !== placeOf(address)) throw notPending();
      const user = await users.find(pending.userId);
      // The epoch increases with a new password, a suspension, and when the user ends all sessions.
      if (!user || !hasSecondFactor(user) || user.sessionEpoch !== pending.sessionEpoch) throw notPending();
      await throttles.codes.attempt(user.email, address);
      const match = matching.match(user, code);
      if (!match) {
        notes.failure(user._id, address);
        throw wrongCode();
      }
      if (!(await store.take(pending._id))) throw notPending();
      if (!(await match.use())) throw wrongCode();
      if (match.isRecoveryCode) notes.recoveryCode(user._id, address);
      await Promise.all([throttles.passwords.succeeded(user.email, address), throttles.codes.succeeded(user.email, address)]);
      return toUser(user, await tiers.planOf(user.tier));
    },
  };
};
