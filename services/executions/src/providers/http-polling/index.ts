import { requestIdOf, shownState } from "../answers";
import type { DialectContext, JobProvider } from "../dialect";
import { createTransport } from "../transport";
import { cancelCall, pollCall, stateOf, submitCall } from "./mapping";
import type { HttpPollingSettings } from "./settings";

export { httpPollingSchema } from "./settings";

/** A service that is described by its registry entry alone. */
export const httpPolling = (settings: HttpPollingSettings, context: DialectContext): JobProvider => {
  const transport = createTransport(context, settings.auth);
  return {
    type: "job",
    idempotentSubmit: settings.submit.idempotencyHeader !== undefined,
    intervalMs: settings.poll.intervalMs,
    maxIntervalMs: settings.poll.maxIntervalMs,
    submit: async ({ inputs, idempotencyKey, signal }) => {
      const answer = await transport.json({ ...submitCall(settings, inputs, idempotencyKey), signal });
      return { requestId: requestIdOf(answer, settings.submit.requestId) };
    },
    poll: async ({ requestId }, signal) =>
      shownState(stateOf(settings, await transport.json({ ...pollCall(settings, requestId), signal })), transport.reason),
    cancel: async ({ requestId }) => {
      const call = cancelCall(settings, requestId);
      if (!call) return false;
      await transport.json(call);
      return true;
    },
  };
};
