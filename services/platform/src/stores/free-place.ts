import { randomInt } from "node:crypto";
import { retryOnConflict } from "../work/retry";

export interface PlacesOptions {
  /** How many places an owner has. */
  places: number;
  /** How often a place is tried that others may take at the same time. */
  attempts: number;
  /** The places that are taken. */
  taken: () => Promise<readonly number[]>;
  /** @returns false when the place was taken in the meantime */
  insert: (place: number) => Promise<boolean>;
  /** The refusal when every place is taken. */
  full: () => Error;
}

/**
 * Inserts something into any free place of its owner. A unique index over owner and place makes the bound hold, however many are inserted
 * at once.
 * @returns the place; undefined where all attempts met others
 */
export const insertIntoFreePlace = ({ places, attempts, taken, insert, full }: PlacesOptions): Promise<number | undefined> =>
  retryOnConflict(attempts, async () => {
    const inUse = new Set(await taken());
    // A bound that was lowered holds for what was inserted under the old one.
    if (inUse.size >= places) throw full();
    const free = Array.from({ length: places }, (_, place) => place).filter((place) => !inUse.has(place));
    const place = free[randomInt(free.length)]!;
    return (await insert(place)) ? place : undefined;
  });
