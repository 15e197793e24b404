import { z } from "zod";

export const MAX_PASSWORD_CHARS = 200;
/** Identity counts code points, and one code point can take two UTF-16 units. */
export const MAX_PASSWORD_UNITS = 2 * MAX_PASSWORD_CHARS;
export const MAX_TOKEN_CHARS = 200;
/** A code as typed, with spaces. */
const MAX_CODE_CHARS = 40;

export const password = z
  .string()
  .min(1)
  .max(MAX_PASSWORD_UNITS)
  .meta({ format: "password", example: "correct horse battery staple", override: { maxLength: MAX_PASSWORD_CHARS } });

const MAX_EMAIL_CHARS = 254;
/** Documented by its pattern only: validators disagree about email addresses. */
export const email = z
  .email()
  .max(MAX_EMAIL_CHARS)
  .meta({ example: "ada@example.com", override: { format: null } });

export const code = z
  .string()
  .min(1)
  .max(MAX_CODE_CHARS)
  .meta({ description: "Six digits of the authenticator, or a recovery code", example: "123456" });
