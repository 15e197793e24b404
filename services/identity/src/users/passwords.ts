import { randomBytes } from "node:crypto";
import { hash, verify, type Options } from "@node-rs/argon2";
import { unavailable } from "@nodeloom/kernel";

/** Maximum length of new passwords, in code points. */
export const MAX_PASSWORD_CHARS = 200;
/** Maximum length of compared passwords, in UTF-16 units. */
const MAX_COMPARED_UNITS = 2 * MAX_PASSWORD_CHARS;
const DUMMY_BYTES = 16;

/** Stored instead of a hash for accounts without a password. */
export const NO_PASSWORD = "none";

export const hasPassword = ({ passwordHash }: { passwordHash: string }): boolean => passwordHash !== NO_PASSWORD;

/** Argon2id (the library's default variant) with the parameters that OWASP recommends. */
const PARAMETERS: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Each operation takes tens of milliseconds and 19 MiB. If more operations are pending, callers get a retryable error. */
const MAX_PENDING = 64;

/** Normalizes a password, because keyboards can produce different Unicode forms of it. */
export const normalisePassword = (password: string): string => password.normalize("NFKC");

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Compares a password with the stored hash. Without a stored hash it takes equally long and returns false. */
  verify(stored: string | undefined, password: string): Promise<boolean>;
}

/** Hashes passwords with bounded concurrency. */
export const createPasswords = async (): Promise<Passwords> => {
  const dummy = await hash(randomBytes(DUMMY_BYTES), PARAMETERS);
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
    hash: (password) => bounded(() => hash(normalisePassword(password), PARAMETERS)),
    verify: async (stored, password) => {
      const isThere = stored !== undefined && hasPassword({ passwordHash: stored });
      const comparable = password.length > 0 && password.length <= MAX_COMPARED_UNITS;
      const matches = await bounded(() => verify(isThere ? stored : dummy, comparable ? normalisePassword(password) : ""));
      return matches && comparable && isThere;
    },
  };
};
