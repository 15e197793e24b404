import { createHash } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import type { AttemptsStore } from "./attempts-store";

/** Failed sign-ins an account may have within a window, whoever makes them and wherever. */
export const LOGIN_ATTEMPTS = 10;
export const LOGIN_WINDOW_MS = 15 * 60 * 1_000;

export interface LoginThrottle {
  /**
   * Takes an attempt before the password is looked at, so that parallel guesses count too.
   * @throws RATE_LIMIT_EXCEEDED with `retryAfter` in seconds.
   */
  attempt(email: string): Promise<void>;
  /** A correct password ends the window. */
  succeeded(email: string): Promise<void>;
}

/** Addresses are as long as a caller likes and may belong to nobody: a hash of fixed size stands for each. */
const accountId = (email: string): string => createHash("sha256").update(email).digest("hex");

export const createLoginThrottle = (attempts: AttemptsStore, clock: () => number = Date.now): LoginThrottle => ({
  attempt: async (email) => {
    const now = clock();
    const exhaustedUntil = await attempts.take(accountId(email), LOGIN_ATTEMPTS, new Date(now), new Date(now + LOGIN_WINDOW_MS));
    if (!exhaustedUntil) return;
    const retryAfter = Math.max(1, Math.ceil((exhaustedUntil.getTime() - now) / 1_000));
    throw new DomainError("exhausted", "RATE_LIMIT_EXCEEDED", "too many failed sign-ins; try again later", {
      limit: LOGIN_ATTEMPTS,
      retryAfter,
    });
  },
  succeeded: (email) => attempts.clear(accountId(email)),
});
