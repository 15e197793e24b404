import { randomInt } from "node:crypto";
import { retryOnConflict } from "../work/retry";

export interface PlacesOptions {
  /** Number of places per owner. */
  places: number;
  /** Attempts at places that another process can take first. */
  attempts: number;
  /** Occupied places. */
  taken: () => Promise<readonly number[]>;
  /** @returns false if the place was taken meanwhile */
  insert: (place: number) => Promise<boolean>;
  /** Makes the error for an owner without a free place. */
  full: () => Error;
}

/**
 * Inserts a row into any free place of its owner. A unique index over owner and place holds the bound under concurrent inserts.
 * @returns the place; undefined if every attempt met another insert
 */
export const insertIntoFreePlace = ({ places, attempts, taken, insert, full }: PlacesOptions): Promise<number | undefined> =>
  retryOnConflict(attempts, async () => {
    const inUse = new Set(await taken());
    // A lowered bound also counts rows that were inserted under the old one.
    if (inUse.size >= places) throw full();
    const free = Array.from({ length: places }, (_, place) => place).filter((place) => !inUse.has(place));
    const place = free[randomInt(free.length)]!;
    return (await insert(place)) ? place : undefined;
  });
