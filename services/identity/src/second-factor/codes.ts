/** Codes: those that an authenticator shows for half a minute each (TOTP, RFC 6238), and recovery codes. */
import { randomInt } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { nameOf } from "../sessions/networks";

const ISSUER = "Nodeloom";
/** As RFC 4226 recommends. */
const SECRET_BYTES = 20;
/** What every authenticator takes: some ignore other settings. */
const FORM = { algorithm: "SHA1", digits: 6, period: 30 } as const;
/** Steps before and after the current one whose code is taken: clocks differ, and typing takes its time. */
export const STEPS_AROUND = 1;

export const RECOVERY_CODES = 10;
const RECOVERY_PURPOSE = "recovery code";
/** Without characters that look like others. */
const ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const RECOVERY_HALF_CHARS = 5;

const TOTP_CODE = /^\d{6}$/;
const RECOVERY_CODE = new RegExp(`^[${ALPHABET}]{${2 * RECOVERY_HALF_CHARS}}$`);

/** A code as somebody typed it. */
export type TypedCode = { totp: string } | { recovery: string };

/** What a text can be; undefined where it is no code. Spaces, hyphens and capitals don't matter. */
export const parseCode = (text: string): TypedCode | undefined => {
  const code = text.replace(/[\s-]/g, "").toLowerCase();
  if (TOTP_CODE.test(code)) return { totp: code };
  return RECOVERY_CODE.test(code) ? { recovery: code } : undefined;
};

const totpOf = (secret: string, label = ""): TOTP => new TOTP({ ...FORM, issuer: ISSUER, label, secret: Secret.fromBase32(secret) });

/** A new secret, in Base32. */
export const newSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

/** `otpauth:` URL of a secret, as authenticators read it from a QR code. */
export const urlOf = (secret: string, email: string): string => totpOf(secret, email).toString();

/**
 * The time step that a code belongs to; undefined where it is the code of none that counts now.
 * @param nowMs Unix time in milliseconds
 */
export const stepOf = (secret: string, code: string, nowMs: number): number | undefined => {
  const totp = totpOf(secret);
  const delta = totp.validate({ token: code, timestamp: nowMs, window: STEPS_AROUND });
  return delta === null ? undefined : totp.counter({ timestamp: nowMs }) + delta;
};

/** New recovery codes: `xxxxx-xxxxx`, 49 bits each. */
export const newRecoveryCodes = (): string[] => {
  const half = (): string => Array.from({ length: RECOVERY_HALF_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return Array.from({ length: RECOVERY_CODES }, () => `${half()}-${half()}`);
};

/** How a recovery code of a user is stored. */
export const recoveryHash = (pepper: string, userId: string, code: string): string =>
  nameOf(pepper, RECOVERY_PURPOSE, userId, code.replace("-", ""));
