import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { actualMicroUsd, DomainError, inputAddresses, pricedInputs, type ErrorMetadata } from "@nodeloom/kernel";
import type { AddressRules } from "@nodeloom/platform";
import { media as mediaProto } from "@nodeloom/proto";
import type { Media } from "../clients";
import { withFiles } from "../plan/files";
import { notePollLag } from "../meters";
import type { CatalogModel, ModelCatalog } from "../plan/model-catalog";
import { CalledOff, isBusy, judge, pauseFor, TryAgain } from "./provider-failures";
import { createPace, type Pace } from "./pace";
import type { Gate } from "./provider-gates";
import { ProviderError, type JobProvider, type Provider, type Submission, type TextProvider } from "../providers";
import type { CallResult, MediaFile } from "../contract/run-types";
import type { Slots } from "../lifecycle/slots";
import type { ExecutionStore } from "../record/store";
import type { CancelResult, ModelCall, SubmittedJob } from "../contract/activity-types";
import type { TextStream } from "./text-streams";
import { ATTEMPTS, TIMING } from "../contract/timing";

const POLL_GROWTH = 1.3;
const FIRST_POLL_MS = 100;
/** Between two looks for the outcome of a submission that another process may be making. */
const LOOK_AGAIN_MS = 1_000;
/** Pauses before a text model is called again that could not be reached, or whose answer broke off. */
const TEXT_PAUSES_MS = [250, 500, 1_000, 2_000, 5_000];
const SERVER_ERROR = 500;
const MEDIA_CALL_MS = 120_000;
/** Files of providers that this process stores at once, whatever kind of call they are from, and that may wait for it. */
export const DOWNLOADS = { slots: 32, places: 10_000 };
/** Pauses before a write is tried again that says what a provider was sent. */
const RECORD_AGAIN_MS = [100, 500, 2_000];

/** A failure the run must not retry. */
export const final = (
  reason: "EXECUTION_FAILED" | "PROVIDER_SUBMIT_FAILED" | "PROVIDER_RESPONSE_INCOMPLETE",
  message: string,
  metadata: ErrorMetadata = {},
): DomainError => new DomainError("failed", reason, message, metadata);

export interface ModelCallsOptions {
  catalog: ModelCatalog;
  provider: (model: CatalogModel) => Provider;
  /** What stands before the provider of a model. */
  gate: (model: CatalogModel) => Gate;
  media: Media;
  /** What bounds the files that are stored at once. */
  downloads: Slots;
  /** How often jobs are asked for. */
  pace?: Pace;
  /** Which addresses users may name to providers. */
  addresses?: Pick<AddressRules, "resolvedProblem">;
  store: Pick<
    ExecutionStore,
    "claimSubmission" | "recordSubmission" | "releaseSubmission" | "loseSubmission" | "isCalledOff" | "callSubmitted" | "callNotReceived"
  >;
}

/**
 * The last look before a provider is called, after every wait. From then on the call may have reached it: a run that is
 * cancelled is charged for it.
 * @returns notes that the provider certainly did not take it. A crash before that leaves it noted as sent.
 * @throws CalledOff when the run is being cancelled
 */
export const markSubmitted = async (
  store: Pick<ExecutionStore, "isCalledOff" | "callSubmitted" | "callNotReceived">,
  call: ModelCall,
): Promise<() => Promise<void>> => {
  if (await store.isCalledOff(call.executionId)) throw new CalledOff();
  const send = randomUUID();
  await store.callSubmitted(call, send);
  return () => insisting(() => store.callNotReceived(call, send));
};

/** Sends one call, and notes it as sent for as long as it may have reached its provider. */
export const sendNoted = async <T>(store: Parameters<typeof markSubmitted>[0], call: ModelCall, send: () => Promise<T>): Promise<T> => {
  const notReceived = await markSubmitted(store, call);
  try {
    return await send();
  } catch (error) {
    if (error instanceof ProviderError && judge(error, false).tookNothing) await notReceived();
    throw error;
  }
};

export type WrittenText = Pick<TextStream, "restart" | "write">;

/** Resolves after a pause, or at once when the signal aborts. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish, { once: true });
  });

export interface Insistence {
  /** Before each further attempt. */
  pausesMs?: readonly number[];
  /** Whether it may go better the next time. */
  mayPass?: (error: unknown) => boolean;
  signal?: AbortSignal;
}

/** Tries again for a while: what is lost where this is used is a job at the provider, or its files, that no one knows of. */
export const insisting = async <T>(
  work: () => Promise<T>,
  { pausesMs = RECORD_AGAIN_MS, mayPass = () => true, signal }: Insistence = {},
): Promise<T> => {
  for (const pauseMs of pausesMs) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error)) throw error;
      await delay(pauseMs, undefined, { signal });
    }
  }
  return work();
};

export const submitFailure = (model: string, error: ProviderError): DomainError =>
  final("PROVIDER_SUBMIT_FAILED", `${model}: ${error.message}`, {
    ...(error.status === undefined ? {} : { providerStatus: error.status }),
    ...(error.body === undefined ? {} : { providerBody: error.body }),
    ...(error.kind === "ambiguous" ? { jobMayRun: true } : {}),
  });

/**
 * What a failed submission (or text call) becomes: an error that is tried again after the usual pause, one that says when,
 * or the end of the step. Pauses that would not end before `until` are not begun.
 */
export const afterFailure = (call: ModelCall, error: ProviderError, idempotent: boolean, until: number): Error => {
  const { again, afterMs } = judge(error, idempotent);
  if (again && afterMs === undefined && Date.now() < until) return error;
  const isCalled = error.kind !== "unavailable" && error.kind !== "unreachable";
  const problem = isCalled ? submitFailure(call.model, error) : final("EXECUTION_FAILED", `${call.model}: ${error.message}`);
  if (!again || afterMs === undefined) return problem;
  const pauseMs = pauseFor(afterMs);
  return Date.now() + pauseMs + TIMING.submitReserve > until ? problem : new TryAgain(problem, pauseMs);
};

/** A cancellation that the provider has no time for now; a pause that is too long is cut. */
const cancelLater = (call: ModelCall, afterMs: number): TryAgain =>
  new TryAgain(
    final("EXECUTION_FAILED", `${call.model}: the provider has no time to cancel the job`),
    pauseFor(Math.min(afterMs, TIMING.cancelPause)),
  );

/** Different addresses that one call may name to its provider. */
const MAX_ADDRESSES = 100;

/** @throws DomainError when an address that the provider would call is one that users may not name */
const checkAddresses = async (
  addresses: Pick<AddressRules, "resolvedProblem">,
  { inputSchema }: CatalogModel,
  model: string,
  inputs: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const named = new Map<string, string>();
  for (const { name, url } of inputAddresses(inputSchema, inputs)) {
    named.set(url, name);
    if (named.size > MAX_ADDRESSES) throw final("EXECUTION_FAILED", `${model}: its inputs name more than ${MAX_ADDRESSES} addresses`);
  }
  await Promise.all(
    [...named].map(async ([url, name]) => {
      const problem = await addresses.resolvedProblem(url);
      if (problem !== undefined) throw final("EXECUTION_FAILED", `${model}: input ${name}: ${problem}`);
    }),
  );
};

/**
 * A call's inputs as they are sent.
 * @throws DomainError when an input is none the model takes: nodes before it may have made it.
 */
export const readyInputs = async (
  { media, addresses }: Pick<ModelCallsOptions, "media" | "addresses">,
  model: CatalogModel,
  call: ModelCall,
): Promise<Record<string, unknown>> => {
  const ready = await withFiles(media, model.inputSchema, call.inputs, call.userId, call.lent);
  if ("problem" in ready) throw final("EXECUTION_FAILED", `${call.model}: input ${ready.problem}`);
  if (addresses) await checkAddresses(addresses, model, call.model, ready.inputs);
  const [problem] = model.validate(ready.inputs);
  if (problem) throw final("EXECUTION_FAILED", `${call.model}: input ${problem.path}: ${problem.message}`);
  return pricedInputs(model.price, model.inputSchema, ready.inputs);
};

export type ModelCalls = ReturnType<typeof createModelCalls>;

/** Calls of models at their providers, as the steps of a run make them. */
export const createModelCalls = ({
  catalog,
  provider,
  gate,
  media,
  addresses,
  downloads,
  pace = createPace(),
  store,
}: ModelCallsOptions) => {
  const load = async (call: ModelCall): Promise<{ model: CatalogModel; provider: Provider }> => {
    const model = await catalog.getAny(call.model);
    return { model, provider: provider(model) };
  };

  const job = async (call: ModelCall): Promise<{ model: CatalogModel; provider: JobProvider }> => {
    const found = await load(call);
    if (found.provider.type !== "job") throw final("EXECUTION_FAILED", `${call.model} has no jobs`);
    return { model: found.model, provider: found.provider };
  };

  /** Submissions under way in this process. */
  const submitting = new Map<string, Promise<Submission>>();

  /** What came of an earlier attempt at a submission. One whose process is silent may be under way still: that is waited for. */
  const earlierSubmission = async (call: ModelCall, signal: AbortSignal): Promise<{ claimed: boolean; submission?: Submission }> => {
    for (;;) {
      const claim = await store.claimSubmission(call.key);
      if (claim.claimed) return { claimed: true };
      const { requestId, handle, at } = claim;
      if (requestId !== null) return { claimed: false, submission: { requestId, ...(handle ? { handle } : {}) } };
      if (Date.now() - at.getTime() >= TIMING.submitLost) return { claimed: false };
      await pause(LOOK_AGAIN_MS, signal);
      signal.throwIfAborted();
    }
  };

  /** Sends a submission whose provider doesn't know idempotency keys: once, whatever crashes. */
  const submitOnce = async (
    target: JobProvider,
    call: ModelCall,
    inputs: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<Submission> => {
    const { claimed, submission: earlier } = await earlierSubmission(call, signal);
    if (earlier) return earlier;
    if (!claimed) {
      throw final("PROVIDER_SUBMIT_FAILED", `${call.model}: an earlier submission may have reached the provider; it is not sent twice`);
    }
    const notReceived = await markSubmitted(store, call).catch(async (error: unknown) => {
      // Nothing was sent.
      await insisting(() => store.releaseSubmission(call.key));
      throw error;
    });
    try {
      const submission = await target.submit({ inputs, idempotencyKey: call.key });
      await insisting(() => store.recordSubmission(call.key, submission.requestId, submission.handle ?? null));
      return submission;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const { tookNothing } = judge(error, false);
      if (tookNothing) await notReceived();
      await insisting(() => (tookNothing ? store.releaseSubmission : store.loseSubmission)(call.key));
      throw error;
    }
  };

  /** A submission that is asked for again while it is under way here is made once. */
  const together = (key: string, submit: () => Promise<Submission>): Promise<Submission> => {
    const known = submitting.get(key);
    if (known) return known;
    const made = submit().finally(() => submitting.delete(key));
    submitting.set(key, made);
    return made;
  };

  /** Stores a finished job's files and prices the call. */
  const collect = async (
    call: ModelCall,
    model: CatalogModel,
    requestId: string,
    urls: readonly string[],
    signal?: AbortSignal,
  ): Promise<CallResult> => {
    if (urls.length === 0) throw final("PROVIDER_RESPONSE_INCOMPLETE", `${call.model} finished without the expected output`);
    const sourceOrigin = mediaProto.SourceOrigin.SOURCE_ORIGIN_PROVIDER;
    const files = await Promise.all(
      urls.map(async (sourceUrl, index): Promise<MediaFile> => {
        const id = `${call.executionId}-${call.nodeIndex}-${call.item}-${index}`;
        const { object } = await downloads.use(
          () =>
            media.ingest({ id, ownerId: call.userId, sourceUrl, accept: [model.modality], sourceOrigin }, { deadlineMs: MEDIA_CALL_MS }),
          { key: call.userId, signal, maxWaitMs: TIMING.job },
        );
        if (!object) throw final("EXECUTION_FAILED", `${call.model}: its output could not be stored`);
        return { url: object.url, contentType: object.contentType };
      }),
    );
    return {
      files,
      text: null,
      costMicroUsd: actualMicroUsd(call.price, model.inputSchema, call.inputs, { outputs: files.length }),
      requestId,
    };
  };

  const textOnce = async (
    { call, model, inputs }: { call: ModelCall; model: CatalogModel; inputs: Record<string, unknown> },
    target: TextProvider,
    signal: AbortSignal,
    written: WrittenText,
  ): Promise<CallResult> => {
    const { text, usage, requestId } = await sendNoted(store, call, () => {
      written.restart();
      return target.run({ inputs, idempotencyKey: call.key, signal, onText: written.write });
    });
    const costMicroUsd = actualMicroUsd(call.price, model.inputSchema, call.inputs, { outputs: 1, ...usage });
    return { files: [], text, costMicroUsd, requestId };
  };

  const followJob = async (call: ModelCall, submitted: SubmittedJob, signal: AbortSignal): Promise<CallResult> => {
    const { model, provider: target } = await job(call);
    let interval = target.intervalMs;
    // No job is done at once. Where many are followed, those that begin together (after a restart) are spread.
    await pause(Math.max(Math.min(FIRST_POLL_MS, interval), Math.random() * pace.pollGapMs()), signal);
    let answeredAt = Date.now();
    for (;;) {
      signal.throwIfAborted();
      let askedToWait = 0;
      try {
        const state = await target.poll(submitted, signal);
        answeredAt = Date.now();
        if (state.state === "succeeded") return await collect(call, model, submitted.requestId, state.files, signal);
        if (state.state === "failed") throw final("EXECUTION_FAILED", `${call.model}: ${state.message}`);
        if (state.state === "cancelled") throw final("EXECUTION_FAILED", `${call.model}: the provider cancelled the job`);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ProviderError)) throw error;
        const isGone = error.status === 404 || error.status === 410;
        if (isGone) throw final("EXECUTION_FAILED", `${call.model}: the provider does not know the job any more`);
        askedToWait = Math.min(error.retryAfterMs ?? 0, TIMING.pollPause);
        if (isBusy(error)) answeredAt = Date.now();
        if (Date.now() - answeredAt > TIMING.pollSilence)
          throw final("EXECUTION_FAILED", `${call.model}: ${error.message}`, { jobMayRun: true });
      }
      const wanted = Math.max(interval, askedToWait);
      const pausedAt = performance.now();
      await pause(Math.max(wanted, pace.pollGapMs()), signal);
      if (!signal.aborted) notePollLag(performance.now() - pausedAt - wanted);
      interval = Math.min(interval * POLL_GROWTH, target.maxIntervalMs);
    }
  };

  return {
    /**
     * Submits a job. Repeated attempts make one job at the provider.
     * @param signal ends the wait for the provider, but no submission that has begun
     * @param until when the last attempt must be over, in milliseconds since the epoch
     * @throws TryAgain when the provider may be called later
     */
    submit: async (call: ModelCall, signal: AbortSignal, until: number): Promise<SubmittedJob> => {
      const { model, provider: target } = await job(call);
      const inputs = await readyInputs({ media, addresses }, model, call);
      try {
        const send = (): Promise<Submission> =>
          target.idempotentSubmit
            ? sendNoted(store, call, () => target.submit({ inputs, idempotencyKey: call.key }))
            : together(call.key, () => submitOnce(target, call, inputs, signal));
        const submission = await gate(model).pass(send, { key: call.userId, signal, until: until - TIMING.submitReserve });
        return { ...submission, heartbeatTimeoutMs: pace.heartbeatTimeoutMs() };
      } catch (error) {
        throw error instanceof ProviderError ? afterFailure(call, error, target.idempotentSubmit, until) : error;
      }
    },

    /** Asks for a job until it is finished, and stores its files. */
    poll: (call: ModelCall, submitted: SubmittedJob, signal: AbortSignal): Promise<CallResult> =>
      pace.follow(() => followJob(call, submitted, signal)),

    /** Stops a job; what had finished by then is kept. */
    cancel: async (call: ModelCall, submitted: SubmittedJob): Promise<CancelResult> => {
      const { model, provider: target } = await job(call);
      try {
        const state = await target.poll(submitted);
        if (state.state === "succeeded" && state.files.length > 0) {
          return { report: "stopped", finished: await collect(call, model, submitted.requestId, state.files) };
        }
        if (state.state !== "running") return { report: "stopped", finished: null };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
      }
      try {
        const told = await target.cancel(submitted);
        return { report: told ? "provider_told" : "could_not_stop", finished: null };
      } catch (error) {
        // A provider that refuses won't change its mind; one that could not be asked, or has no time, is asked again.
        if (!(error instanceof ProviderError) || error.kind !== "refused") throw error;
        const isAskedAgain = isBusy(error) || (error.status ?? SERVER_ERROR) >= SERVER_ERROR;
        if (isAskedAgain) throw error.retryAfterMs === undefined ? error : cancelLater(call, error.retryAfterMs);
        return { report: "could_not_stop", finished: null };
      }
    },

    /**
     * Runs a text model. While the provider can't be reached, or asks to be called later, it is waited for here. A call whose
     * answer broke off is made again a few times: it has no effect but its answer.
     * @param until when no further attempt is made, in milliseconds since the epoch
     * @param written hears of the text while it is written
     */
    text: async (call: ModelCall, signal: AbortSignal, until: number, written: WrittenText): Promise<CallResult> => {
      const { model, provider: target } = await load(call);
      if (target.type !== "text") throw final("EXECUTION_FAILED", `${call.model} makes no text`);
      const inputs = await readyInputs({ media, addresses }, model, call);
      for (let failures = 1, broken = 0; ; failures += 1) {
        try {
          const run = (): Promise<CallResult> => textOnce({ call, model, inputs }, target, signal, written);
          return await gate(model).pass(run, { key: call.userId, signal, until: until - TIMING.submitReserve });
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
          if (error.kind === "incomplete") throw final("PROVIDER_RESPONSE_INCOMPLETE", `${call.model}: ${error.message}`);
          if (error.kind === "ambiguous") broken += 1;
          const next = afterFailure(call, error, broken < ATTEMPTS.textBroken, until);
          if (next instanceof DomainError) throw next;
          await pause(next instanceof TryAgain ? next.afterMs : TEXT_PAUSES_MS[Math.min(failures, TEXT_PAUSES_MS.length) - 1]!, signal);
          signal.throwIfAborted();
        }
      }
    },
  };
};
