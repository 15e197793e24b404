import { randomUUID } from "node:crypto";
import { doubling, pause, retry } from "@nodeloom/platform";
import type { ModelCall } from "../run/calls";
import { TIMING } from "../run/timing";
import { mayPass, ProviderError, type Submission } from "@nodeloom/providers";
import type { Stores } from "../record/stores";
import { classifyFailure, final, mayHaveArrived, RunCancelled } from "./failures";

/**
 * Sends submissions to providers. A call is recorded before it is sent, so that a crash can't hide a paid call. The record remains as long
 * as the call may have reached its provider. If the provider doesn't recognize repetitions, the request is sent once.
 */

/** Pause between checks for the outcome of a submission that another process may be making. */
const LOOK_AGAIN_MS = 1_000;
/** Pauses before retries of the write that records a provider's answer. */
const WRITE_PAUSES_MS = [100, 500, 2_000];

/** How long an unreachable provider is asked for the outcome of a submission. */
const FIND_MS = 60_000;
const FIND_PAUSES_MS = [500, 5_000] as const;

/** If this write fails, the platform can't find the provider's job or its files later. */
const retryWrite = <T>(write: () => Promise<T>): Promise<T> => retry(write, { pausesMs: WRITE_PAUSES_MS });

export interface SentOnce<T> {
  /** Sends the request. `record` stores the provider's answer before the answer is used. */
  send(record: (answer: Submission) => Promise<void>): Promise<T>;
  /** Returns the result of an earlier submission from the provider's answer; undefined if it isn't available yet. */
  resume(answer: Submission): Promise<T | undefined>;
  /** Asks the provider for the outcome of a submission without an answer; undefined if the provider doesn't support lookups. */
  find?: (() => Promise<Submission | undefined>) | undefined;
  /** Ends the wait for an earlier submission. */
  signal: AbortSignal;
}

export type Submissions = ReturnType<typeof createSubmissions>;

export const createSubmissions = (stores: Stores) => {
  /** Identifies this process in claims. */
  const owner = randomUUID();
  /** Submissions in progress in this process, by key. */
  const sending = new Map<string, Promise<unknown>>();
  /** Submissions of this process whose answers aren't stored yet. The value is the answer, or null if there is none. */
  const unwritten = new Map<string, Submission | null>();

  /**
   * Last step before a provider is called, after every wait. From here on the call may have reached the provider, so a cancelled run is
   * charged for it.
   * @returns a function that removes the record if the provider certainly didn't accept the call; after a crash before that, the call
   *   counts as sent
   */
  const markSubmitted = async (call: ModelCall): Promise<() => Promise<void>> => {
    if ((await stores.rows.callStanding(call.executionId)).isCancelled) throw new RunCancelled();
    const send = randomUUID();
    await stores.calls.submitted(call, send);
    return () => retryWrite(() => stores.calls.notReceived(call, send));
  };

  /** Stores a provider's answer. If that fails, the answer stays in memory and the request isn't sent again. */
  const record = async (key: string, answer: Submission): Promise<void> => {
    unwritten.set(key, answer);
    await retryWrite(() => stores.submissions.record(key, answer.requestId, answer.handle ?? null));
    unwritten.delete(key);
  };

  /** Claims a submission. @returns `ours`, or the answer to an earlier submission (null if there is none so far) */
  const claim = async (key: string): Promise<"ours" | { answer: Submission | null; mayCome: boolean }> => {
    const submissionClaim = await stores.submissions.claim(key, owner);
    if (submissionClaim.isNew) return "ours";
    const { requestId, handle, at, lost } = submissionClaim;
    const isOwn = submissionClaim.owner === owner;
    if (requestId !== null || !isOwn) {
      const mayCome = !isOwn && !lost && Date.now() - at.getTime() < TIMING.submitLost;
      return { answer: requestId === null ? null : { requestId, ...(handle ? { handle } : {}) }, mayCome };
    }
    // This process owns the claim and no submission is in progress, so a call without an answer was never sent.
    const answer = unwritten.get(key);
    if (answer) await record(key, answer);
    return answer === undefined && !lost ? "ours" : { answer: answer ?? null, mayCome: false };
  };

  /** Looks up a submission whose answer was lost, and waits while the provider restarts. */
  const lookedUp = async <T>(key: string, { find, resume, signal }: SentOnce<T>): Promise<{ value: T } | undefined> => {
    if (!find) return undefined;
    const until = Date.now() + FIND_MS;
    const answer = await retry(find, { pausesMs: doubling(...FIND_PAUSES_MS), shouldRetry: mayPass, until, signal }).catch(() => undefined);
    if (!answer) return undefined;
    await record(key, answer);
    const value = await resume(answer);
    return value === undefined ? undefined : { value };
  };

  /** Returns the result of an earlier submission. Waits if its process doesn't respond, because the submission may still be in progress. */
  const earlier = async <T>({ key, model }: ModelCall, once: SentOnce<T>): Promise<{ value: T } | undefined> => {
    const { resume, signal } = once;
    for (;;) {
      const submissionClaim = await claim(key);
      if (submissionClaim === "ours") return undefined;
      const value = submissionClaim.answer ? await resume(submissionClaim.answer) : undefined;
      if (value !== undefined) return { value };
      if (!submissionClaim.mayCome) {
        const earlierAnswer = await lookedUp(key, once);
        if (earlierAnswer) return earlierAnswer;
        throw final(
          "PROVIDER_SUBMIT_FAILED",
          `${model}: an earlier submission may have reached the provider, so the request isn't sent again`,
        );
      }
      await pause(LOOK_AGAIN_MS, signal);
      signal.throwIfAborted();
    }
  };

  /** Removes a claim. Call it only if the provider certainly didn't receive or accept the call. */
  const release = async (key: string): Promise<void> => {
    unwritten.delete(key);
    await retryWrite(() => stores.submissions.release(key));
  };

  /** Prevents a call from being sent. */
  const lose = async (key: string): Promise<void> => {
    await retryWrite(() => stores.submissions.lose(key));
    unwritten.delete(key);
  };

  const sendOnce = async <T>(call: ModelCall, once: SentOnce<T>): Promise<T> => {
    const { key } = call;
    const before = await earlier(call, once);
    if (before) return before.value;
    const notReceived = await markSubmitted(call).catch(async (error: unknown) => {
      await release(key);
      throw error;
    });
    unwritten.set(key, null);
    try {
      return await once.send((answer) => record(key, answer));
    } catch (error) {
      if (error instanceof ProviderError && classifyFailure(error, false).notReceived) {
        await notReceived();
        await release(key);
      } else if (unwritten.get(key) === null) {
        const earlierAnswer = mayHaveArrived(error) ? await lookedUp(key, once) : undefined;
        if (earlierAnswer) return earlierAnswer.value;
        await lose(key);
      }
      throw error;
    }
  };

  return {
    /** Makes a call that can be repeated. @throws RunCancelled if its run is being cancelled */
    send: async <T>(call: ModelCall, send: () => Promise<T>): Promise<T> => {
      const notReceived = await markSubmitted(call);
      try {
        return await send();
      } catch (error) {
        if (error instanceof ProviderError && classifyFailure(error, false).notReceived) await notReceived();
        throw error;
      }
    },

    /** Makes a call at most once despite crashes, because its provider doesn't recognize repetitions. */
    once: <T>(call: ModelCall, once: SentOnce<T>): Promise<T> => {
      const { key } = call;
      const pending = sending.get(key) as Promise<T> | undefined;
      if (pending) return pending;
      const submission = sendOnce(call, once).finally(() => sending.delete(key));
      sending.set(key, submission);
      return submission;
    },

    /** Prevents a call from being sent again. @returns the provider's answer; null if it has none, undefined if the call was never sent */
    close: async (key: string): Promise<Submission | null | undefined> => {
      await sending.get(key)?.catch(() => undefined);
      const submissionClaim = await claim(key);
      if (submissionClaim !== "ours") return submissionClaim.answer;
      await lose(key);
      return undefined;
    },
  };
};
