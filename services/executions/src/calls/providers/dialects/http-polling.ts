import type { ProviderSettings } from "@nodeloom/platform";
import { filesAt, requestIdOf } from "../answers";
import { ProviderError, type DialectContext, type JobProvider } from "../dialect";
import { jobProvider } from "../job";
import { pointer } from "../pointer";
import { createTransport, type JsonCall } from "../transport";

const ABSENT = Symbol("absent");

/** Fills a body template with inputs: `{ "$input": "name" }` is that input, left out when it is absent. */
const fillBody = (template: unknown, inputs: Record<string, unknown>): unknown => {
  if (Array.isArray(template)) return template.map((item) => fillBody(item, inputs)).filter((item) => item !== ABSENT);
  if (typeof template !== "object" || template === null) return template;
  const name = (template as { $input?: unknown }).$input;
  if (typeof name === "string") return inputs[name] ?? ABSENT;
  return Object.fromEntries(
    Object.entries(template)
      .map(([key, value]): [string, unknown] => [key, fillBody(value, inputs)])
      .filter(([, value]) => value !== ABSENT),
  );
};

/** A service that is described by its registry entry alone. */
export const httpPolling = (settings: Extract<ProviderSettings, { kind: "http-polling" }>, context: DialectContext): JobProvider => {
  const { baseUrl, headers = {}, submit, poll, cancel, outputs } = settings;
  const callOf = ({ method = "POST", path }: { method?: string | undefined; path: string }, requestId = ""): JsonCall => ({
    method,
    url: baseUrl + path.replaceAll("{requestId}", encodeURIComponent(requestId)),
    headers,
  });

  const pace = { intervalMs: 1_000, maxIntervalMs: 5_000, ...poll, idempotencyHeader: submit.idempotencyHeader };
  return jobProvider(createTransport(context, settings), pace, {
    submit: (inputs) => ({ ...callOf(submit), body: fillBody(submit.body, inputs) }),
    submitted: (answer) => ({ requestId: requestIdOf(answer, submit.requestId) }),
    status: ({ requestId }) => callOf({ method: "GET", ...poll }, requestId),
    state: (answer) => {
      const status = pointer(answer, poll.status);
      if (typeof status !== "string") throw new ProviderError("ambiguous", "the provider's answer has no status");
      if (poll.succeeded.includes(status)) return { state: "succeeded", files: filesAt(outputs, answer) };
      if (poll.cancelled?.includes(status)) return { state: "cancelled" };
      if (poll.failed.includes(status)) {
        const message = poll.error ? pointer(answer, poll.error) : undefined;
        return { state: "failed", message: typeof message === "string" ? message : "the provider reported a failure" };
      }
      const progress = poll.progress ? pointer(answer, poll.progress) : undefined;
      return { state: "running", ...(typeof progress === "number" ? { progress } : {}) };
    },
    cancel: ({ requestId }) => cancel && callOf(cancel, requestId),
  });
};
