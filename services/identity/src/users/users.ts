import { CONFLICT_ATTEMPTS, DomainError, invalidRequest, isLonger, LIMITS, unavailable, type Issue } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import type { Changes } from "../changes";
import type { Business, UserRecord } from "../records";
import type { Tiers } from "../tiers/tiers";
import type { RunStops } from "./run-stops";
import { noSuchUser, toUser, type User } from "./user";
import { pageOfUsers, type UserList, type UserQuery } from "./user-list";
import type { UserChanges, UserStore } from "./user-store";

export interface UserUpdate {
  approved?: boolean;
  suspended?: boolean;
  tier?: string;
  role?: string;
  /** Null removes the business. */
  business?: Business | null;
}

export interface Users {
  /** @throws NOT_FOUND */
  get(id: string): Promise<User>;
  find(id: string): Promise<User | null>;
  list(query: UserQuery): Promise<UserList>;
  /**
   * Changes a user in one update. Suspension and loss of approval end sessions and stop runs; loss of approval also ends keys. Idempotent.
   * @throws INVALID_REQUEST for an unknown tier or role, or a business without a name
   */
  update(id: string, update: UserUpdate): Promise<{ before: User; after: User }>;
}

export interface UsersOptions {
  store: UserStore;
  tiers: Tiers;
  runStops: Pick<RunStops, "begin" | "drop">;
  /** Removes keys of an owner with a lower epoch. */
  removeEndedKeys(userId: string, keyEpoch: number): Promise<void>;
  changes: Changes;
}

const MEMBERS = ["approved", "suspended", "tier", "role", "business"] as const;

const businessIssues = ({ name }: Business): Issue[] =>
  name.trim() === "" || isLonger(name, LIMITS.nameChars)
    ? [{ path: "business.name", message: `must have 1 to ${LIMITS.nameChars} characters` }]
    : [];

const checkUpdate = async (update: UserUpdate, tiers: Tiers): Promise<UserChanges> => {
  const { approved, suspended, tier, role, business } = update;
  const issues: Issue[] = [];
  if (tier !== undefined && !(await tiers.isAssignable(tier))) issues.push({ path: "tier", message: "isn't a known tier" });
  if (role !== undefined && role !== "user" && role !== "admin") issues.push({ path: "role", message: "must be user or admin" });
  if (business) issues.push(...businessIssues(business));
  if (MEMBERS.every((member) => update[member] === undefined)) {
    issues.push({ path: "", message: `send at least one of ${MEMBERS.join(", ")}` });
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return {
    ...(approved === undefined ? {} : { approved }),
    ...(suspended === undefined ? {} : { suspended }),
    ...(tier === undefined ? {} : { tier }),
    ...(role === undefined ? {} : { role: role as UserRecord["role"] }),
    ...(business === undefined ? {} : { business: business && { ...business, name: business.name.trim() } }),
  };
};

/** Returns which access a change ends. */
const endedBy = (changes: UserChanges, { approved, suspended }: UserRecord): { runs: boolean; keys: boolean } => {
  const losesApproval = approved && changes.approved === false;
  return { runs: losesApproval || (!suspended && changes.suspended === true), keys: losesApproval };
};

export const createUsers = ({ store, tiers, runStops, removeEndedKeys, changes }: UsersOptions): Users => {
  const find = async (id: string): Promise<User | null> => {
    const user = await store.find(id);
    return user && toUser(user, await tiers.planOf(user.tier));
  };

  /** Makes one attempt. Returns undefined if the user's standing has changed. */
  const tryUpdate = async (id: string, userChanges: UserChanges): Promise<{ before: UserRecord; after: UserRecord } | undefined> => {
    const standing = await store.find(id);
    if (!standing) throw noSuchUser();
    const accessEnds = endedBy(userChanges, standing);
    if (!accessEnds.runs) {
      const before = await store.update(standing, userChanges, null);
      return before ? { before, after: { ...before, ...userChanges, revision: before.revision + 1 } } : undefined;
    }
    const stop = await runStops.begin(id);
    const before = await store.update(standing, userChanges, { stop, keys: accessEnds.keys });
    if (!before) {
      await runStops.drop(stop);
      return undefined;
    }
    const keyEpoch = before.keyEpoch + (accessEnds.keys ? 1 : 0);
    if (accessEnds.keys) await removeEndedKeys(id, keyEpoch);
    return {
      before,
      after: { ...before, ...userChanges, revision: before.revision + 1, stop, sessionEpoch: before.sessionEpoch + 1, keyEpoch },
    };
  };

  const change = async (id: string, userChanges: UserChanges): Promise<{ before: UserRecord; after: UserRecord }> => {
    const changed = await retryOnConflict(CONFLICT_ATTEMPTS.user, () => tryUpdate(id, userChanges));
    if (!changed) throw unavailable("the user is being changed by too many at once");
    return changed;
  };

  return {
    find,
    get: async (id) => {
      const user = await find(id);
      if (!user) throw noSuchUser();
      return user;
    },
    list: (query) => pageOfUsers(store, tiers, query),
    update: async (id, update) => {
      const userChanges = await checkUpdate(update, tiers);
      const { before, after } = await change(id, userChanges);
      if (userChanges.tier !== undefined && !(await tiers.isAssignable(userChanges.tier))) {
        // The tier's deletion started after the check above and may have missed this user.
        await store.replaceTier(id, userChanges.tier, before.tier);
        await changes.announce({ type: "user", id });
        throw new DomainError("precondition", "PRECONDITION_FAILED", "the tier is being deleted");
      }
      await changes.announce({ type: "user", id });
      const planOf = await tiers.plansOf([before.tier, after.tier]);
      return { before: toUser(before, planOf(before.tier)), after: toUser(after, planOf(after.tier)) };
    },
  };
};
