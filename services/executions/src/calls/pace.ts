import { pollsPerSecond } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { TIMING } from "../run/timing";

/** Schedules polls, so that the end of a job is noticed soon and the total rate of one process stays limited. */

/** Time of the first poll of a model that isn't known to be slow. */
const FIRST_POLL_MS = 100;
/** Latest time of a first poll. If it came later, jobs that end earlier than previous jobs would be noticed late. */
const FIRST_POLL_AT_MOST_MS = 1_500;
/** A first poll is close if it comes within this share of the expected time, before or after it. */
const CLOSE = 0.3;
/** The count of early polls decays by this factor whenever a job ends later. */
const FORGETTING = 0.98;
/** Minimum pause before an overdue job is polled again. */
const AGAIN_MS = 50;
/** Maximum models in memory, and maximum jobs per model. */
const MODELS = 1_000;
const JOBS = 20;
/**
 * The time of the first poll is this low percentile of recent durations, so that slow jobs of one user don't delay polls of other users.
 */
const LOW_PERCENTILE = 0.2;

/** Recent polls of a model, in milliseconds after the submission. */
interface Polls {
  /** First polls that came before the quick jobs had ended. */
  tooEarly: number;
  /** Time at which a poll first found each job ended. The latest job is the last entry. */
  durations: readonly number[];
}

const quickOf = (durations: readonly number[]): number =>
  [...durations].sort((a, b) => a - b)[Math.floor((durations.length - 1) * LOW_PERCENTILE)]!;

export type Pace = ReturnType<typeof createPace>;

/**
 * Schedules polls and heartbeats. Few jobs are polled at their ideal times; the total rate of many jobs is limited.
 * @param perSecond polls per second of this process over all jobs. Users with jobs share them equally.
 */
export const createPace = (perSecond: number = pollsPerSecond()) => {
  let followed = 0;
  const followedOf = new Map<string, number>();
  const polls = new LRUCache<string, Polls>({ max: MODELS });
  const gap = (jobs: number): number => (jobs * 1_000) / perSecond;
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
    /** Minimum pause between two polls of one job. It grows with the user's own jobs. Other users' jobs hardly change it. */
    pollGapMs: (userId: string): number => Math.min(gap((followedOf.get(userId) ?? 0) * followedOf.size), TIMING.pollPause),
    /**
     * Returns when to poll first and how long to wait before the next poll. The first poll is at the time when recent quick jobs of the
     * model ended. No poll comes later than the provider's own interval after the submission or the previous poll.
     * @param model undefined if this job isn't followed from its submission, so its duration isn't recorded
     * @param intervalMs the provider's own pause between polls
     */
    polls: (model: string | undefined, intervalMs: number): { firstMs: number; againMs: number } => {
      const atLeast = Math.min(FIRST_POLL_MS, intervalMs);
      const lately = model === undefined ? undefined : polls.get(model);
      if (!lately) return { firstMs: atLeast, againMs: intervalMs };
      const { tooEarly } = lately;
      const quickMs = quickOf(lately.durations);
      const expected = quickMs - tooEarly > CLOSE * quickMs ? (tooEarly + quickMs) / 2 : quickMs;
      const firstMs = Math.min(Math.max(expected, atLeast), FIRST_POLL_AT_MOST_MS, intervalMs);
      return { firstMs, againMs: Math.min(Math.max(quickMs - firstMs, AGAIN_MS), intervalMs) };
    },
    /** Records when a job was first polled, and when a poll found it ended. */
    jobDone: (model: string, firstMs: number, doneMs: number): void => {
      const before = polls.get(model) ?? { tooEarly: 0, durations: [] };
      const durations = [...before.durations, doneMs].slice(-JOBS);
      const isQuick = doneMs <= quickOf(durations) * (1 + CLOSE);
      const tooEarly = isQuick && doneMs > firstMs ? firstMs : Math.min(before.tooEarly * FORGETTING, doneMs);
      polls.set(model, { tooEarly, durations });
    },
  };
};
