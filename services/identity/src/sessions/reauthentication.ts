import { DomainError } from "@nodeloom/kernel";
import type { UserRecord } from "../records";
import type { Passwords } from "../users/passwords";
import { noSuchUser } from "../users/user";
import type { UserStore } from "../users/user-store";
import type { LoginThrottle } from "./login-throttle";

export interface ByPassword {
  userId: string;
  password: string;
  /** The client's network address; empty if unknown. */
  address: string;
}

/** Asks a signed-in user for the password again, so that an unattended session can't make sensitive changes. */
export interface Reauthentication {
  /** @throws UNAUTHENTICATED for a wrong password, RATE_LIMIT_EXCEEDED after too many attempts, NOT_FOUND */
  byPassword(by: ByPassword): Promise<UserRecord>;
}

export interface ReauthenticationOptions {
  users: Pick<UserStore, "find">;
  passwords: Passwords;
  throttle: LoginThrottle;
}

export const createReauthentication = ({ users, passwords, throttle }: ReauthenticationOptions): Reauthentication => ({
  byPassword: async ({ userId, password, address }) => {
    const user = await users.find(userId);
    if (!user) throw noSuchUser();
    await throttle.attempt(user.email, address);
    if (!(await passwords.verify(user.passwordHash, password)))
      throw new DomainError("unauthenticated", "UNAUTHENTICATED", "the password is wrong");
    await throttle.succeeded(user.email, address);
    return user;
  },
});
