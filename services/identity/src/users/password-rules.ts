import { dictionary } from "@zxcvbn-ts/language-common";
import { normaliseEmail } from "./emails";
import { MAX_PASSWORD_CHARS, normalisePassword } from "./passwords";

/** Rules for new passwords. */
export const MIN_PASSWORD_CHARS = 10;

const spelling = (password: string): string => normalisePassword(password).toLowerCase();

const COMMON: ReadonlySet<string> = new Set(
  dictionary["passwords-common"].filter((password) => password.length >= MIN_PASSWORD_CHARS).map(spelling),
);

const STEPS: readonly number[] = [-1, 0, 1];

/** True for one repeated character, or a sequence such as 0123456789 or abcdefghij in either direction. */
const isRun = (characters: readonly string[]): boolean => {
  const codes = characters.map((character) => character.codePointAt(0) ?? 0);
  return STEPS.some((step) => codes.every((code, index) => index === 0 || code - (codes[index - 1] ?? 0) === step));
};

/** Returns the problem of a new password, or undefined. */
export const passwordProblem = (password: string, email: string): string | undefined => {
  // Characters are counted as sent, because normalization can change their number. The length is checked first, because callers choose it.
  const characters = Array.from(password.slice(0, 2 * MAX_PASSWORD_CHARS + 1));
  if (characters.length < MIN_PASSWORD_CHARS) return `must have at least ${MIN_PASSWORD_CHARS} characters`;
  if (characters.length > MAX_PASSWORD_CHARS) return `must have at most ${MAX_PASSWORD_CHARS} characters`;
  const spelledPassword = spelling(password);
  if (spelledPassword.trim() === normaliseEmail(email)) return "must not be the e-mail address";
  if (COMMON.has(spelledPassword) || isRun(Array.from(spelledPassword))) return "is too common: choose another one";
  return undefined;
};
