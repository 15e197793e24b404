import { Secret, TOTP } from "otpauth";

const STEP_MS = 30_000;

const codeAt = (secret: string, stepsAhead: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + stepsAhead * STEP_MS });

/** The current or next code of an authenticator. Each code works once, and each later code must belong to a later step. */
export const codeOf = (secret: string, stepsAhead: 0 | 1 = 0): string => codeAt(secret, stepsAhead);

/** Six digits that aren't a current code. */
export const wrongCode = (secret: string): string => {
  const right = new Set([-2, -1, 0, 1, 2].map((step) => codeAt(secret, step)));
  return ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !right.has(code))!;
};
