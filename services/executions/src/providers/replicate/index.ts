import { requestIdOf, shownState } from "../answers";
import type { DialectContext, JobProvider } from "../dialect";
import { createTransport } from "../transport";
import { cancelCall, pollCall, stateOf, submitCall } from "./mapping";
import type { ReplicateSettings } from "./settings";

export { replicateSchema } from "./settings";

/** A model at Replicate, or at anything that speaks its API. */
export const replicate = (settings: ReplicateSettings, context: DialectContext): JobProvider => {
  const transport = createTransport(context, settings.auth);
  return {
    type: "job",
    idempotentSubmit: settings.idempotencyHeader !== undefined,
    intervalMs: settings.intervalMs,
    maxIntervalMs: settings.maxIntervalMs,
    submit: async ({ inputs, idempotencyKey, signal }) => ({
      requestId: requestIdOf(await transport.json({ ...submitCall(settings, inputs, idempotencyKey), signal }), "/id"),
    }),
    poll: async ({ requestId }, signal) =>
      shownState(stateOf(settings, await transport.json({ ...pollCall(settings, requestId), signal })), transport.reason),
    cancel: async ({ requestId }) => {
      await transport.json(cancelCall(settings, requestId));
      return true;
    },
  };
};
