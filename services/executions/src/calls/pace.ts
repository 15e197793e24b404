import { LRUCache } from "lru-cache";
import { TIMING } from "../contract/timing";

/** Polls that one process sends in a second, over all the jobs that it follows. */
const POLLS_PER_SECOND = 150;
/** Heartbeats that one process sends in a second, over all the jobs that it follows. */
const HEARTBEATS_PER_SECOND = 100;

/** When a job is asked for first, of a model whose jobs are not known to take longer. */
const FIRST_POLL_MS = 100;
/** The same of any job: one that is done sooner than those before it is not seen so before. */
const FIRST_POLL_AT_MOST_MS = 1_500;
/** How close the first poll comes to when jobs are done, as a share of that time. */
const CLOSE = 0.3;
/** What is left of knowing that jobs are not done so early, after each that was done later. */
const FORGETTING = 0.98;
/** Models whose jobs are remembered. */
const MODELS = 1_000;

/** When a model's jobs were asked for first lately, from their submission on, in milliseconds. */
interface FirstPolls {
  /** When they were not done. */
  tooEarly: number;
  /** When they were done. */
  done: number;
}

export type Pace = ReturnType<typeof createPace>;

/**
 * How often a process asks for its jobs and tells that it is alive: as often as is good for one job while they are few,
 * and at a bounded rate over all of them however many they are.
 */
export const createPace = () => {
  let followed = 0;
  const polls = new LRUCache<string, FirstPolls>({ max: MODELS });
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
    /**
     * When a job is asked for first: about when those of its model were done lately.
     * @param intervalMs the provider's own pause between polls
     */
    firstPollMs: (model: string, intervalMs: number): number => {
      const { tooEarly, done } = polls.get(model) ?? { tooEarly: 0, done: Math.min(FIRST_POLL_MS, intervalMs) };
      const between = done - tooEarly > CLOSE * done && polls.has(model) ? (tooEarly + done) / 2 : done;
      return Math.min(between, FIRST_POLL_AT_MOST_MS);
    },
    /** Notes when a job was seen to be done, and when it was asked for first. */
    jobDone: (model: string, firstMs: number, doneMs: number): void => {
      const before = polls.get(model)?.tooEarly ?? 0;
      const tooEarly = doneMs > firstMs ? firstMs : Math.min(before * FORGETTING, doneMs);
      polls.set(model, { tooEarly, done: doneMs });
    },
    /** How long a job that starts now may be followed without a sign of life. */
    heartbeatTimeoutMs: (): number =>
      Math.round(Math.min(Math.max(TIMING.heartbeatQuick, gap(HEARTBEATS_PER_SECOND) * TIMING.beatsPerTimeout), TIMING.heartbeatLongest)),
  };
};
