import { randomInt } from "node:crypto";
import { retryOnConflict } from "../work/retry";

export interface PlacesOptions {
  /** Number of slots per owner. */
  places: number;
  /** Maximum attempts. Another process can take a slot first. */
  attempts: number;
  /** Returns the slots in use. */
  usedPlaces: () => Promise<readonly number[]>;
  /** @returns false if another insert took the slot */
  insert: (place: number) => Promise<boolean>;
  /** Creates the error for an owner without a free slot. */
  full: () => Error;
}

/**
 * Inserts a row into any free slot of its owner. A unique index on owner and slot enforces the bound under concurrent inserts.
 * @returns the slot, or undefined if every attempt conflicted with another insert
 */
export const insertIntoFreePlace = ({ places, attempts, usedPlaces, insert, full }: PlacesOptions): Promise<number | undefined> =>
  retryOnConflict(attempts, async () => {
    const inUse = new Set(await usedPlaces());
    // After the bound is lowered, rows inserted under the old bound still count.
    if (inUse.size >= places) throw full();
    const free = Array.from({ length: places }, (_, place) => place).filter((place) => !inUse.has(place));
    const place = free[randomInt(free.length)]!;
    return (await insert(place)) ? place : undefined;
  });
