/** Selects the account for an identity from the OIDC provider. */
import { createHash } from "node:crypto";
import type { Logger } from "@nodeloom/platform";
import type { Changes } from "../changes";
import type { UserRecord } from "../records";
import type { Tiers } from "../tiers/tiers";
import { NO_PASSWORD } from "../users/passwords";
import { isVerified, newUser, type User } from "../users/user";
import type { UserStore } from "../users/user-store";
import type { Users } from "../users/users";
import { isAdminByClaim, isAllowedDomain, tierByClaim, type OidcClaims } from "./claims";
import type { OidcStore } from "./oidc-store";
import { oidcError } from "./problems";
import type { OidcSettings } from "./settings";

const FREE = { role: "user", tier: "free" } as const;

export interface OidcAccounts {
  /**
   * Returns the linked account. If there is none, links the account with the verified address, or creates an account.
   * @throws `domain`, `unverified`, `taken`
   */
  resolve(claims: OidcClaims): Promise<UserRecord>;
  /** Links an identity to a signed-in user's account. @throws `domain`, `unverified`, `taken` */
  link(claims: OidcClaims, user: UserRecord): Promise<void>;
  /** Applies the role and tier from the claims. @returns the account before and after */
  apply(claims: OidcClaims, userId: string): Promise<{ before: User; after: User }>;
}

export interface OidcAccountsOptions {
  settings: Pick<OidcSettings, "allowedDomains" | "approves" | "admins" | "tiers">;
  store: OidcStore;
  users: UserStore;
  updates: Pick<Users, "get" | "update">;
  tiers: Pick<Tiers, "isAssignable">;
  endEarlierAccess(user: UserRecord): Promise<void>;
  changes: Changes;
  logger: Logger;
  clock: () => number;
}

/** Derived only from issuer and subject, because an address can change its owner. */
export const identityId = ({ issuer, subject }: Pick<OidcClaims, "issuer" | "subject">): string =>
  createHash("sha256")
    .update(JSON.stringify([issuer, subject]))
    .digest("base64url");

export const createOidcAccounts = (options: OidcAccountsOptions): OidcAccounts => {
  const { settings, store, users, updates, tiers, endEarlierAccess, changes, logger, clock } = options;

  const requireDomain = (claims: OidcClaims): void => {
    if (!isAllowedDomain(claims, settings)) throw oidcError(claims.emailVerified ? "domain" : "unverified");
  };

  const linkTo = async (claims: OidcClaims, userId: string): Promise<void> => {
    const { issuer, subject } = claims;
    const identity = { _id: identityId(claims), issuer, subject, userId, linkedAt: new Date(clock()), admin: false };
    if (await store.link(identity)) return;
    // The link exists if a concurrent sign-in of the same person created it. Otherwise the identity or the account has another link.
    if ((await store.find(identity._id))?.userId !== userId) throw oidcError("taken");
  };

  /** The account's registrant never verified the address, so their access ends. */
  const takeOver = async (user: UserRecord): Promise<UserRecord> => {
    const takenOver = await store.takeOver(user._id, new Date(clock()));
    if (!takenOver) throw oidcError("taken");
    await endEarlierAccess(takenOver);
    await changes.announce({ type: "user", id: user._id });
    logger.info({ userId: user._id }, "an account whose address was not verified was taken over by the OpenID provider's");
    return takenOver;
  };

  const create = async (email: string): Promise<UserRecord | null> => {
    const at = new Date(clock());
    const registration = { ...FREE, email, passwordHash: NO_PASSWORD, approved: settings.approves, emailVerifiedAt: at, createdAt: at };
    const user = newUser(registration);
    return (await users.insert(user)) ? user : users.findByEmail(email);
  };

  const byAddress = async (claims: OidcClaims): Promise<UserRecord> => {
    const { email } = claims;
    if (email === undefined || !claims.emailVerified) throw oidcError("unverified");
    const existingUser = (await users.findByEmail(email)) ?? (await create(email));
    if (!existingUser) throw oidcError("answer");
    const user = isVerified(existingUser) ? existingUser : await takeOver(existingUser);
    await linkTo(claims, user._id);
    return user;
  };

  const changesOf = async (claims: OidcClaims, user: User): Promise<{ role?: "user" | "admin"; tier?: string }> => {
    const identity = await store.find(identityId(claims));
    const isAdmin = isAdminByClaim(claims, settings);
    const tier = tierByClaim(claims, settings);
    const isTier = tier !== undefined && tier !== user.tier && (await tiers.isAssignable(tier));
    if (tier !== undefined && tier !== user.tier && !isTier) logger.warn({ tier }, "OIDC_TIERS names a tier that does not exist");
    const takesRoleBack = !isAdmin && identity?.admin === true && user.role === "admin";
    return {
      ...(isAdmin && user.role !== "admin" ? { role: "admin" as const } : takesRoleBack ? { role: "user" as const } : {}),
      ...(isTier ? { tier } : {}),
    };
  };

  return {
    resolve: async (claims) => {
      requireDomain(claims);
      const identity = await store.find(identityId(claims));
      return (identity && (await users.find(identity.userId))) ?? byAddress(claims);
    },

    link: async (claims, user) => {
      requireDomain(claims);
      await linkTo(claims, user._id);
      if (claims.emailVerified && claims.email === user.email) await store.setVerified(user._id, new Date(clock()));
    },

    apply: async (claims, userId) => {
      const before = await updates.get(userId);
      const change = await changesOf(claims, before);
      if (Object.keys(change).length === 0) return { before, after: before };
      const changed = await updates.update(userId, change);
      if (change.role) await store.setAdmin(identityId(claims), change.role === "admin");
      logger.info({ userId, ...change }, "an account was changed by claims of the OpenID provider");
      return changed;
    },
  };
};
