import { TIMING } from "../contract/timing";

/** Polls that one process sends in a second, over all the jobs that it follows. */
const POLLS_PER_SECOND = 150;
/** Heartbeats that one process sends in a second, over all the jobs that it follows. */
const HEARTBEATS_PER_SECOND = 100;

export type Pace = ReturnType<typeof createPace>;

/**
 * How often a process asks for its jobs and tells that it is alive: as often as is good for one job while they are few,
 * and at a bounded rate over all of them however many they are.
 */
export const createPace = () => {
  let followed = 0;
  const gap = (perSecond: number): number => (followed * 1_000) / perSecond;
  return {
    /** Follows one more job until `work` is over. */
    follow: async <T>(work: () => Promise<T>): Promise<T> => {
      followed += 1;
      try {
        return await work();
      } finally {
        followed -= 1;
      }
    },
    /** Jobs that are followed now. */
    followed: (): number => followed,
    /** Shortest pause between two polls of one job. */
    pollGapMs: (): number => Math.min(gap(POLLS_PER_SECOND), TIMING.pollPause),
    /** How long a job that starts now may be followed without a sign of life. */
    heartbeatTimeoutMs: (): number =>
      Math.round(Math.min(Math.max(TIMING.heartbeatQuick, gap(HEARTBEATS_PER_SECOND) * TIMING.beatsPerTimeout), TIMING.heartbeatLongest)),
  };
};
