import { invalidRequest, type Issue } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import type { UserRecord } from "../records";
import { isEmail, normaliseEmail } from "./emails";
import { passwordProblem } from "./password-rules";
import type { Passwords } from "./passwords";
import { newUser } from "./user";
import type { UserStore } from "./user-store";

const ADMIN = { role: "admin", tier: "enterprise", approved: true, suspended: false } as const;

export const credentialIssues = (email: string, password: string): Issue[] => {
  const issues: Issue[] = [];
  if (!isEmail(email)) issues.push({ path: "email", message: "must be an e-mail address" });
  const problem = passwordProblem(password, email);
  if (problem) issues.push({ path: "password", message: problem });
  return issues;
};

export interface Bootstrap {
  /**
   * Creates or updates the approved administrator with this address. Concurrent calls are safe. Sets the password only if the configured
   * password has changed, so that a password chosen by the administrator stays.
   * @throws INVALID_REQUEST if the password must be set and is unsuitable
   */
  ensureAdmin(email: string, password: string): Promise<void>;
}

export interface BootstrapOptions {
  store: UserStore;
  /** Removes an account's link to a provider. */
  unlink(userId: string): Promise<unknown>;
  passwords: Passwords;
  changes: Changes;
  clock?: () => number;
}

export const createBootstrap = ({ store, unlink, passwords, changes, clock = Date.now }: BootstrapOptions): Bootstrap => {
  const newHash = async (email: string, password: string): Promise<string> => {
    const issues = credentialIssues(email, password);
    if (issues.length > 0) throw invalidRequest(issues);
    return passwords.hash(password);
  };

  const insert = async (email: string, password: string): Promise<boolean> => {
    const passwordHash = await newHash(email, password);
    const createdAt = new Date(clock());
    return store.insert(newUser({ email, passwordHash, bootstrapHash: passwordHash, ...ADMIN, createdAt }));
  };

  /** Returns the stored hash of the configured password if it was set before. */
  const rememberedHash = async ({ bootstrapHash, passwordHash }: UserRecord, password: string): Promise<string | null> => {
    if (bootstrapHash && (await passwords.verify(bootstrapHash, password))) return bootstrapHash;
    return (await passwords.verify(passwordHash, password)) ? passwordHash : null;
  };

  const isAdmin = (user: UserRecord): boolean => user.role === ADMIN.role && user.tier === ADMIN.tier && user.approved && !user.suspended;

  return {
    ensureAdmin: async (address, password) => {
      const email = normaliseEmail(address);
      let user = await store.findByEmail(email);
      if (!user) {
        if (await insert(email, password)) return;
        user = await store.findByEmail(email);
      }
      if (!user) throw new Error("the bootstrap admin disappeared while it was being made");
      const remembered = await rememberedHash(user, password);
      if (remembered !== null && remembered === user.bootstrapHash && isAdmin(user)) return;
      // An existing account with this address must not keep its password when it becomes an administrator's.
      const passwordHash = remembered === null ? await newHash(email, password) : undefined;
      const bootstrapHash = remembered ?? passwordHash ?? "";
      const isTaken = passwordHash !== undefined && user.role !== ADMIN.role;
      // The account's registrant must lose every way to sign in.
      if (isTaken && !user.emailVerifiedAt) await unlink(user._id);
      const replaced = { ...(passwordHash ? { passwordHash } : {}), ...(isTaken ? { secondFactor: null } : {}) };
      await store.promote(user._id, user.passwordHash, { ...ADMIN, bootstrapHash, ...replaced });
      await changes.announce({ type: "user", id: user._id });
    },
  };
};
