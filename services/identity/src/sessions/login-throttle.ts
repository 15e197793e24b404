import { DomainError } from "@nodeloom/kernel";
import type { AttemptsStore, Pace } from "./attempts-store";
import { knownAddressesOf, type KnownAddressStore } from "./known-address-store";
import { nameOf, networkOf } from "./networks";

const MINUTE_MS = 60 * 1_000;

/** Failed sign-ins per address, account and window before a wait. */
export const LOGIN_ATTEMPTS = 10;
export const LOGIN_WINDOW_MS = 15 * MINUTE_MS;

/** For addresses that have signed in to the account before: slowed down, never locked. */
const FROM_KNOWN_ADDRESS: Pace = { free: LOGIN_ATTEMPTS, windowMs: LOGIN_WINDOW_MS, firstDelayMs: 1_000, maxDelayMs: 30_000 };
/** For all other addresses together, so that many addresses can't guess faster at one account. */
const FROM_OTHER_ADDRESSES: Pace = { free: 30, windowMs: LOGIN_WINDOW_MS, firstDelayMs: 1_000, maxDelayMs: MINUTE_MS };

/** Slows down guessing of passwords and codes. Accounts that don't exist are counted equally. */
export interface LoginThrottle {
  /**
   * Takes an attempt before the password or code is checked, so that parallel guesses count too.
   * @throws RATE_LIMIT_EXCEEDED with `retryAfter` in seconds
   */
  attempt(email: string, address: string): Promise<void>;
  /** After a correct one: the address becomes known, and its failures are reset. */
  succeeded(email: string, address: string): Promise<void>;
}

/** Counted separately: a correct password must not reset wrong codes. */
export type Guessed = "passwords" | "codes";

const COUNTED_AS: Readonly<Record<Guessed, string>> = { passwords: "sign-ins", codes: "codes" };

export interface LoginThrottleOptions {
  guessed?: Guessed;
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

  /** The earliest time of the next attempt; undefined if this one is allowed. */
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
