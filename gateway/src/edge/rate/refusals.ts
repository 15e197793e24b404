/** Which refused attempts a process has recorded within the current minute. */

/** Refused attempts of one caller at one route within this time share a row. */
const SHARED_MS = 60_000;
/** Maximum attempts that a process remembers and records within that time. */
const REMEMBERED = 10_000;

export interface Refusals {
  /** Identity of an attempt in this minute; undefined if the process has recorded it already. */
  first(attempt: readonly string[]): readonly string[] | undefined;
}

export const createRefusals = (clock: () => number = Date.now): Refusals => {
  const recorded = new Set<string>();
  let minute = 0;
  return {
    first: (attempt) => {
      const now = Math.floor(clock() / SHARED_MS);
      if (now !== minute) recorded.clear();
      minute = now;
      const name = JSON.stringify(attempt);
      if (recorded.has(name) || recorded.size >= REMEMBERED) return undefined;
      recorded.add(name);
      return [...attempt, String(minute)];
    },
  };
};
