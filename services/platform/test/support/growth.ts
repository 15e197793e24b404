const ROUNDS = 3;

/** The CPU of this process that some work takes, in microseconds: the least of some rounds, as much else may come between. */
const cpuOf = (work: () => unknown): number =>
  Math.min(
    ...Array.from({ length: ROUNDS }, () => {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      return user + system;
    }),
  );

/**
 * How many times the CPU of a piece of work its larger form takes. Work of four times the size takes four times as much where it grows
 * with its size, and sixteen times where it grows with the square; other processes on the machine change neither.
 */
export const growth = (small: () => unknown, large: () => unknown): number => cpuOf(large) / Math.max(1, cpuOf(small));
