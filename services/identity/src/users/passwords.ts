import { randomBytes } from "node:crypto";
import { hash, verify, type Options } from "@node-rs/argon2";
import { unavailable } from "@nodeloom/kernel";

export const MIN_PASSWORD_CHARS = 8;
export const MAX_PASSWORD_CHARS = 256;

/** Argon2id (the library's default variant) with the parameters OWASP recommends for servers. */
const PARAMETERS: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Each operation takes tens of milliseconds and 19 MiB: beyond this many at once, callers are sent away. */
const MAX_PENDING = 64;

/** The same password typed on another keyboard may arrive in another Unicode form. */
const normalise = (password: string): string => password.normalize("NFKC");

/** What is wrong with a new password, if anything. */
export const passwordProblem = (password: string): string | undefined => {
  const { length } = normalise(password);
  if (length < MIN_PASSWORD_CHARS) return `must have at least ${MIN_PASSWORD_CHARS} characters`;
  if (length > MAX_PASSWORD_CHARS) return `must have at most ${MAX_PASSWORD_CHARS} characters`;
  return undefined;
};

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Whether a password matches. Without a hash to compare with it takes as long, and is false. */
  verify(stored: string | undefined, password: string): Promise<boolean>;
}

/** Password hashing with a bound on how much of it happens at once. */
export const createPasswords = async (): Promise<Passwords> => {
  const nobody = await hash(randomBytes(MIN_PASSWORD_CHARS), PARAMETERS);
  let pending = 0;
  const bounded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (pending >= MAX_PENDING) throw unavailable("too many sign-ins at once");
    pending += 1;
    try {
      return await work();
    } finally {
      pending -= 1;
    }
  };
  return {
    hash: (password) => bounded(() => hash(normalise(password), PARAMETERS)),
    verify: async (stored, password) => {
      const acceptable = passwordProblem(password) === undefined;
      const matches = await bounded(() => verify(stored ?? nobody, acceptable ? normalise(password) : ""));
      return matches && acceptable && stored !== undefined;
    },
  };
};
