/** Authenticator codes (TOTP, RFC 6238) and recovery codes. */
import { randomInt } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { nameOf } from "../networks";

const ISSUER = "Nodeloom";
/** Length recommended by RFC 4226. */
const SECRET_BYTES = 20;
/** Settings that all authenticators support. Some authenticators ignore other settings. */
const FORM = { algorithm: "SHA1", digits: 6, period: 30 } as const;
/** Number of time steps before and after the current one whose codes are accepted, because clocks differ and typing takes time. */
export const STEPS_AROUND = 1;

export const RECOVERY_CODES = 10;
const RECOVERY_PURPOSE = "recovery code";
/** Excludes ambiguous characters. */
const ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const RECOVERY_HALF_CHARS = 5;

const TOTP_CODE = /^\d{6}$/;
const RECOVERY_CODE = new RegExp(`^[${ALPHABET}]{${2 * RECOVERY_HALF_CHARS}}$`);

/** A parsed code, as the user typed it. */
export type TypedCode = { totp: string } | { recovery: string };

/** Parses a code. Spaces, hyphens and case are ignored. Returns undefined if the text isn't a code. */
export const parseCode = (text: string): TypedCode | undefined => {
  const code = text.replace(/[\s-]/g, "").toLowerCase();
  if (TOTP_CODE.test(code)) return { totp: code };
  return RECOVERY_CODE.test(code) ? { recovery: code } : undefined;
};

const totpOf = (secret: string, label = ""): TOTP => new TOTP({ ...FORM, issuer: ISSUER, label, secret: Secret.fromBase32(secret) });

/** Creates a secret in Base32. */
export const newSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

/** Returns an `otpauth:` URL for a QR code. */
export const urlOf = (secret: string, email: string): string => totpOf(secret, email).toString();

/**
 * Returns the time step of a code; undefined if the code is wrong or expired.
 * @param nowMs milliseconds since 1970
 */
export const stepOf = (secret: string, code: string, nowMs: number): number | undefined => {
  const totp = totpOf(secret);
  const delta = totp.validate({ token: code, timestamp: nowMs, window: STEPS_AROUND });
  return delta === null ? undefined : totp.counter({ timestamp: nowMs }) + delta;
};

/** Creates codes of the form `xxxxx-xxxxx`, with 49 bits each. */
export const newRecoveryCodes = (): string[] => {
  const half = (): string => Array.from({ length: RECOVERY_HALF_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return Array.from({ length: RECOVERY_CODES }, () => `${half()}-${half()}`);
};

/** The stored form of a recovery code. */
export const recoveryHash = (pepper: string, userId: string, code: string): string =>
  nameOf(pepper, RECOVERY_PURPOSE, userId, code.replace("-", ""));
