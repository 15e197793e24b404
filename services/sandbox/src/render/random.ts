import { createHash } from "node:crypto";

/** Hexadecimal digits of a seed. */
export const SEED_DIGITS = 32;

/** Hashes the values. The result is equal on every machine. */
export const seedOf = (...values: readonly (string | number | undefined)[]): string =>
  createHash("sha256")
    .update(JSON.stringify(values.map((value) => value ?? null)))
    .digest("hex")
    .slice(0, SEED_DIGITS);

export interface Random {
  /** Returns a number in [0, 1). */
  next(): number;
  between(low: number, high: number): number;
  /** Returns an integer in [0, bound). */
  below(bound: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
}

/** The sfc32 generator with a hexadecimal seed. Deterministic. */
export const createRandom = (seed: string): Random => {
  const word = (index: number): number => Number.parseInt(seed.slice(index * 8, index * 8 + 8), 16) | 0;
  let [a, b, c, counter] = [word(0), word(1), word(2), word(3) | 1];
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  const WARM_UP_ROUNDS = 12;
  for (let round = 0; round < WARM_UP_ROUNDS; round++) next();
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    between: (low, high) => low + next() * (high - low),
    pick: (items) => items[below(items.length)] ?? items[0],
  };
};
