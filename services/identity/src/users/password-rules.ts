import { dictionary } from "@zxcvbn-ts/language-common";
import { normaliseEmail } from "./emails";
import { MAX_PASSWORD_CHARS, normalisePassword } from "./passwords";

/** What a new password must be. */
export const MIN_PASSWORD_CHARS = 10;

const spelling = (password: string): string => normalisePassword(password).toLowerCase();

const COMMON: ReadonlySet<string> = new Set(
  dictionary["passwords-common"].filter((password) => password.length >= MIN_PASSWORD_CHARS).map(spelling),
);

const STEPS: readonly number[] = [-1, 0, 1];

/** One character over and over, or a run such as 0123456789 and abcdefghij, up or down. */
const isRun = (characters: readonly string[]): boolean => {
  const codes = characters.map((character) => character.codePointAt(0) ?? 0);
  return STEPS.some((step) => codes.every((code, index) => index === 0 || code - (codes[index - 1] ?? 0) === step));
};

/** What is wrong with a new password of an account, if anything. */
export const passwordProblem = (password: string, email: string): string | undefined => {
  // Counted as they were sent, one sign being several in another spelling, and before anything else: a caller chooses the length.
  const characters = Array.from(password.slice(0, 2 * MAX_PASSWORD_CHARS + 1));
  if (characters.length < MIN_PASSWORD_CHARS) return `must have at least ${MIN_PASSWORD_CHARS} characters`;
  if (characters.length > MAX_PASSWORD_CHARS) return `must have at most ${MAX_PASSWORD_CHARS} characters`;
  const written = spelling(password);
  if (written.trim() === normaliseEmail(email)) return "must not be the e-mail address";
  if (COMMON.has(written) || isRun(Array.from(written))) return "is too common: choose another one";
  return undefined;
};
