const ROUNDS = 3;

/** CPU time of this process for some work, in microseconds: the minimum of several rounds, because other work can interfere. */
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
 * Ratio of the CPU times of a large and a small size. Four times the size takes four times as long with linear growth, and sixteen times
 * with quadratic growth. Other processes don't change this ratio.
 */
export const growth = (small: () => unknown, large: () => unknown): number => cpuOf(large) / Math.max(1, cpuOf(small));
