import { DomainError } from "@nodeloom/kernel";
import type { SecondFactorRecord, UserRecord } from "../records";
import type { Envelope } from "../secrets/envelope";
import { parseCode, recoveryHash, stepOf } from "./codes";
import type { SecondFactorStore } from "./second-factor-store";

/** A correct code. It counts only if `use` succeeds. */
export interface CodeMatch {
  isRecoveryCode: boolean;
  /** @returns false if it was already used */
  use(): Promise<boolean>;
}

export interface CodeMatching {
  /**
   * @returns undefined for a wrong code
   * @throws NOT_CONFIGURED if the encryption key is missing
   */
  match(user: Pick<UserRecord, "_id" | "secondFactor">, code: string): CodeMatch | undefined;
  /** Returns the time step of an authenticator code; undefined for a wrong code. @throws NOT_CONFIGURED */
  stepOf(userId: string, factor: SecondFactorRecord, code: string): number | undefined;
}

export interface CodeMatchingOptions {
  store: Pick<SecondFactorStore, "useStep" | "useRecoveryCode">;
  envelope: Envelope;
  pepper: string;
  clock: () => number;
}

export const wrongCode = (): DomainError =>
  new DomainError("unauthenticated", "UNAUTHENTICATED", "the code is wrong, or was used: wait for the next one");

/** Owner and name to which a secret's encryption is bound. */
export const sealedFor = (userId: string, { id }: Pick<SecondFactorRecord, "id">): { owner: string; name: string } => ({
  owner: `second-factor:${userId}:${id}`,
  name: "the second factor",
});

export const createCodeMatching = ({ store, envelope, pepper, clock }: CodeMatchingOptions): CodeMatching => {
  const matchedStep = (userId: string, factor: SecondFactorRecord, totp: string): number | undefined => {
    const step = stepOf(envelope.open({ ...factor, ...sealedFor(userId, factor) }), totp, clock());
    return step !== undefined && step > factor.lastStep ? step : undefined;
  };
  return {
    stepOf: (userId, factor, code) => {
      const typed = parseCode(code);
      return typed && "totp" in typed ? matchedStep(userId, factor, typed.totp) : undefined;
    },
    match: ({ _id, secondFactor }, code) => {
      const typed = parseCode(code);
      if (!secondFactor || !typed) return undefined;
      if ("recovery" in typed) {
        const hash = recoveryHash(pepper, _id, typed.recovery);
        const isLeft = secondFactor.recoveryCodes.includes(hash);
        return isLeft ? { isRecoveryCode: true, use: () => store.useRecoveryCode(_id, secondFactor.id, hash) } : undefined;
      }
      const step = matchedStep(_id, secondFactor, typed.totp);
      return step === undefined ? undefined : { isRecoveryCode: false, use: () => store.useStep(_id, secondFactor.id, step) };
    },
  };
};
