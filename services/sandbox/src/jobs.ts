import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { openJournal } from "@nodeloom/platform";
import { z } from "zod";
import { GENERATOR_NAMES, GENERATORS } from "./generators";
import { faultOf, faultSchema, type GeneratorInput } from "./inputs";
import { ProviderError } from "./provider-error";

export const DIALECTS = ["jobs", "queue", "predictions"] as const;

const jobRecordSchema = z.object({
  id: z.string(),
  dialect: z.enum(DIALECTS),
  generator: z.enum(GENERATOR_NAMES),
  files: z.array(z.string()),
  createdAt: z.number(),
  latencyMs: z.number(),
  fail: faultSchema.shape.fail,
  idempotencyKey: z.string().optional(),
  cancelledAt: z.number().optional(),
});
/** A stored job. Its state is computed from the time; see `stateOf`. Times are in milliseconds since 1970. */
export type Job = z.infer<typeof jobRecordSchema>;
export type Dialect = Job["dialect"];

export type JobState =
  | { status: "queued" | "running"; progress: number }
  | { status: "succeeded"; progress: 1; files: readonly string[] }
  | { status: "failed"; progress: number; error: { code: string; message: string } }
  | { status: "cancelled"; progress: number };

export interface Submission {
  dialect: Dialect;
  generator: Job["generator"];
  input: GeneratorInput;
  idempotencyKey?: string;
}

export interface JobCounters {
  submissions: number;
  /** Number of submissions that returned an existing job by idempotency key. */
  replays: number;
  /** Number of submissions rejected because of a requested fault. */
  refusals: number;
  polls: number;
  /** Number of cancel requests, whether or not they had an effect. */
  cancels: number;
}

export interface Jobs {
  /** Creates a job, or returns the job with the same idempotency key. @throws ProviderError for a requested rejection */
  submit(submission: Submission): Job;
  /** Returns a job's state and counts a poll. @throws ProviderError 500 for some polls of a flapping job */
  poll(dialect: Dialect, id: string): { job: Job; state: JobState } | undefined;
  /** Returns a job's state without counting a poll, for dialects that fetch the result separately. */
  peek(dialect: Dialect, id: string): { job: Job; state: JobState } | undefined;
  /** Cancels an unfinished job. `before` is the state before the call. */
  cancel(dialect: Dialect, id: string): { job: Job; before: JobState; state: JobState } | undefined;
  /** Returns jobs, newest first. */
  recent(limit: number, idempotencyKey?: string): { job: Job; state: JobState; polls: number; cancels: number }[];
  counters(): JobCounters;
  heldCount(): number;
}

export const JOB_RETENTION_MS = 2 * 3_600_000;
const MAX_JOBS = 50_000;
/** Number of lines above which the journal is compacted. */
const MAX_JOURNAL_ENTRIES = 3 * MAX_JOBS;
const QUEUED_SHARE = 0.2;
const HANGING_PROGRESS = 0.9;
/** Only the last of this many polls of a flapping job succeeds. */
const FLAP_PERIOD = 3;
const DEFAULT_REFUSAL_STATUS = 500;

/** Returns a job's state at `now`. It depends only on time, because nothing runs in the background. */
export const stateOf = (job: Job, now: number): JobState => {
  const elapsed = (job.cancelledAt ?? now) - job.createdAt;
  const progress = job.latencyMs > 0 ? Math.max(0, Math.min(1, elapsed / job.latencyMs)) : 1;
  const shownProgress = Math.round(progress * 100) / 100;
  if (job.cancelledAt !== undefined) return { status: "cancelled", progress: shownProgress };
  if (progress < QUEUED_SHARE) return { status: "queued", progress: 0 };
  if (job.fail === "hang") return { status: "running", progress: Math.min(HANGING_PROGRESS, shownProgress) };
  if (progress < 1) return { status: "running", progress: shownProgress };
  if (job.fail === "job")
    return { status: "failed", progress: 1, error: { code: "generation_failed", message: "the sandbox was asked to fail this job" } };
  return { status: "succeeded", progress: 1, files: job.fail === "incomplete" ? [] : job.files };
};

/** Rejects a request with `fail: "submit"`. */
export const refuseIfAsked = (fault: GeneratorInput["sandbox"]): void => {
  if (fault?.fail === "submit")
    throw new ProviderError(fault.status ?? DEFAULT_REFUSAL_STATUS, "submission_refused", "the sandbox was asked to refuse this request");
};

/** Keeps jobs in memory, with a journal in `directory` so that they survive a crash. */
export const openJobs = (directory: string, clock: () => number): Jobs => {
  const journal = openJournal(join(directory, "jobs.jsonl"), jobRecordSchema);
  const jobs = new Map<string, Job>();
  const byKey = new Map<string, string>();
  const pollCounts = new Map<string, { polls: number; cancels: number }>();
  const counters: JobCounters = { submissions: 0, replays: 0, refusals: 0, polls: 0, cancels: 0 };
  let journalled = 0;

  const keyOf = (dialect: Dialect, key: string): string => `${dialect} ${key}`;
  const forget = (job: Job): void => {
    jobs.delete(job.id);
    pollCounts.delete(job.id);
    if (job.idempotencyKey !== undefined) byKey.delete(keyOf(job.dialect, job.idempotencyKey));
  };
  const remember = (job: Job): void => {
    jobs.set(job.id, job);
    if (job.idempotencyKey !== undefined) byKey.set(keyOf(job.dialect, job.idempotencyKey), job.id);
  };
  const trim = (): void => {
    const oldest = clock() - JOB_RETENTION_MS;
    for (const job of jobs.values()) {
      if (job.createdAt >= oldest && jobs.size <= MAX_JOBS) break;
      forget(job);
    }
  };
  const compact = (): void => {
    trim();
    journal.rewrite([...jobs.values()]);
    journalled = jobs.size;
  };
  const save = (job: Job): void => {
    journal.append(job);
    remember(job);
    if (++journalled > MAX_JOURNAL_ENTRIES) compact();
  };
  const find = (dialect: Dialect, id: string): Job | undefined => {
    const job = jobs.get(id);
    return job?.dialect === dialect ? job : undefined;
  };
  const count = (id: string, what: "polls" | "cancels"): number => {
    const counts = pollCounts.get(id) ?? { polls: 0, cancels: 0 };
    pollCounts.set(id, counts);
    counters[what] += 1;
    return (counts[what] += 1);
  };

  for (const job of journal.read()) remember(job);
  compact();

  return {
    submit: ({ dialect, generator, input, idempotencyKey }) => {
      trim();
      const earlier = idempotencyKey === undefined ? undefined : jobs.get(byKey.get(keyOf(dialect, idempotencyKey)) ?? "");
      if (earlier) {
        counters.replays += 1;
        return earlier;
      }
      const fault = faultOf(input.sandbox, generator);
      if (fault?.fail === "submit") counters.refusals += 1;
      refuseIfAsked(fault);
      const { files, latencyMs } = GENERATORS[generator];
      const job: Job = {
        id: randomUUID(),
        dialect,
        generator,
        files: files(input),
        createdAt: clock(),
        latencyMs: fault?.latencyMs ?? latencyMs(input),
        fail: fault?.fail,
        idempotencyKey,
      };
      save(job);
      counters.submissions += 1;
      return job;
    },
    poll: (dialect, id) => {
      const job = find(dialect, id);
      if (!job) return undefined;
      const polls = count(id, "polls");
      if (job.fail === "flap" && polls % FLAP_PERIOD !== 0)
        throw new ProviderError(500, "flapping", "the sandbox was asked to answer some polls with an error");
      return { job, state: stateOf(job, clock()) };
    },
    peek: (dialect, id) => {
      const job = find(dialect, id);
      return job && { job, state: stateOf(job, clock()) };
    },
    cancel: (dialect, id) => {
      const job = find(dialect, id);
      if (!job) return undefined;
      count(id, "cancels");
      const now = clock();
      const before = stateOf(job, now);
      if (before.status !== "queued" && before.status !== "running") return { job, before, state: before };
      const cancelled: Job = { ...job, cancelledAt: now };
      save(cancelled);
      return { job: cancelled, before, state: stateOf(cancelled, now) };
    },
    recent: (limit, idempotencyKey) =>
      [...jobs.values()]
        .reverse()
        .filter((job) => idempotencyKey === undefined || job.idempotencyKey === idempotencyKey)
        .slice(0, limit)
        .map((job) => ({ job, state: stateOf(job, clock()), ...(pollCounts.get(job.id) ?? { polls: 0, cancels: 0 }) })),
    counters: () => ({ ...counters }),
    heldCount: () => jobs.size,
  };
};
