import { LRUCache } from "lru-cache";
import { TIMING } from "../run/timing";

/** Schedules polls: soon enough to see the end of a job, within the total rate of one process. */

/** Polls per second and process, over all jobs; users with jobs share them equally. */
const POLLS_PER_SECOND = 150;

/** First poll of a model that isn't known to be slow. */
const FIRST_POLL_MS = 100;
/** Upper bound of the first poll: a job that ends earlier than the ones before would go unnoticed. */
const FIRST_POLL_AT_MOST_MS = 1_500;
/** The first poll comes this share of the expected time before or after it. */
const CLOSE = 0.3;
/** Decay of the knowledge that jobs aren't done so early, applied after each later end. */
const FORGETTING = 0.98;
/** Shortest pause before an overdue job is polled again. */
const AGAIN_MS = 50;
/** Models remembered, and jobs per model. */
const MODELS = 1_000;
const JOBS = 20;
/** This percentile counts: one user's slow jobs must not delay polls of others. */
const LOW_PERCENTILE = 0.2;

/** Recent polls of a model, in milliseconds after submission. */
interface Polls {
  /** First polls that came before quick jobs were done. */
  tooEarly: number;
  /** First time each was seen done; the latest job last. */
  done: readonly number[];
}

const quickOf = (done: readonly number[]): number => [...done].sort((a, b) => a - b)[Math.floor((done.length - 1) * LOW_PERCENTILE)]!;

export type Pace = ReturnType<typeof createPace>;

/** Sets the rates of polls and heartbeats: ideal for each job while there are few, and bounded in total however many there are. */
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
    /** Counts a job as followed until `work` ends. */
    follow: async <T>(userId: string, work: () => Promise<T>): Promise<T> => {
      count(userId, 1);
      try {
        return await work();
      } finally {
        count(userId, -1);
      }
    },
    followed: (): number => followed,
    /** Shortest pause between two polls of one job. It grows with the user's own jobs, and hardly with those of others. */
    pollGapMs: (userId: string): number =>
      Math.min(gap((followedOf.get(userId) ?? 0) * followedOf.size, POLLS_PER_SECOND), TIMING.pollPause),
    /**
     * When to poll first (about when quick jobs of the model were done lately) and how long after that again, never later than the
     * provider's own interval after the submission or the previous poll.
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
    /** Records the first poll of a job, and when the job was seen done. */
    jobDone: (model: string, firstMs: number, doneMs: number): void => {
      const before = polls.get(model) ?? { tooEarly: 0, done: [] };
      const done = [...before.done, doneMs].slice(-JOBS);
      const isQuick = doneMs <= quickOf(done) * (1 + CLOSE);
      const tooEarly = isQuick && doneMs > firstMs ? firstMs : Math.min(before.tooEarly * FORGETTING, doneMs);
      polls.set(model, { tooEarly, done });
    },
  };
};
