/** Signing in by an OpenID Connect provider: to the provider with the browser, and back. */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { accountSuspended } from "@nodeloom/kernel";
import type { OidcSignInRecord, UserRecord } from "../records";
import type { PendingSignIn, PendingSignIns } from "../second-factor/pending-sign-ins";
import { nameOf } from "../sessions/networks";
import type { Reauthentication, ByPassword } from "../sessions/reauthentication";
import { hasSecondFactor, noSuchUser, type User } from "../users/user";
import type { UserStore } from "../users/user-store";
import type { OidcAccounts } from "./accounts";
import type { OidcStore } from "./oidc-store";
import { oidcError, oidcNotConfigured } from "./problems";
import type { Provider } from "./provider";

/** How long somebody may take at the provider. */
export const OIDC_SIGN_IN_MS = 10 * 60 * 1_000;
const BROWSER_BYTES = 32;

export interface BegunSignIn {
  /** Of the provider, for the browser. */
  url: string;
  /** For a cookie: the way back is open to that browser alone. */
  browser: string;
}

export interface OidcStart {
  /** The gateway's address that the provider sends the browser back to. */
  redirectUri: string;
  /** Path of the page to go on with. */
  returnTo: string;
}

export interface OidcResult {
  returnTo: string;
  /** Of somebody who signs in, before the claims changed it and after; undefined where an account was linked. */
  account: { before: User; after: User } | undefined;
  /** Set where the account takes a code, too: nobody is signed in before. */
  pending: PendingSignIn | undefined;
}

export interface OidcState {
  /** What the provider is called; undefined without one. */
  name: string | undefined;
  linkedAt: Date | undefined;
}

export interface Oidc {
  /** What the provider is called; undefined without one. */
  readonly name: string | undefined;
  /** @throws NOT_CONFIGURED, `away` */
  start(begin: OidcStart): Promise<BegunSignIn>;
  /** Begins to link the provider's identity to the account of somebody who is signed in, by the password. */
  startLink(begin: OidcStart & ByPassword): Promise<BegunSignIn>;
  /**
   * The browser is back. Nobody is signed in where the account takes a code, too.
   * @param url the redirect address as it was called @param browser of the cookie
   * @throws NOT_CONFIGURED, the problems of problems.ts
   */
  finish(back: { url: string; browser: string; address: string }): Promise<OidcResult>;
  state(userId: string): Promise<OidcState>;
  /** Ends the link of an account, by the password: without one there would be no way in. */
  unlink(by: ByPassword): Promise<void>;
  /** Ends the link of an account for its owner, and the sessions. @returns whether there was one. @throws NOT_FOUND */
  reset(userId: string): Promise<boolean>;
}

export interface OidcOptions {
  /** Undefined where no provider is configured. */
  provider: { name: string; protocol: Provider; accounts: OidcAccounts } | undefined;
  store: OidcStore;
  users: Pick<UserStore, "find">;
  endSessions(userId: string): Promise<unknown>;
  reauthentication: Reauthentication;
  pendingSignIns: Pick<PendingSignIns, "begin">;
  pepper: string;
  clock?: () => number;
}

const isSame = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

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

  /** The sign-in that a browser comes back to; it can come back once. */
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
        return { returnTo, account: undefined, pending: undefined };
      }
      const user = await accounts.resolve(claims);
      if (user.suspended) throw accountSuspended();
      const account = await accounts.apply(claims, user._id);
      // Neither a link nor the provider's word takes the place of a second factor.
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
