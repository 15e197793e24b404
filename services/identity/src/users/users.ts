import { randomUUID } from "node:crypto";
import { DomainError, invalidRequest, LIMITS, type Issue } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import { isEmail, normaliseEmail } from "./emails";
import type { LoginThrottle } from "../sessions/login-throttle";
import { passwordProblem, type Passwords } from "./passwords";
import type { Business, UserRecord } from "../records";
import type { Tiers } from "../tiers/tiers";
import { toUser, type User } from "./user";
import { pageOfUsers, type UserList, type UserQuery } from "./user-list";
import type { UserChanges, UserStore } from "./user-store";

export interface UserUpdate {
  approved?: boolean;
  tier?: string;
  role?: string;
  /** Null: there is none any more. */
  business?: Business | null;
}

export interface Users {
  /** Creates a user on Free awaiting approval. INVALID_REQUEST, or ALREADY_EXISTS. */
  register(email: string, password: string): Promise<User>;
  /** UNAUTHENTICATED for an unknown address and a wrong password alike, RATE_LIMIT_EXCEEDED after too many failures. */
  login(email: string, password: string): Promise<User>;
  /** NOT_FOUND when there is none. */
  get(id: string): Promise<User>;
  /** The user, or null. */
  find(id: string): Promise<User | null>;
  list(query: UserQuery): Promise<UserList>;
  /** Applies the given members in one step. INVALID_REQUEST for an unknown tier or role, or a business without a name. */
  update(id: string, update: UserUpdate): Promise<{ before: User; after: User }>;
  /** Makes sure that an approved admin with this address and password exists, whoever else does so at the same time. */
  ensureAdmin(email: string, password: string): Promise<void>;
}

export interface UsersOptions {
  store: UserStore;
  tiers: Tiers;
  passwords: Passwords;
  throttle: LoginThrottle;
  changes: Changes;
  clock?: () => number;
}

const noSuchUser = (): DomainError => new DomainError("not_found", "NOT_FOUND", "no such user");
const ADMIN = { role: "admin", tier: "enterprise", approved: true } as const;

const checkCredentials = (email: string, password: string): void => {
  const issues: Issue[] = [];
  if (!isEmail(email)) issues.push({ path: "email", message: "must be an e-mail address" });
  const problem = passwordProblem(password);
  if (problem) issues.push({ path: "password", message: problem });
  if (issues.length > 0) throw invalidRequest(issues);
};

type Registration = Pick<Users, "register" | "login" | "ensureAdmin">;

const createRegistration = ({ store, tiers, passwords, throttle, changes, clock = Date.now }: UsersOptions): Registration => {
  const record = (email: string, passwordHash: string, rest: Pick<UserRecord, "role" | "tier" | "approved">): UserRecord => ({
    _id: randomUUID(),
    email,
    passwordHash,
    ...rest,
    createdAt: new Date(clock()),
  });

  return {
    register: async (address, password) => {
      const email = normaliseEmail(address);
      checkCredentials(email, password);
      const user = record(email, await passwords.hash(password), { role: "user", tier: "free", approved: false });
      if (!(await store.insert(user))) throw new DomainError("conflict", "ALREADY_EXISTS", "this e-mail address is registered already");
      return toUser(user, await tiers.planOf(user.tier));
    },

    login: async (address, password) => {
      const email = normaliseEmail(address);
      await throttle.attempt(email);
      const user = await store.findByEmail(email);
      const matches = await passwords.verify(user?.passwordHash, password);
      if (!user || !matches) throw new DomainError("unauthenticated", "UNAUTHENTICATED", "wrong e-mail address or password");
      await throttle.succeeded(email);
      return toUser(user, await tiers.planOf(user.tier));
    },

    ensureAdmin: async (address, password) => {
      const email = normaliseEmail(address);
      checkCredentials(email, password);
      let user = await store.findByEmail(email);
      if (!user) {
        if (await store.insert(record(email, await passwords.hash(password), ADMIN))) return;
        user = await store.findByEmail(email);
      }
      if (!user) throw new Error("the bootstrap admin disappeared while it was being made");
      const known = await passwords.verify(user.passwordHash, password);
      if (known && user.role === ADMIN.role && user.tier === ADMIN.tier && user.approved) return;
      // Whoever registered this address before must not become admin with a password of their own.
      const passwordHash = known ? user.passwordHash : await passwords.hash(password);
      await store.promote(user._id, user.passwordHash, { passwordHash, ...ADMIN });
      await changes.announce({ type: "user", id: user._id });
    },
  };
};

const businessIssues = ({ name }: Business): Issue[] =>
  name.trim() === "" || name.length > LIMITS.nameChars
    ? [{ path: "business.name", message: `must have 1 to ${LIMITS.nameChars} characters` }]
    : [];

const checkUpdate = async ({ approved, tier, role, business }: UserUpdate, tiers: Tiers): Promise<UserChanges> => {
  const issues: Issue[] = [];
  if (tier !== undefined && !(await tiers.isAssignable(tier))) issues.push({ path: "tier", message: "is no known tier" });
  if (role !== undefined && role !== "user" && role !== "admin") issues.push({ path: "role", message: "must be user or admin" });
  if (business) issues.push(...businessIssues(business));
  if (approved === undefined && tier === undefined && role === undefined && business === undefined) {
    issues.push({ path: "", message: "give at least one of approved, tier, role, business" });
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return {
    ...(approved === undefined ? {} : { approved }),
    ...(tier === undefined ? {} : { tier }),
    ...(role === undefined ? {} : { role: role as UserRecord["role"] }),
    ...(business === undefined ? {} : { business: business && { ...business, name: business.name.trim() } }),
  };
};

export const createUsers = (options: UsersOptions): Users => {
  const { store, tiers, changes } = options;
  const find = async (id: string): Promise<User | null> => {
    const user = await store.find(id);
    return user && toUser(user, await tiers.planOf(user.tier));
  };
  return {
    ...createRegistration(options),
    find,
    get: async (id) => {
      const user = await find(id);
      if (!user) throw noSuchUser();
      return user;
    },
    list: (query) => pageOfUsers(store, tiers, query),
    update: async (id, update) => {
      const wanted = await checkUpdate(update, tiers);
      const before = await store.update(id, wanted);
      if (!before) throw noSuchUser();
      if (wanted.tier !== undefined && !(await tiers.isAssignable(wanted.tier))) {
        // The tier's deletion began after the check above and may have overlooked this user.
        await store.replaceTier(id, wanted.tier, before.tier);
        await changes.announce({ type: "user", id });
        throw new DomainError("precondition", "PRECONDITION_FAILED", "the tier is being deleted");
      }
      await changes.announce({ type: "user", id });
      const after = { ...before, ...wanted };
      const planOf = await tiers.plansOf([before.tier, after.tier]);
      return { before: toUser(before, planOf(before.tier)), after: toUser(after, planOf(after.tier)) };
    },
  };
};
