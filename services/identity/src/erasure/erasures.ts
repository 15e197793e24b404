/** erasure/: when accounts are to be erased, how far that has come, and what identity itself erases. */
import { DomainError } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import type { UserRecord } from "../records";
import { knownAddressesOf } from "../sessions/known-address-store";
import type { Reauthentication } from "../sessions/reauthentication";
import type { Tiers } from "../tiers/tiers";
import { NO_PASSWORD } from "../users/passwords";
import type { RunStops } from "../users/run-stops";
import { noSuchUser, toUser, type User } from "../users/user";
import type { UserStore } from "../users/user-store";
import type { ErasureStore } from "./erasure-store";
import type { SoleOwnerships } from "./sole-ownerships";

const DAY_MS = 86_400_000;
/** Accounts that one look answers. */
const PAGE = 50;

/** By what somebody may have an account erased. */
export type ErasureProof = { password: string; address: string } | "recent sign-in" | "administrator";

export interface DueErasure {
  userId: string;
  /** Nothing is left but the mark. */
  isEnded: boolean;
}

export interface Erasures {
  /**
   * Has an account erased after the waiting time, and ends its runs; one that is to be erased already keeps its time.
   * @throws UNAUTHENTICATED, RATE_LIMIT_EXCEEDED, NOT_FOUND; PRECONDITION_FAILED for an administrator's account, and where the password
   * is missing; SOLE_OWNER
   */
  request(userId: string, proof: ErasureProof): Promise<User>;
  /** @throws PRECONDITION_FAILED once the erasure has begun, NOT_FOUND */
  withdraw(userId: string): Promise<User>;
  due(): Promise<DueErasure[]>;
  /** @throws PRECONDITION_FAILED where the account is not to be erased now */
  begin(userId: string): Promise<void>;
  /** @throws PRECONDITION_FAILED where the erasure has not begun */
  end(userId: string): Promise<void>;
  forget(userId: string): Promise<void>;
}

export interface ErasuresOptions {
  store: ErasureStore;
  users: Pick<UserStore, "find">;
  tiers: Pick<Tiers, "planOf">;
  reauthentication: Reauthentication;
  runStops: Pick<RunStops, "begin" | "drop">;
  soleOwnerships: SoleOwnerships;
  changes: Changes;
  pepper: string;
  /** How long an account can change its mind. */
  days: number;
  clock: () => number;
}

const refused = (message: string): DomainError => new DomainError("precondition", "PRECONDITION_FAILED", message);

const soleOwner = (organizations: readonly { id: string; name: string }[]): DomainError =>
  new DomainError(
    "conflict",
    "SOLE_OWNER",
    `the account is the only owner of ${organizations.map(({ name }) => name).join(", ")}: give each another owner first`,
    { organizations: organizations.map(({ id, name }) => ({ id, name })) },
  );

export const createErasures = (options: ErasuresOptions): Erasures => {
  const { store, users, tiers, reauthentication, runStops, soleOwnerships, changes, pepper, days, clock } = options;

  const shown = async (user: UserRecord): Promise<User> => toUser(user, await tiers.planOf(user.tier));

  const known = async (userId: string): Promise<UserRecord> => {
    const user = await users.find(userId);
    if (!user) throw noSuchUser();
    return user;
  };

  const proven = async (userId: string, proof: ErasureProof): Promise<UserRecord> => {
    if (typeof proof === "object") return reauthentication.byPassword({ userId, ...proof });
    const user = await known(userId);
    if (proof === "recent sign-in" && user.passwordHash !== NO_PASSWORD) throw refused("the account has a password: send it");
    return user;
  };

  return {
    request: async (userId, proof) => {
      const user = await proven(userId, proof);
      if (user.role === "admin")
        throw refused("an administrator's account can't be deleted: another administrator takes the role from it first");
      if (user.erasure) return shown(user);
      const organizations = await soleOwnerships(userId);
      if (organizations.length > 0) throw soleOwner(organizations);
      const requestedAt = new Date(clock());
      const stop = await runStops.begin(userId);
      const noted = await store.request(userId, { requestedAt, erasesAt: new Date(clock() + days * DAY_MS) }, stop);
      // Another request was faster.
      if (!noted) await runStops.drop(stop);
      await changes.announce({ type: "user", id: userId });
      return shown(noted ?? (await known(userId)));
    },

    withdraw: async (userId) => {
      const user = (await store.withdraw(userId)) ?? (await known(userId));
      if (user.erasure) throw refused("the account is being deleted already");
      await changes.announce({ type: "user", id: userId });
      return shown(user);
    },

    due: async () => {
      const found = await store.due(new Date(clock()), PAGE);
      return found.map(({ _id: userId, erasure }) => ({ userId, isEnded: Boolean(erasure?.endedAt) }));
    },

    begin: async (userId) => {
      const user = await known(userId);
      if (user.erasure?.begunAt) return;
      if (!(await store.begin(user, new Date(clock()), knownAddressesOf(pepper, user.email))))
        throw refused("the account is not to be deleted now");
      await changes.announce({ type: "user", id: userId });
    },

    end: async (userId) => {
      if (!(await store.end(userId, new Date(clock())))) throw refused("the erasure of the account has not begun");
    },

    forget: async (userId) => {
      await store.forget(userId);
      await changes.announce({ type: "user", id: userId });
    },
  };
};
