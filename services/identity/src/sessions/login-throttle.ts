import { DomainError } from "@nodeloom/kernel";
import type { AttemptsStore, Pace } from "./attempts-store";
import { knownAddressesOf, type KnownAddressStore } from "./known-address-store";
import { nameOf, networkOf } from "../networks";

const MINUTE_MS = 60 * 1_000;

/** Failed sign-ins per address, account and window before the caller must wait. */
export const LOGIN_ATTEMPTS = 10;
export const LOGIN_WINDOW_MS = 15 * MINUTE_MS;

/** Pace for an address from which the account signed in before. It is slowed down but never blocked. */
const FROM_KNOWN_ADDRESS: Pace = { free: LOGIN_ATTEMPTS, windowMs: LOGIN_WINDOW_MS, firstDelayMs: 1_000, maxDelayMs: 30_000 };
/** Pace for all other addresses together, so that using many addresses doesn't speed up guessing for one account. */
const FROM_OTHER_ADDRESSES: Pace = { free: 30, windowMs: LOGIN_WINDOW_MS, firstDelayMs: 1_000, maxDelayMs: MINUTE_MS };

/** Slows down guessing of passwords and codes. Attempts for accounts that don't exist count equally. */
export interface LoginThrottle {
  /**
   * Counts an attempt before the password or code is checked, so that parallel guesses count.
   * @throws RATE_LIMIT_EXCEEDED with `retryAfter` in seconds
   */
  attempt(email: string, address: string): Promise<void>;
  /** Call it after a correct password or code. The address becomes known and its failures are reset. */
  succeeded(email: string, address: string): Promise<void>;
}

/** The two are counted separately, because a correct password must not reset wrong codes. */
export type GuessKind = "passwords" | "codes";

const COUNTED_AS: Readonly<Record<GuessKind, string>> = { passwords: "sign-ins", codes: "codes" };

export interface LoginThrottleOptions {
  guessed?: GuessKind;
  attempts: AttemptsStore;
  knownAddresses: KnownAddressStore;
  pepper: string;
  clock?: () => number;
}

const exceeded = (until: Date, now: number): DomainError =>
  new DomainError("exhausted", "RATE_LIMIT_EXCEEDED", "too many failed sign-ins; try again later", {
    limit: LOGIN_ATTEMPTS,
    retryAfter: Math.max(1, Math.ceil((until.getTime() - now) / 1_000)),
  });

export const createLoginThrottle = (options: LoginThrottleOptions): LoginThrottle => {
  const { guessed = "passwords", attempts, knownAddresses, pepper, clock = Date.now } = options;
  const counted = COUNTED_AS[guessed];
  const pairOf = (email: string, network: string): string => nameOf(pepper, `${counted} of an address`, email, network);
  const accountOf = (email: string): string => nameOf(pepper, `${counted} of an account`, email);
  const knownOf = (email: string, network: string): string => nameOf(pepper, "known address", email, network);

  /** Returns the earliest time of the next attempt; undefined if this attempt is allowed. */
  const take = async (email: string, network: string, now: Date): Promise<Date | undefined> => {
    if (network !== "" && (await knownAddresses.has(knownOf(email, network)))) {
      return attempts.takePaced(pairOf(email, network), FROM_KNOWN_ADDRESS, now);
    }
    const windowEnd = new Date(now.getTime() + LOGIN_WINDOW_MS);
    const exhausted = await attempts.take(pairOf(email, network), LOGIN_ATTEMPTS, now, windowEnd);
    return exhausted ?? attempts.takePaced(accountOf(email), FROM_OTHER_ADDRESSES, now);
  };

  return {
    attempt: async (email, address) => {
      const now = clock();
      const until = await take(email, networkOf(address), new Date(now));
      if (until) throw exceeded(until, now);
    },
    succeeded: async (email, address) => {
      const network = networkOf(address);
      if (network !== "") await knownAddresses.add(knownOf(email, network), new Date(clock()), knownAddressesOf(pepper, email));
      await attempts.clear(pairOf(email, network));
    },
  };
};
