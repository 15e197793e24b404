const ROUNDS = 3;

/** CPU time of this process for some work, in microseconds: the least of several rounds, because other work can interfere. */
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
 * Ratio of a work's CPU time at a larger size. Four times the size takes four times as long with linear growth and sixteen times with
 * quadratic growth; other processes change neither.
 */
export const growth = (small: () => unknown, large: () => unknown): number => cpuOf(large) / Math.max(1, cpuOf(small));
