/** Sign-in with an OpenID Connect provider, with the redirect to the provider and the callback. */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { accountSuspended } from "@nodeloom/kernel";
import type { OidcSignInRecord, UserRecord } from "../records";
import type { PendingSignIn, PendingSignIns } from "../sign-in/pending-sign-ins";
import { nameOf } from "../networks";
import type { Reauthentication, ByPassword } from "../sessions/reauthentication";
import { hasSecondFactor, noSuchUser, type User } from "../users/user";
import type { UserStore } from "../users/user-store";
import type { OidcAccounts } from "./accounts";
import type { OidcStore } from "./oidc-store";
import { oidcError, oidcNotConfigured } from "./problems";
import type { Provider } from "./provider";

/** Time limit for signing in at the provider. */
export const OIDC_SIGN_IN_MS = 10 * 60 * 1_000;
const BROWSER_BYTES = 32;

export interface BegunSignIn {
  /** The provider's URL, to which the browser is redirected. */
  url: string;
  /** Cookie value that ties the callback to the same browser. */
  browser: string;
}

export interface OidcStart {
  /** The gateway's callback URL. */
  redirectUri: string;
  /** Path of the page to open after sign-in. */
  returnTo: string;
}

export interface OidcResult {
  returnTo: string;
  /** The account before and after the claims were applied; undefined for a new link. */
  account: { before: User; after: User } | undefined;
  /** Set if the account requires a code, so that there is no session yet. */
  pending: PendingSignIn | undefined;
  /** Set if an account was linked. */
  linkedUserId?: string;
}

export interface OidcState {
  /** Display name of the provider; undefined if none is configured. */
  name: string | undefined;
  linkedAt: Date | undefined;
}

export interface Oidc {
  /** Display name of the provider; undefined if none is configured. */
  readonly name: string | undefined;
  /** @throws NOT_CONFIGURED, `away` */
  start(begin: OidcStart): Promise<BegunSignIn>;
  /** Starts linking an identity to a signed-in user's account. Requires the password. */
  startLink(begin: OidcStart & ByPassword): Promise<BegunSignIn>;
  /**
   * Handles the callback. If the account has a second factor, a code is required before a session starts.
   * @param back the callback URL as it was called; `browser` is the cookie's value
   * @throws NOT_CONFIGURED, and the errors in problems.ts
   */
  finish(back: { url: string; browser: string; address: string }): Promise<OidcResult>;
  state(userId: string): Promise<OidcState>;
  /** Removes a link. Requires the password, because an account without a password could no longer sign in. */
  unlink(by: ByPassword): Promise<void>;
  /** Removes a user's link for an administrator and ends the user's sessions. @returns false if the user had no link @throws NOT_FOUND */
  reset(userId: string): Promise<boolean>;
}

export interface OidcOptions {
  /** The provider, or undefined if none is configured. */
  provider: { name: string; protocol: Provider; accounts: OidcAccounts } | undefined;
  store: OidcStore;
  users: Pick<UserStore, "find">;
  endSessions(userId: string): Promise<unknown>;
  reauthentication: Reauthentication;
  pendingSignIns: Pick<PendingSignIns, "begin">;
  pepper: string;
  clock?: () => number;
}

const isSame = (one: string, right: string): boolean =>
  one.length === right.length && timingSafeEqual(Buffer.from(one), Buffer.from(right));

export const createOidc = (options: OidcOptions): Oidc => {
  const { provider, store, users, endSessions, reauthentication, pendingSignIns, pepper, clock = Date.now } = options;
  const required = (): NonNullable<OidcOptions["provider"]> => {
    if (!provider) throw oidcNotConfigured();
    return provider;
  };
  const signInId = (state: string): string => nameOf(pepper, "state of an OpenID sign-in", state);
  const browserHash = (browser: string): string => nameOf(pepper, "browser of an OpenID sign-in", browser);

  const begin = async ({ redirectUri, returnTo }: OidcStart, linking: UserRecord | undefined): Promise<BegunSignIn> => {
    const { url, secrets } = await required().protocol.authorize(redirectUri);
    const browser = randomBytes(BROWSER_BYTES).toString("base64url");
    await store.begin({
      _id: signInId(secrets.state),
      browser: browserHash(browser),
      nonce: secrets.nonce,
      verifier: secrets.verifier,
      redirectUri,
      returnTo,
      linking: linking ? { userId: linking._id, sessionEpoch: linking.sessionEpoch } : null,
      expiresAt: new Date(clock() + OIDC_SIGN_IN_MS),
    });
    return { url, browser };
  };

  /** Returns the pending sign-in of a callback. A second call for it fails. */
  const takeSignIn = async (state: string, browser: string): Promise<OidcSignInRecord> => {
    const signIn = await store.take(signInId(state));
    if (!signIn || signIn.expiresAt.getTime() <= clock() || !isSame(signIn.browser, browserHash(browser))) throw oidcError("state");
    return signIn;
  };

  const linkingUser = async ({ userId, sessionEpoch }: NonNullable<OidcSignInRecord["linking"]>): Promise<UserRecord> => {
    const user = await users.find(userId);
    if (!user || user.sessionEpoch !== sessionEpoch) throw oidcError("state");
    return user;
  };

  return {
    name: provider?.name,
    start: (start) => begin(start, undefined),
    startLink: async ({ redirectUri, returnTo, ...by }) => {
      required();
      return begin({ redirectUri, returnTo }, await reauthentication.byPassword(by));
    },

    finish: async ({ url, browser, address }) => {
      const { protocol, accounts } = required();
      const { searchParams } = new URL(url);
      const state = searchParams.get("state") ?? "";
      const { nonce, verifier, redirectUri, returnTo, linking } = await takeSignIn(state, browser);
      const back = new URL(redirectUri);
      back.search = searchParams.toString();
      const claims = await protocol.redeem(back.href, { state, nonce, verifier });
      if (linking) {
        await accounts.link(claims, await linkingUser(linking));
        return { returnTo, account: undefined, pending: undefined, linkedUserId: linking.userId };
      }
      const user = await accounts.resolve(claims);
      if (user.suspended) throw accountSuspended();
      const account = await accounts.apply(claims, user._id);
      // The second factor is required, even after linking or the provider's own sign-in.
      return { returnTo, account, pending: hasSecondFactor(user) ? await pendingSignIns.begin(user, address) : undefined };
    },

    state: async (userId) => {
      const user = await users.find(userId);
      if (!user) throw noSuchUser();
      return { name: provider?.name, linkedAt: (await store.findOfUser(userId))?.linkedAt };
    },

    unlink: async (by) => {
      const user = await reauthentication.byPassword(by);
      await store.unlink(user._id);
    },

    reset: async (userId) => {
      if (!(await users.find(userId))) throw noSuchUser();
      const removed = await store.unlink(userId);
      if (removed) await endSessions(userId);
      return removed;
    },
  };
};
