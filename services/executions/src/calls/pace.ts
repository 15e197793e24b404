import { LRUCache } from "lru-cache";
import { TIMING } from "../run/timing";

/** When jobs are polled: early enough to see their end, within what one process may send. */

/** Polls that one process sends in a second, over all the jobs that it follows; each user with jobs has an equal share. */
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
/** How soon a job is asked for again, at the soonest, that should have been done. */
const AGAIN_MS = 50;
/** Models whose jobs are remembered, and jobs of each. */
const MODELS = 1_000;
const JOBS = 20;
/** What counts of them: jobs of one user that take long must not keep those of others from being seen to be done. */
const LOW_PERCENTILE = 0.2;

/** When jobs of a model were asked for lately, in milliseconds from their submission. */
interface Polls {
  /** The first time, when quick ones were not done. */
  tooEarly: number;
  /** The first time that each of them was done, the latest job last. */
  done: readonly number[];
}

/** When the quicker ones of some jobs were done. */
const quickOf = (done: readonly number[]): number => [...done].sort((a, b) => a - b)[Math.floor((done.length - 1) * LOW_PERCENTILE)]!;

export type Pace = ReturnType<typeof createPace>;

/**
 * How often a process asks for its jobs and tells that it is alive: as often as is good for one job while they are few,
 * and at a bounded rate over all of them however many they are.
 */
export const createPace = () => {
  let followed = 0;
  const followedOf = new Map<string, number>();
  const polls = new LRUCache<string, Polls>({ max: MODELS });
  const gap = (jobs: number, perSecond: number): number => (jobs * 1_000) / perSecond;
  const count = (userId: string, more: 1 | -1): void => {
    followed += more;
    const now = (followedOf.get(userId) ?? 0) + more;
    if (now > 0) followedOf.set(userId, now);
    else followedOf.delete(userId);
  };
  return {
    /** Follows one more job of a user's until `work` is over. */
    follow: async <T>(userId: string, work: () => Promise<T>): Promise<T> => {
      count(userId, 1);
      try {
        return await work();
      } finally {
        count(userId, -1);
      }
    },
    /** Jobs that are followed now. */
    followed: (): number => followed,
    /** Shortest pause between two polls of one job of a user's: the user's own jobs lengthen it, those of others hardly. */
    pollGapMs: (userId: string): number =>
      Math.min(gap((followedOf.get(userId) ?? 0) * followedOf.size, POLLS_PER_SECOND), TIMING.pollPause),
    /**
     * When a job is asked for first, about when the quicker ones of its model were done lately, and how long after that again:
     * never later than the provider's own pause after its submission or the poll before.
     * @param model undefined where its jobs say nothing: this one is not followed from its submission
     * @param intervalMs the provider's own pause between polls
     */
    polls: (model: string | undefined, intervalMs: number): { firstMs: number; againMs: number } => {
      const atLeast = Math.min(FIRST_POLL_MS, intervalMs);
      const lately = model === undefined ? undefined : polls.get(model);
      if (!lately) return { firstMs: atLeast, againMs: intervalMs };
      const { tooEarly } = lately;
      const done = quickOf(lately.done);
      const expected = done - tooEarly > CLOSE * done ? (tooEarly + done) / 2 : done;
      const firstMs = Math.min(Math.max(expected, atLeast), FIRST_POLL_AT_MOST_MS, intervalMs);
      return { firstMs, againMs: Math.min(Math.max(done - firstMs, AGAIN_MS), intervalMs) };
    },
    /** Notes when a job was asked for first, and when it was seen to be done. */
    jobDone: (model: string, firstMs: number, doneMs: number): void => {
      const before = polls.get(model) ?? { tooEarly: 0, done: [] };
      const done = [...before.done, doneMs].slice(-JOBS);
      const isQuick = doneMs <= quickOf(done) * (1 + CLOSE);
      const tooEarly = isQuick && doneMs > firstMs ? firstMs : Math.min(before.tooEarly * FORGETTING, doneMs);
      polls.set(model, { tooEarly, done });
    },
    /** How long a job that starts now may be followed without a sign of life. */
    heartbeatTimeoutMs: (): number =>
      Math.round(
        Math.min(Math.max(TIMING.heartbeatQuick, gap(followed, HEARTBEATS_PER_SECOND) * TIMING.beatsPerTimeout), TIMING.heartbeatLongest),
      ),
  };
};
