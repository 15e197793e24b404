/** Wraps calls with moderation: their inputs are checked before the call, their outputs afterwards. */
import { DomainError, isMediaId } from "@nodeloom/kernel";
import type { TextStream } from "../calls/text-streams";
import type { Calls } from "../calls/ways";
import type { CancelResult, ModelCall, StepFailure } from "../run/calls";
import { outputsOfResult } from "../run/values";
import { TIMING } from "../run/timing";
import type { CallResult } from "../run/types";
import type { InputChecks } from "./inputs";
import type { OutputChecks } from "./outputs";
import { CONTENT_REFUSED } from "./decide";

export interface ModeratedOptions {
  prompt: InputChecks["prompt"];
  outputs: OutputChecks;
  /** True if texts aren't streamed, because they are checked first. */
  hidesTexts: boolean;
}

const UNHEARD: TextStream = { restart: () => undefined, write: () => undefined, close: () => undefined };

const refusedOf = (error: unknown): { refused: NonNullable<StepFailure["refused"]>; message: string } | undefined => {
  if (!(error instanceof DomainError) || error.reason !== CONTENT_REFUSED) return undefined;
  const { refused } = error.metadata as StepFailure;
  return refused && { refused, message: error.message };
};

export const moderated = (calls: Calls, { prompt, outputs, hidesTexts }: ModeratedOptions): Calls => {
  const { jobs, texts, files, httpRequest, keepFile, transforms, textStreams } = calls;
  const { assertNotRefused, check } = outputs;

  const checkMade = (call: ModelCall, result: CallResult, signal?: AbortSignal): Promise<void> => {
    const { costMicroUsd, requestId } = result;
    return check(call, { outputs: outputsOfResult(result), files: result.files.length, cost: { costMicroUsd, requestId } }, signal);
  };

  const makeChecked = async (call: ModelCall, signal: AbortSignal, make: () => Promise<CallResult>): Promise<CallResult> => {
    await assertNotRefused(call);
    const result = await make();
    await checkMade(call, result, signal);
    return result;
  };

  /** Outputs that were finished before the stop are checked like all others. */
  const stopped = async (call: ModelCall, stop: () => Promise<CancelResult>): Promise<CancelResult> => {
    try {
      await assertNotRefused(call);
      const result = await stop();
      if (result.finished) await checkMade(call, result.finished);
      return result;
    } catch (error) {
      const refusal = refusedOf(error);
      if (!refusal) throw error;
      return { report: "stopped", finished: null, ...refusal };
    }
  };

  return {
    jobs: {
      submit: async (call, signal, clock) => {
        await prompt(call, signal);
        return jobs.submit(call, signal, clock);
      },
      // Previews can't be checked before they are shown.
      poll: (call, job, signal, onProgress) =>
        makeChecked(call, signal, () =>
          jobs.poll(call, job, signal, onProgress && (({ percent }) => percent !== undefined && onProgress({ percent }))),
        ),
      cancel: (call, job) => stopped(call, () => jobs.cancel(call, job)),
    },
    texts: {
      run: async (call, signal, clock, textStream) => {
        await prompt(call, signal);
        return makeChecked(call, signal, () => texts.run(call, signal, clock, textStream));
      },
    },
    files: {
      run: async (call, signal, clock) => {
        await prompt(call, signal);
        return makeChecked(call, signal, () => files.run(call, signal, clock));
      },
      stop: (call) => stopped(call, () => files.stop(call)),
    },
    httpRequest: async (call, signal) => {
      const answer = await httpRequest(call, signal);
      const { status, body } = answer;
      await check(call, { outputs: { status, body }, files: 0, waitMs: TIMING.answerCheck }, signal);
      return answer;
    },
    keepFile: async (call, signal) => {
      const file = await keepFile(call, signal);
      // A file with a media id existed before the run.
      if (!isMediaId(call.reference)) await check(call, { outputs: { files: [file] }, files: 1 }, signal);
      return file;
    },
    transforms: async (call, signal, mayFetch) => {
      const result = await transforms(call, signal, mayFetch);
      const outputs = outputsOfResult({ files: result.files, text: null });
      await check(call, { outputs, files: result.files.length }, signal);
      return result;
    },
    textStreams: hidesTexts ? { ...textStreams, open: () => UNHEARD } : textStreams,
  };
};
