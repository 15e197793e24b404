import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { openJournal } from "@nodeloom/platform";
import { z } from "zod";
import { InputError } from "./engines/engine";
import { asProviderError, tooBusy } from "./http/failures";
import { bringFiles, type FileSources } from "./inputs";
import { createMadeFiles, type Answer } from "./made-files";
import { JOB_MODELS, type JobModel } from "./models";
import { ModelFailure } from "./pool/model-process";
import type { Pool } from "./pool/pool";

const jobSchema = z.object({
  id: z.string(),
  model: z.string(),
  inputs: z.record(z.string(), z.json()),
  idempotencyKey: z.string().optional(),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** Bounds restarts, so that a job that crashes the service doesn't run forever. */
  attempts: z.number(),
  status: z.enum(["queued", "succeeded", "failed", "cancelled"]),
  files: z.array(z.object({ name: z.string(), contentType: z.string() })).optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});
export type Job = z.infer<typeof jobSchema>;

export interface Submission {
  model: string;
  inputs: Record<string, unknown>;
  idempotencyKey?: string | undefined;
}

export interface JobView extends Omit<Job, "status"> {
  status: Job["status"] | "running";
  progress: number;
}

export interface Jobs {
  /** Creates a job, or returns the job with the same idempotency key. @throws ProviderError 429 */
  submit(submission: Submission): JobView;
  find(id: string): JobView | undefined;
  /** Cancels an unfinished job. */
  cancel(id: string): JobView | undefined;
  /** Returns the path of a result file. */
  file(name: string): string | undefined;
  /** Returns the text result; undefined for files and for unfinished jobs. */
  answer(job: Pick<Job, "files">): Promise<Answer | undefined>;
  counters(): { held: number; waiting: number; submissions: number; replays: number };
  /** Stops running jobs. They resume when the folder is opened again. */
  stop(): Promise<void>;
}

export interface JobsOptions {
  /** Folder of the journal, results and temporary files. Only one process can use it. */
  directory: string;
  pool: Pool;
  sources: FileSources;
  /** Maximum waiting jobs per model. */
  queueLimit: number;
  report: (error: unknown) => void;
  clock?: () => number;
}

export const JOB_RETENTION_MS = 2 * 3_600_000;
const MAX_JOBS = 10_000;
const MAX_JOURNAL_ENTRIES = 4 * MAX_JOBS;
const MAX_ATTEMPTS = 5;
const TRIM_MS = 600_000;

const isFinal = ({ status }: Pick<Job, "status">): boolean => status !== "queued";

/** Queues jobs per model. A journal lets jobs survive crashes of this process and of models. */
export const openJobs = async (options: JobsOptions): Promise<Jobs> => {
  const { directory, pool, sources, queueLimit, report, clock = Date.now } = options;
  const [filesFolder, work] = [join(directory, "files"), join(directory, "work")];
  await rm(work, { recursive: true, force: true });
  for (const folder of [filesFolder, work]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const madeFiles = createMadeFiles(filesFolder);
  const journal = openJournal(join(directory, "jobs.jsonl"), jobSchema);
  const jobs = new Map<string, Job>();
  const byKey = new Map<string, string>();
  const active = new Map<string, { abort: AbortController; progress: number; isRunning: boolean; end: Promise<void> }>();
  const counters = { submissions: 0, replays: 0 };
  let journalled = 0;
  let stopping = false;

  const forget = async (job: Job): Promise<void> => {
    jobs.delete(job.id);
    if (job.idempotencyKey !== undefined) byKey.delete(job.idempotencyKey);
    await madeFiles.forget(job.files ?? []);
  };
  const trim = (): void => {
    const oldest = clock() - JOB_RETENTION_MS;
    for (const job of jobs.values()) {
      if (job.createdAt >= oldest && jobs.size <= MAX_JOBS) break;
      if (isFinal(job)) void forget(job).catch(report);
    }
  };
  const compact = (): void => {
    trim();
    journal.rewrite([...jobs.values()]);
    journalled = jobs.size;
  };
  const remember = (job: Job): void => {
    jobs.set(job.id, job);
    if (job.idempotencyKey !== undefined) byKey.set(job.idempotencyKey, job.id);
  };
  const save = (job: Job): Job => {
    journal.append(job);
    remember(job);
    if (++journalled > MAX_JOURNAL_ENTRIES) compact();
    return job;
  };

  const attempt = async (id: string, model: JobModel, signal: AbortSignal): Promise<NonNullable<Job["files"]>> => {
    const folder = join(work, id);
    const entry = active.get(id)!;
    const begin = async () => {
      save({ ...jobs.get(id)!, attempts: jobs.get(id)!.attempts + 1 });
      entry.isRunning = true;
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { mode: 0o700 });
      const { inputs } = jobs.get(id)!;
      const references = Object.keys(model.files).map((name): [string, string] => [name, String(inputs[name])]);
      const files = await bringFiles(sources, Object.fromEntries(references), folder, signal);
      return { inputs, files, folder };
    };
    const progress = (share: number): void => void (entry.progress = share);
    try {
      const result = await pool.run(jobs.get(id)!.model, model, begin, {
        report: { progress, text: () => undefined },
        signal,
        maxWaitMs: JOB_RETENTION_MS,
      });
      return await madeFiles.keep(id, folder, result);
    } finally {
      entry.isRunning = false;
      await rm(folder, { recursive: true, force: true });
    }
  };

  const end = (id: string, outcome: Pick<Job, "status" | "files" | "error">): void => {
    const job = jobs.get(id);
    if (job && !isFinal(job)) save({ ...job, ...outcome });
  };

  /** Runs a job. If its model's process crashes, runs it again. */
  const carry = async (id: string, model: JobModel, signal: AbortSignal): Promise<void> => {
    for (;;) {
      try {
        return end(id, { status: "succeeded", files: await attempt(id, model, signal) });
      } catch (error) {
        if (signal.aborted) return;
        const mayGoOn = error instanceof ModelFailure && error.kind === "ended" && jobs.get(id)!.attempts < MAX_ATTEMPTS;
        if (mayGoOn) continue;
        const providerError = asProviderError(jobs.get(id)!.model, error);
        if (!providerError && !(error instanceof InputError)) report(error);
        return end(id, {
          status: "failed",
          error: { code: providerError?.code ?? "internal", message: providerError?.message ?? "the model failed" },
        });
      }
    }
  };

  const start = (job: Job): void => {
    const model = JOB_MODELS[job.model];
    if (!model || job.attempts >= MAX_ATTEMPTS)
      return end(job.id, { status: "failed", error: { code: "model_ended", message: "its process ended each time that it was begun" } });
    const abort = new AbortController();
    const entry = { abort, progress: 0, isRunning: false, end: Promise.resolve() };
    active.set(job.id, entry);
    entry.end = carry(job.id, model, abort.signal)
      .catch(report)
      .finally(() => active.delete(job.id));
  };

  const view = (job: Job): JobView => {
    const entry = active.get(job.id);
    if (job.status === "queued" && entry?.isRunning) return { ...job, status: "running", progress: entry.progress };
    return { ...job, progress: job.status === "succeeded" ? 1 : 0 };
  };

  for (const job of journal.read()) remember(job);
  compact();
  for (const job of jobs.values()) if (!isFinal(job)) start(job);
  const trimming = setInterval(trim, TRIM_MS).unref();

  const waitingFor = (model: string): number => [...active.keys()].filter((id) => jobs.get(id)?.model === model).length;

  return {
    submit: ({ model, inputs, idempotencyKey }) => {
      const earlier = idempotencyKey === undefined ? undefined : jobs.get(byKey.get(idempotencyKey) ?? "");
      if (earlier) {
        counters.replays += 1;
        return view(earlier);
      }
      if (waitingFor(model) >= queueLimit) throw tooBusy(model);
      trim();
      const job = save({
        id: randomUUID(),
        model,
        inputs: inputs as Job["inputs"],
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
        createdAt: clock(),
        attempts: 0,
        status: "queued",
      });
      counters.submissions += 1;
      if (!stopping) start(job);
      return view(job);
    },
    find: (id) => {
      const job = jobs.get(id);
      return job && view(job);
    },
    cancel: (id) => {
      if (!jobs.has(id)) return undefined;
      end(id, { status: "cancelled" });
      active.get(id)?.abort.abort(new Error("the job was cancelled"));
      return view(jobs.get(id)!);
    },
    file: madeFiles.path,
    answer: ({ files = [] }) => madeFiles.answer(files),
    counters: () => ({ held: jobs.size, waiting: active.size, ...counters }),
    stop: async () => {
      stopping = true;
      clearInterval(trimming);
      const ending = [...active.values()];
      for (const { abort } of ending) abort.abort(new Error("the service stops"));
      await Promise.all(ending.map((job) => job.end));
    },
  };
};
