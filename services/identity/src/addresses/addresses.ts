/** Email addresses of users: verification, password resets and notices. */
import { DomainError, invalidRequest, isNotice, NOTICES, ORGANIZATION_BOUNDS, type Notice } from "@nodeloom/kernel";
import type { OrganizationStore } from "../organizations/organization-store";
import type { UserRecord } from "../records";
import { createLinkTokens } from "../sessions/link-tokens";
import type { PasswordChanges } from "../sessions/password-changes";
import { normaliseEmail } from "../users/emails";
import { hasPassword } from "../users/passwords";
import { isVerified, noSuchUser } from "../users/user";
import type { UserStore } from "../users/user-store";
import type { AddressStore } from "./address-store";
import { createUnsubscribing } from "./unsubscribing";

export const VERIFICATION_LINK_MS = 24 * 60 * 60 * 1_000;
const PURPOSE = "address verification";

/** A token to send by email. Using it proves that the address belongs to the user. */
export interface MailedToken {
  email: string;
  token: string;
  expiresAt: Date;
}

export interface AddressState {
  email: string;
  verifiedAt: Date | null;
  mutedNotices: Notice[];
  /** Tokens by notice. */
  unsubscribeTokens: Record<string, string>;
  suspended: boolean;
}

export interface AccountOwners {
  /** Ids of recipients. Members of longest standing come first. */
  userIds: string[];
  /** Empty for a personal account. */
  organizationName: string;
}

export interface Addresses {
  /**
   * Creates a reset token for an address. Returns null if no account has the address, if the account has no password, or if it is
   * suspended.
   */
  createReset(email: string): Promise<MailedToken | null>;
  /**
   * Creates a verification token that is valid for one day and replaces earlier tokens. Returns null if the address is verified or the user
   * doesn't exist.
   */
  createVerification(userId: string): Promise<MailedToken | null>;
  /**
   * Verifies the address of a signed-in user. Idempotent.
   * @throws UNAUTHENTICATED if the token is unknown, expired or another user's
   */
  verify(userId: string, token: string): Promise<void>;
  /** Recipients of an account's email: the person, or some owners of the organization. @throws NOT_FOUND */
  owners(accountId: string): Promise<AccountOwners>;
  /** @throws NOT_FOUND */
  get(userId: string): Promise<AddressState>;
  /**
   * Mutes or unmutes notices. @returns all muted notices
   * @throws INVALID_REQUEST, NOT_FOUND
   */
  mute(userId: string, muted: Readonly<Record<string, boolean>>): Promise<Notice[]>;
  /**
   * Mutes the notice of an unsubscribe link. @returns the muted notice
   * @throws UNAUTHENTICATED for an invalid token
   */
  unsubscribe(token: string): Promise<Notice>;
}

export interface AddressesOptions {
  users: Pick<UserStore, "find" | "findByEmail">;
  store: AddressStore;
  organizations: Pick<OrganizationStore, "find">;
  passwordChanges: Pick<PasswordChanges, "createReset">;
  pepper: string;
  clock?: () => number;
}

const deadLink = (): DomainError =>
  new DomainError("unauthenticated", "UNAUTHENTICATED", "this link is unknown, expired, or of another account; ask for another one");

const mutedOf = ({ mutedNotices = {} }: UserRecord): Notice[] => NOTICES.filter((notice) => mutedNotices[notice] === true);

export const createAddresses = ({
  users,
  store,
  organizations,
  passwordChanges,
  pepper,
  clock = Date.now,
}: AddressesOptions): Addresses => {
  const tokens = createLinkTokens(pepper, PURPOSE);
  const unsubscribing = createUnsubscribing(pepper);
  return {
    createReset: async (email) => {
      const user = await users.findByEmail(normaliseEmail(email));
      if (!user || user.suspended || !hasPassword(user)) return null;
      return { email: user.email, ...(await passwordChanges.createReset(user._id, true)) };
    },

    createVerification: async (userId) => {
      const user = await users.find(userId);
      if (!user || user.suspended || isVerified(user)) return null;
      const { token, hash } = tokens.create(userId);
      const expiresAt = new Date(clock() + VERIFICATION_LINK_MS);
      return (await store.setVerification(userId, { hash, expiresAt })) ? { email: user.email, token, expiresAt } : null;
    },

    verify: async (userId, token) => {
      const link = tokens.read(token);
      if (link?.userId !== userId) throw deadLink();
      if (await store.verify(userId, link.hash, new Date(clock()))) return;
      // The token is already used, for example by a second click.
      const user = await users.find(userId);
      if (!user || !isVerified(user)) throw deadLink();
    },

    owners: async (accountId) => {
      if (await users.find(accountId)) return { userIds: [accountId], organizationName: "" };
      const organization = await organizations.find(accountId);
      if (!organization) throw noSuchUser();
      const owners = organization.members.filter(({ role }) => role === "owner");
      const userIds = owners.slice(0, ORGANIZATION_BOUNDS.mailedOwners).map(({ personId }) => personId);
      return { userIds, organizationName: organization.name };
    },

    get: async (userId) => {
      const user = await users.find(userId);
      if (!user) throw noSuchUser();
      const { email, suspended, createdAt, emailVerifiedAt = null } = user;
      const verifiedAt = emailVerifiedAt ?? (isVerified(user) ? createdAt : null);
      return { email, suspended, verifiedAt, mutedNotices: mutedOf(user), unsubscribeTokens: unsubscribing.tokensFor(userId) };
    },

    mute: async (userId, muted) => {
      if (!Object.keys(muted).every(isNotice)) throw invalidRequest([{ path: "muted", message: `must be of ${NOTICES.join(", ")}` }]);
      const user = Object.keys(muted).length > 0 ? await store.mute(userId, muted) : await users.find(userId);
      if (!user) throw noSuchUser();
      return mutedOf(user);
    },

    unsubscribe: async (token) => {
      const content = unsubscribing.read(token);
      if (!content || !(await store.mute(content.userId, { [content.notice]: true }))) throw deadLink();
      return content.notice;
    },
  };
};
