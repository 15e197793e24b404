import { DomainError } from "@nodeloom/kernel";
import { pause } from "@nodeloom/platform";
import type { CancelResult, ModelCall, SubmittedJob } from "../run/calls";
import type { CallResult } from "../run/types";
import { TIMING } from "../run/timing";
import { notePollLag } from "../meters";
import type { CatalogModel } from "../plan/model-catalog";
import { ProviderError, type JobProgress, type ProviderOutput, type PollState, type Submission } from "@nodeloom/providers";
import { madeResult, readyCall, target, withFreshFiles, withoutOutput, type CallOptions } from "./call";
import type { CallClock } from "./clock";
import { afterFailure, final, isBusy, MAY_TRY_ANOTHER, pauseFor, providerFailed, QUOTES_ADDRESS, TryAgain } from "./failures";
import { originOfModelCall } from "./making";
import { createPace, type Pace } from "./pace";
import { createStoreMade } from "./stored-files";

/** Makes calls whose provider creates jobs: submits, polls, collects and cancels them. */

const POLL_GROWTH = 1.3;
/** A job that was submitted at most this long ago counts as followed from its start. */
const NEW_JOB_MS = 100;
const SERVER_ERROR = 500;
const NOT_FOUND = 404;
const GONE = 410;
/** How long polls may report a new job as unknown, because some providers replicate jobs slowly. */
const UNKNOWN_AT_FIRST_MS = 30_000;
/** How long polls may report a known job as unknown, because a restarted provider may need time to load its jobs. */
const UNKNOWN_AGAIN_MS = 10_000;

/** The provider is too busy to cancel, so cancelling is retried. Long pauses are shortened. */
const cancelLater = (call: ModelCall, afterMs: number): TryAgain =>
  new TryAgain(
    final("EXECUTION_FAILED", `${call.model}: the provider was too busy to cancel the job`),
    pauseFor(Math.min(afterMs, TIMING.cancelPause)),
  );

const hasOtherAddresses = (one: ProviderOutput, other: ProviderOutput): boolean => {
  const knownUrls = new Set(other.files.flatMap((file) => ("url" in file ? [file.url] : [])));
  return one.files.some((file) => "url" in file && !knownUrls.has(file.url));
};

/** A call with the origin that its submission noted. */
const madeFrom = (call: ModelCall, { origin }: SubmittedJob): ModelCall => (origin ? { ...call, origin } : call);

export type OnProgress = (progress: JobProgress) => void;

export type JobOptions = CallOptions & { pace?: Pace };

export type Jobs = ReturnType<typeof createJobs>;

export const createJobs = ({ pace = createPace(), ...options }: JobOptions) => {
  const { gate, media, storage = media, downloads, submissions } = options;
  const store = createStoreMade(storage, downloads);

  const collect = async (
    call: ModelCall,
    model: CatalogModel,
    requestId: string,
    providerResult: ProviderOutput,
    signal?: AbortSignal,
  ): Promise<CallResult> => {
    if (model.modality === "text") return madeResult(call, model, providerResult, { files: [], requestId });
    if (providerResult.files.length === 0) return withoutOutput(call);
    try {
      const files = await Promise.all(providerResult.files.map((file, index) => store(call, model, file, index, signal ? { signal } : {})));
      return madeResult(call, model, providerResult, { files, requestId });
    } catch (error) {
      // Cancelling was already requested several times.
      throw error instanceof ProviderError
        ? providerFailed(`${call.model}: its output could not be fetched: ${error.message}`, {
            ...MAY_TRY_ANOTHER,
            ...QUOTES_ADDRESS,
          })
        : error;
    }
  };

  /**
   * Collects the output of a polled job. Some providers sign addresses for an hour: if an address can't be fetched, the job is polled again
   * for new addresses.
   * @param ask polls the job's state
   */
  const collectFresh = async (
    call: ModelCall,
    model: CatalogModel,
    requestId: string,
    providerResult: ProviderOutput,
    { ask, signal }: { ask: () => Promise<PollState>; signal: AbortSignal },
  ): Promise<CallResult> => {
    try {
      return await collect(call, model, requestId, providerResult, signal);
    } catch (error) {
      if (!(error instanceof DomainError) || error.reason !== "EXECUTION_FAILED") throw error;
      const now = await ask();
      if (now.state !== "succeeded" || !hasOtherAddresses(now.output, providerResult)) throw error;
      return collect(call, model, requestId, now.output, signal);
    }
  };

  const follow = async (call: ModelCall, submitted: SubmittedJob, signal: AbortSignal): Promise<CallResult> => {
    const { model, provider } = await target(options, call, "job");
    let interval = provider.intervalMs;
    const sinceSubmitted = (): number => Date.now() - (submitted.submittedAt ?? 0);
    const isNew = sinceSubmitted() < NEW_JOB_MS;
    const { firstMs: firstPollMs, againMs } = pace.polls(isNew ? call.model : undefined, interval);
    // Jobs never complete immediately. Jobs that resume together after a restart are polled at different times.
    const notBeforeMs = (provider.firstMs ?? 0) - sinceSubmitted();
    await pause(Math.max(firstPollMs, notBeforeMs, Math.random() * pace.pollGapMs(call.userId)), signal);
    const firstMs = sinceSubmitted();
    let [askedMs, pauseMs] = [firstMs, againMs];
    let answeredAt = Date.now();
    let unknownSince: number | undefined;
    for (;;) {
      signal.throwIfAborted();
      let askedToWait = 0;
      try {
        const ask = (): Promise<PollState> => provider.poll(submitted, signal);
        const state = await ask();
        answeredAt = Date.now();
        unknownSince = undefined;
        if (state.state === "succeeded" && isNew) pace.jobDone(call.model, firstMs, askedMs);
        if (state.state === "succeeded") return await collectFresh(call, model, submitted.requestId, state.output, { ask, signal });
        if (state.state === "failed") throw providerFailed(`${call.model}: ${state.message}`, MAY_TRY_ANOTHER);
        if (state.state === "cancelled") throw providerFailed(`${call.model}: the provider cancelled the job`, MAY_TRY_ANOTHER);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ProviderError)) throw error;
        if (error.status === NOT_FOUND) unknownSince ??= Date.now();
        const unknownMs = unknownSince === undefined ? 0 : Date.now() - unknownSince;
        const isLost = error.status === NOT_FOUND && sinceSubmitted() > UNKNOWN_AT_FIRST_MS && unknownMs > UNKNOWN_AGAIN_MS;
        const isGone = isLost || error.status === GONE;
        if (isGone) throw providerFailed(`${call.model}: the provider no longer knows the job`, MAY_TRY_ANOTHER);
        askedToWait = Math.min(error.retryAfterMs ?? 0, TIMING.pollPause);
        if (isBusy(error)) answeredAt = Date.now();
        if (Date.now() - answeredAt > TIMING.pollSilence)
          throw providerFailed(`${call.model}: ${error.message}`, { jobMayRun: true, ...QUOTES_ADDRESS });
      }
      const wantedMs = Math.max(pauseMs, askedToWait);
      const pausedAt = performance.now();
      await pause(Math.max(wantedMs, pace.pollGapMs(call.userId)), signal);
      if (!signal.aborted) notePollLag(performance.now() - pausedAt - wantedMs);
      askedMs = sinceSubmitted();
      pauseMs = interval;
      interval = Math.min(interval * POLL_GROWTH, provider.maxIntervalMs);
    }
  };

  /** Reports the progress of a job while it is polled. Polls don't depend on it. */
  const watching = async <T>(call: ModelCall, submission: SubmittedJob, onProgress: OnProgress, work: () => Promise<T>): Promise<T> => {
    const { provider } = await target(options, call, "job");
    if (!provider.watch) return work();
    const watch = new AbortController();
    provider.watch({ submission, idempotencyKey: call.key, onProgress, signal: watch.signal }).catch(() => undefined);
    try {
      return await work();
    } finally {
      watch.abort();
    }
  };

  return {
    /**
     * Submits a job. Repeated attempts create only one job.
     * @param signal ends the wait for the provider, but not a submission in progress
     * @param clock limits retries over all attempts
     * @throws TryAgain if the provider can be called again later
     */
    submit: async (call: ModelCall, signal: AbortSignal, clock: CallClock): Promise<SubmittedJob> => {
      const ready = await readyCall(options, call, "job");
      const { model, provider } = ready;
      const keepAnswer = (answer: Submission): Promise<Submission> => Promise.resolve(answer);
      const send = (inputs: Record<string, unknown>): Promise<Submission> => {
        const submit = (): Promise<Submission> => provider.submit({ inputs, idempotencyKey: call.key });
        const submitOnce = async (record: (answer: Submission) => Promise<void>): Promise<Submission> => {
          const submission = await submit();
          await record(submission);
          return submission;
        };
        const { call: jobCall } = ready;
        const find = provider.find && ((): Promise<Submission | undefined> => provider.find!(call.key, signal));
        return provider.idempotentSubmit
          ? submissions.send(jobCall, submit)
          : submissions.once(jobCall, { send: submitOnce, resume: keepAnswer, find, signal });
      };
      try {
        const pass = (inputs: Record<string, unknown>) => gate(model).pass(() => send(inputs), { key: call.userId, signal, clock });
        const submission = await withFreshFiles(ready, pass);
        return { ...submission, submittedAt: Date.now(), origin: originOfModelCall(call, model) };
      } catch (error) {
        throw error instanceof ProviderError ? afterFailure(call, error, provider.idempotentSubmit, clock) : error;
      }
    },

    /** @param onProgress receives the progress of the job, if its provider streams it */
    poll: (call: ModelCall, submitted: SubmittedJob, signal: AbortSignal, onProgress?: OnProgress): Promise<CallResult> => {
      const polled = (): Promise<CallResult> => follow(madeFrom(call, submitted), submitted, signal);
      return pace.follow(call.userId, () => (onProgress ? watching(call, submitted, onProgress, polled) : polled()));
    },

    /** Stops a job and keeps the outputs that it had finished. */
    cancel: async (call: ModelCall, submitted: SubmittedJob): Promise<CancelResult> => {
      const { model, provider } = await target(options, call, "job");
      try {
        const state = await provider.poll(submitted);
        if (state.state === "succeeded" && (state.output.files.length > 0 || state.output.text !== null)) {
          return { report: "stopped", finished: await collect(madeFrom(call, submitted), model, submitted.requestId, state.output) };
        }
        if (state.state !== "running") return { report: "stopped", finished: null };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
      }
      try {
        const isProviderTold = await provider.cancel(submitted);
        return { report: isProviderTold ? "provider_told" : "could_not_stop", finished: null };
      } catch (error) {
        // A rejection is final. If the provider is unreachable or busy, cancelling is retried.
        if (!(error instanceof ProviderError) || error.kind !== "refused") throw error;
        const isAskedAgain = isBusy(error) || (error.status ?? SERVER_ERROR) >= SERVER_ERROR;
        if (isAskedAgain) throw error.retryAfterMs === undefined ? error : cancelLater(call, error.retryAfterMs);
        return { report: "could_not_stop", finished: null };
      }
    },
  };
};
