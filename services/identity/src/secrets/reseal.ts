import { DomainError } from "@nodeloom/kernel";
import type { SecretRecord } from "../records";
import type { Envelope } from "./envelope";

const RESEALED_AT_ONCE = 100;

type SealedSecret = Pick<SecretRecord, "owner" | "name" | "keyId" | "sealed">;

/** Ids of values that were encrypted again with the current key, and of values that can't be read because their key is missing. */
export interface ResealReport {
  resealed: string[];
  lost: string[];
}

/** Access to one kind of encrypted values. */
export interface SealedValues<T> {
  /** Values encrypted with another key, ordered by id, after the id `after`. */
  read(keyId: string, after: string, limit: number): Promise<T[]>;
  idOf(value: T): string;
  sealed(value: T): SealedSecret;
  write(value: T, sealed: Pick<SealedSecret, "keyId" | "sealed">): Promise<void>;
}

/** @returns the decrypted value, or undefined if the key is missing */
const openable = (envelope: Envelope, secret: SealedSecret): string | undefined => {
  try {
    return envelope.open(secret);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
};

/** Encrypts values of earlier keys again with the current key, so that the earlier keys can be removed. */
export const resealAll = async <T>(envelope: Envelope, { read, idOf, sealed, write }: SealedValues<T>): Promise<ResealReport> => {
  const { currentId } = envelope;
  const [resealed, unreadable]: [string[], string[]] = [[], []];
  if (currentId === undefined) return { resealed, lost: unreadable };
  let some: T[] = [];
  do {
    const last = some.at(-1);
    some = await read(currentId, last === undefined ? "" : idOf(last), RESEALED_AT_ONCE);
    for (const one of some) {
      const whose = sealed(one);
      const value = openable(envelope, whose);
      (value === undefined ? unreadable : resealed).push(idOf(one));
      if (value !== undefined) await write(one, envelope.seal(value, whose));
    }
  } while (some.length === RESEALED_AT_ONCE);
  return { resealed, lost: unreadable };
};
