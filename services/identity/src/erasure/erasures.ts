/** Schedules erasures of accounts, keeps their state, and removes identity's own data. */
import { DomainError, invalidRequest, preconditionFailed } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import type { UserRecord } from "../records";
import { knownAddressesOf } from "../sessions/known-address-store";
import type { Reauthentication } from "../sessions/reauthentication";
import type { Tiers } from "../tiers/tiers";
import { NO_PASSWORD } from "../users/passwords";
import type { RunStops } from "../users/run-stops";
import { noSuchUser, toUser, type User } from "../users/user";
import type { UserStore } from "../users/user-store";
import type { OrganizationErasures } from "./organization-erasures";
import { newErasure, type Erasable, type ErasureStore } from "./erasure-store";
import type { SoleOwnerships } from "./sole-ownerships";

/** Accounts per check for due erasures. */
const PAGE = 50;

export type ErasureProof = { password: string; address: string } | "recent sign-in" | "administrator";

/** The account to erase: the user's own account, or an organization that the user owns. */
export interface ErasureOf {
  userId: string;
  /** Empty for the user's own account. */
  organizationId: string;
}

export interface DueErasure {
  /** Id of a person's account or of an organization, here and in the methods below. */
  userId: string;
  /** True if only the mark remains. */
  isEnded: boolean;
}

export interface Erasures {
  /**
   * Schedules an erasure after the waiting time and stops the account's runs. An erasure that is already scheduled keeps its time.
   * @returns the account
   * @throws UNAUTHENTICATED, RATE_LIMIT_EXCEEDED, NOT_FOUND; INVALID_REQUEST if the password is missing; PRECONDITION_FAILED for an
   *   administrator's account; SOLE_OWNER; CAPABILITY_DENIED for a member who isn't an owner
   */
  request(of: ErasureOf, proof: ErasureProof): Promise<User>;
  /**
   * Cancels an erasure.
   * @param of without a user, if an administrator cancels the erasure of an organization
   * @throws PRECONDITION_FAILED if the erasure has started, NOT_FOUND, CAPABILITY_DENIED
   */
  withdraw(of: ErasureOf): Promise<User>;
  due(): Promise<DueErasure[]>;
  /** @throws PRECONDITION_FAILED if no erasure is due */
  begin(userId: string): Promise<void>;
  /** @throws PRECONDITION_FAILED if the erasure hasn't started */
  end(userId: string): Promise<void>;
  forget(userId: string): Promise<void>;
}

export interface ErasuresOptions {
  store: ErasureStore;
  organizations: OrganizationErasures;
  users: Pick<UserStore, "find">;
  tiers: Pick<Tiers, "planOf">;
  reauthentication: Reauthentication;
  runStops: Pick<RunStops, "begin" | "drop">;
  soleOwnerships: SoleOwnerships;
  changes: Changes;
  pepper: string;
  /** Time in which an erasure can be cancelled. */
  waitMs: number;
  clock: () => number;
}

const soleOwner = (organizations: readonly { id: string; name: string }[]): DomainError =>
  new DomainError(
    "conflict",
    "SOLE_OWNER",
    `the account is the only owner of ${organizations.map(({ name }) => name).join(", ")}: make another member its owner, or delete it, first`,
    { organizations: organizations.map(({ id, name }) => ({ id, name })) },
  );

export const createErasures = (options: ErasuresOptions): Erasures => {
  const { store, users, tiers, reauthentication, runStops, soleOwnerships, organizations, changes, pepper, waitMs, clock } = options;

  const shownUser = async (user: UserRecord): Promise<User> => toUser(user, await tiers.planOf(user.tier));

  const requireUser = async (userId: string): Promise<UserRecord> => {
    const user = await users.find(userId);
    if (!user) throw noSuchUser();
    return user;
  };

  const proven = async (userId: string, proof: ErasureProof): Promise<UserRecord> => {
    if (typeof proof === "object") return reauthentication.byPassword({ userId, ...proof });
    const user = await requireUser(userId);
    if (proof === "recent sign-in" && user.passwordHash !== NO_PASSWORD)
      throw invalidRequest([{ path: "password", message: "is required" }]);
    return user;
  };

  const requestOrganization = async ({ userId, organizationId }: ErasureOf, proof: ErasureProof): Promise<User> => {
    if (proof === "administrator") return organizations.request(undefined, organizationId);
    await organizations.requireOwner(userId, organizationId);
    await proven(userId, proof);
    return organizations.request(userId, organizationId);
  };

  return {
    request: async ({ userId, organizationId }, proof) => {
      if (organizationId !== "") return requestOrganization({ userId, organizationId }, proof);
      const user = await proven(userId, proof);
      if (user.role === "admin")
        throw preconditionFailed("an administrator's account can't be deleted: another administrator takes the role from it first");
      if (user.erasure) return shownUser(user);
      const sole = await soleOwnerships(userId);
      if (sole.length > 0) throw soleOwner(sole);
      const now = clock();
      const stop = await runStops.begin(userId);
      const noted = await store.request(userId, newErasure(new Date(now), new Date(now + waitMs)), stop);
      // A concurrent request scheduled the erasure first.
      if (!noted) await runStops.drop(stop);
      await changes.announce({ type: "user", id: userId });
      return shownUser(noted ?? (await requireUser(userId)));
    },

    withdraw: async ({ userId, organizationId }) => {
      if (organizationId !== "") return organizations.withdraw(userId || undefined, organizationId);
      const user = (await store.withdraw(userId)) ?? (await requireUser(userId));
      if (user.erasure) throw preconditionFailed("the account is being deleted already");
      await changes.announce({ type: "user", id: userId });
      return shownUser(user);
    },

    due: async () => {
      const now = new Date(clock());
      const erasables: Erasable[] = [...(await store.due(now, PAGE)), ...(await organizations.due(now, PAGE))];
      return erasables.map(({ _id: userId, erasure }) => ({ userId, isEnded: Boolean(erasure?.endedAt) }));
    },

    begin: async (userId) => {
      const user = await users.find(userId);
      if (!user) return organizations.begin(userId);
      if (user.erasure?.begunAt) return;
      if (!(await store.begin(user, new Date(clock()), knownAddressesOf(pepper, user.email))))
        throw preconditionFailed("the account is not to be deleted now");
      await changes.announce({ type: "user", id: userId });
    },

    end: async (userId) => {
      const now = new Date(clock());
      if (!(await store.end(userId, now)) && !(await organizations.end(userId, now)))
        throw preconditionFailed("the erasure of the account has not begun");
    },

    forget: async (userId) => {
      await store.forget(userId);
      await organizations.forget(userId);
      await changes.announce({ type: "user", id: userId });
    },
  };
};
