import { filesAt, shownState } from "../answers";
import { ProviderError, type DialectContext, type JobProvider, type PollState, type Submission } from "../dialect";
import { createTransport } from "../transport";
import { cancelCall, responseCall, stateOf, statusCall, submissionOf, submitCall } from "./mapping";
import type { FalQueueSettings } from "./settings";

export { falQueueSchema } from "./settings";

/** How fal answers for the result of a request that failed. Others speak of the fetch, which may be repeated. */
const FAILED = new Set([400, 422]);

/** A model in fal's queue. */
export const falQueue = (settings: FalQueueSettings, context: DialectContext): JobProvider => {
  const transport = createTransport(context, settings.auth);

  const response = async (submission: Submission, signal?: AbortSignal): Promise<PollState> => {
    try {
      return {
        state: "succeeded",
        files: filesAt(settings.outputs, await transport.json({ ...responseCall(settings, submission), signal })),
      };
    } catch (failure) {
      if (failure instanceof ProviderError && FAILED.has(failure.status ?? 0)) return { state: "failed", message: failure.message };
      throw failure;
    }
  };

  return {
    type: "job",
    idempotentSubmit: settings.idempotencyHeader !== undefined,
    intervalMs: settings.intervalMs,
    maxIntervalMs: settings.maxIntervalMs,
    submit: async ({ inputs, idempotencyKey, signal }) =>
      submissionOf(settings, await transport.json({ ...submitCall(settings, inputs, idempotencyKey), signal })),
    poll: async (submission, signal) => {
      const state = stateOf(await transport.json({ ...statusCall(settings, submission), signal }));
      return shownState(state ?? (await response(submission, signal)), transport.reason);
    },
    cancel: async (submission) => {
      await transport.json(cancelCall(settings, submission));
      return true;
    },
  };
};
