import { DomainError } from "@nodeloom/kernel";
import type { SecretRecord } from "../records";
import type { Envelope } from "./envelope";

const RESEALED_AT_ONCE = 100;

type Sealed = Pick<SecretRecord, "owner" | "name" | "keyId" | "sealed">;

/** Ids of what was sealed with the current key, and of what can't be read: its key is gone. */
export interface Resealed {
  resealed: string[];
  lost: string[];
}

/** Where sealed values of a kind are. */
export interface SealedValues<T> {
  /** Some that are sealed under another key, in order of their ids, from behind one on. */
  read(keyId: string, after: string, limit: number): Promise<T[]>;
  idOf(value: T): string;
  sealed(value: T): Sealed;
  write(value: T, sealed: Pick<Sealed, "keyId" | "sealed">): Promise<void>;
}

/** A value, unless its key is not there. */
const openable = (envelope: Envelope, secret: Sealed): string | undefined => {
  try {
    return envelope.open(secret);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
};

/** Seals what is sealed under earlier keys with the current one, so that they can be dropped. */
export const resealAll = async <T>(envelope: Envelope, { read, idOf, sealed, write }: SealedValues<T>): Promise<Resealed> => {
  const { currentId } = envelope;
  const [resealed, lost]: [string[], string[]] = [[], []];
  if (currentId === undefined) return { resealed, lost };
  let some: T[] = [];
  do {
    const last = some.at(-1);
    some = await read(currentId, last === undefined ? "" : idOf(last), RESEALED_AT_ONCE);
    for (const one of some) {
      const whose = sealed(one);
      const value = openable(envelope, whose);
      (value === undefined ? lost : resealed).push(idOf(one));
      if (value !== undefined) await write(one, envelope.seal(value, whose));
    }
  } while (some.length === RESEALED_AT_ONCE);
  return { resealed, lost };
};
