import { randomUUID } from "node:crypto";
import { doubling, pause, retry } from "@nodeloom/platform";
import type { ModelCall } from "../run/calls";
import { TIMING } from "../run/timing";
import { mayPass, ProviderError, type Submission } from "@nodeloom/providers";
import type { Stores } from "../record/stores";
import { classifyFailure, final, mayHaveArrived, RunCancelled } from "./failures";

/**
 * What is sent to providers. A call is noted as sent before it is, so that no crash hides one that is paid for, and for
 * exactly as long as it may have reached its provider. What a provider would not recognise as a repetition is sent once.
 */

/** Between two looks for the outcome of a submission that another process may be making. */
const LOOK_AGAIN_MS = 1_000;
/** Pauses before a write is tried again that says what a provider was sent. */
const WRITE_PAUSES_MS = [100, 500, 2_000];

/** How long a provider that does not answer is asked for what became of a sending. */
const FIND_MS = 60_000;
const FIND_PAUSES_MS = [500, 5_000] as const;

/** What is lost where a write fails is a job at the provider, or its files, that no one knows of. */
const retryWrite = <T>(write: () => Promise<T>): Promise<T> => retry(write, { pausesMs: WRITE_PAUSES_MS });

export interface SentOnce<T> {
  /** Sends it. `record` keeps what the provider answered, before anything else is done with that. */
  send(record: (answer: Submission) => Promise<void>): Promise<T>;
  /** What an earlier sending gave, by the provider's answer; undefined when that is not known (yet). */
  known(answer: Submission): Promise<T | undefined>;
  /** Looks at the provider for what became of a sending without an answer; undefined where it can't be asked. */
  find?: (() => Promise<Submission | undefined>) | undefined;
  /** Ends the wait for an earlier sending. */
  signal: AbortSignal;
}

export type Submissions = ReturnType<typeof createSubmissions>;

export const createSubmissions = (stores: Stores) => {
  /** Whose claims those of this process are. */
  const owner = randomUUID();
  /** Sendings under way in this process, by key. */
  const sending = new Map<string, Promise<unknown>>();
  /** What was sent here, with its answer where it has one, until that is written. */
  const unwritten = new Map<string, Submission | null>();

  /**
   * The last step before a provider is called, after every wait. From then on the call may have reached it: a run that is
   * cancelled is charged for it.
   * @returns notes that the provider certainly did not take it. A crash before that leaves it noted as sent.
   * @throws RunCancelled when the run is being cancelled
   */
  const markSubmitted = async (call: ModelCall): Promise<() => Promise<void>> => {
    if ((await stores.rows.callStanding(call.executionId)).isCancelled) throw new RunCancelled();
    const send = randomUUID();
    await stores.calls.submitted(call, send);
    return () => retryWrite(() => stores.calls.notReceived(call, send));
  };

  /** Keeps what a provider answered. Where that fails, it is remembered here, and nothing is sent again. */
  const record = async (key: string, answer: Submission): Promise<void> => {
    unwritten.set(key, answer);
    await retryWrite(() => stores.submissions.record(key, answer.requestId, answer.handle ?? null));
    unwritten.delete(key);
  };

  /** Claims a sending. @returns the answer to an earlier one; null where that has none, or where it may still come */
  const claim = async (key: string): Promise<"ours" | { answer: Submission | null; mayCome: boolean }> => {
    const claimed = await stores.submissions.claim(key, owner);
    if (claimed.claimed) return "ours";
    const { requestId, handle, at, lost } = claimed;
    const isOwn = claimed.owner === owner;
    if (requestId !== null || !isOwn) {
      const mayCome = !isOwn && !lost && Date.now() - at.getTime() < TIMING.submitLost;
      return { answer: requestId === null ? null : { requestId, ...(handle ? { handle } : {}) }, mayCome };
    }
    // Nothing of it is under way here any more: what was not sent by then never was.
    const answer = unwritten.get(key);
    if (answer) await record(key, answer);
    return answer === undefined && !lost ? "ours" : { answer: answer ?? null, mayCome: false };
  };

  /** What the provider has of a sending whose answer was lost: one that was restarted meanwhile is waited for. */
  const lookedUp = async <T>(key: string, { find, known, signal }: SentOnce<T>): Promise<{ value: T } | undefined> => {
    if (!find) return undefined;
    const until = Date.now() + FIND_MS;
    const answer = await retry(find, { pausesMs: doubling(...FIND_PAUSES_MS), shouldRetry: mayPass, until, signal }).catch(() => undefined);
    if (!answer) return undefined;
    await record(key, answer);
    const value = await known(answer);
    return value === undefined ? undefined : { value };
  };

  /** What came of an earlier sending. One whose process is silent may be under way still: that is waited for. */
  const earlier = async <T>({ key, model }: ModelCall, once: SentOnce<T>): Promise<{ value: T } | undefined> => {
    const { known, signal } = once;
    for (;;) {
      const claimed = await claim(key);
      if (claimed === "ours") return undefined;
      const value = claimed.answer ? await known(claimed.answer) : undefined;
      if (value !== undefined) return { value };
      if (!claimed.mayCome) {
        const found = await lookedUp(key, once);
        if (found) return found;
        throw final("PROVIDER_SUBMIT_FAILED", `${model}: an earlier submission may have reached the provider; it is not sent twice`);
      }
      await pause(LOOK_AGAIN_MS, signal);
      signal.throwIfAborted();
    }
  };

  /** Takes a claim back: the call was certainly not sent, or not taken. */
  const release = async (key: string): Promise<void> => {
    unwritten.delete(key);
    await retryWrite(() => stores.submissions.release(key));
  };

  /** Notes that a call must not be sent any more. */
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
        const found = mayHaveArrived(error) ? await lookedUp(key, once) : undefined;
        if (found) return found.value;
        await lose(key);
      }
      throw error;
    }
  };

  return {
    /** Makes a call that may be repeated. @throws RunCancelled when its run is being cancelled */
    send: async <T>(call: ModelCall, send: () => Promise<T>): Promise<T> => {
      const notReceived = await markSubmitted(call);
      try {
        return await send();
      } catch (error) {
        if (error instanceof ProviderError && classifyFailure(error, false).notReceived) await notReceived();
        throw error;
      }
    },

    /** Makes a call that its provider would not recognise when it is repeated: once, whatever crashes. */
    once: <T>(call: ModelCall, once: SentOnce<T>): Promise<T> => {
      const { key } = call;
      const known = sending.get(key) as Promise<T> | undefined;
      if (known) return known;
      const sent = sendOnce(call, once).finally(() => sending.delete(key));
      sending.set(key, sent);
      return sent;
    },

    /** Makes sure that a call is not sent any more. @returns what its provider answered; null when it did not answer, undefined when it was never sent */
    close: async (key: string): Promise<Submission | null | undefined> => {
      await sending.get(key)?.catch(() => undefined);
      const claimed = await claim(key);
      if (claimed !== "ours") return claimed.answer;
      await lose(key);
      return undefined;
    },
  };
};
