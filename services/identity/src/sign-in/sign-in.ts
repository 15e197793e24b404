import { accountSuspended, DomainError, invalidRequest } from "@nodeloom/kernel";
import type { SignInNotes } from "../audit/sign-in-notes";
import type { PendingSignIn, PendingSignIns } from "./pending-sign-ins";
import type { Tiers } from "../tiers/tiers";
import { credentialIssues } from "../users/bootstrap";
import { normaliseEmail } from "../users/emails";
import type { Passwords } from "../users/passwords";
import { hasSecondFactor, newUser, toUser, type User } from "../users/user";
import type { UserStore } from "../users/user-store";
import type { LoginThrottle } from "../sessions/login-throttle";

export interface Credentials {
  email: string;
  password: string;
  /** The client's network address; empty if unknown. */
  address: string;
}

/** The signed-in user, or a sign-in that needs a code. */
export type LoginResult = { user: User } | { pending: PendingSignIn };

export interface SignIn {
  /** Creates a user of the free tier, who then awaits approval. @throws INVALID_REQUEST, ALREADY_EXISTS */
  register(credentials: Credentials): Promise<User>;
  /**
   * @throws UNAUTHENTICATED equally for an unknown address and a wrong password, RATE_LIMIT_EXCEEDED after too many failures,
   *   ACCOUNT_SUSPENDED if the password is correct but the account is suspended
   */
  login(credentials: Credentials): Promise<LoginResult>;
}

export interface SignInOptions {
  store: Pick<UserStore, "insert" | "findByEmail">;
  tiers: Pick<Tiers, "planOf">;
  passwords: Passwords;
  throttle: LoginThrottle;
  pendingSignIns: Pick<PendingSignIns, "begin">;
  notes: Pick<SignInNotes, "failure">;
  clock?: () => number;
}

const FREE = { role: "user", tier: "free", approved: false } as const;

export const createSignIn = ({ store, tiers, passwords, throttle, pendingSignIns, notes, clock = Date.now }: SignInOptions): SignIn => ({
  register: async ({ email: rawEmail, password, address }) => {
    const email = normaliseEmail(rawEmail);
    const issues = credentialIssues(email, password);
    if (issues.length > 0) throw invalidRequest(issues);
    const user = newUser({ email, passwordHash: await passwords.hash(password), ...FREE, createdAt: new Date(clock()) });
    if (!(await store.insert(user))) throw new DomainError("conflict", "ALREADY_EXISTS", "this e-mail address is registered already");
    await throttle.succeeded(email, address);
    return toUser(user, await tiers.planOf(user.tier));
  },

  login: async ({ email: rawEmail, password, address }) => {
    const email = normaliseEmail(rawEmail);
    await throttle.attempt(email, address);
    const user = await store.findByEmail(email);
    const matches = await passwords.verify(user?.passwordHash, password);
    if (user && !matches) notes.failure(user._id, address);
    if (!user || !matches) throw new DomainError("unauthenticated", "UNAUTHENTICATED", "wrong e-mail address or password");
    const takesCode = hasSecondFactor(user);
    // If a code is required, failures are reset and the address becomes known only after the code.
    if (!takesCode) await throttle.succeeded(email, address);
    if (user.suspended) throw accountSuspended();
    if (takesCode) return { pending: await pendingSignIns.begin(user, address) };
    return { user: toUser(user, await tiers.planOf(user.tier)) };
  },
});
