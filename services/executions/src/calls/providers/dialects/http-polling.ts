import type { ProviderSettings } from "@nodeloom/platform";
import { filesAt, requestIdOf } from "../answers";
import { ProviderError, type DialectContext, type JobProvider } from "../dialect";
import { fillBody } from "../body-template";
import { jobProvider } from "../job";
import { pointer } from "../pointer";
import { createTransport, type JsonCall } from "../transport";

const OK = 200;

/** What went wrong, by an answer whose status says that all is well. */
const errorIn = (
  error: { when: string; not?: readonly unknown[] | undefined; message?: string | undefined } | undefined,
  answer: unknown,
): string | undefined => {
  const code = error && pointer(answer, error.when);
  if (code === undefined || code === null || (error!.not ?? []).includes(code)) return undefined;
  const message = error!.message === undefined ? undefined : pointer(answer, error!.message);
  return typeof message === "string" && message !== "" ? message : `the provider reported the error ${JSON.stringify(code)}`;
};

/** A service that is described by its registry entry alone. */
export const httpPolling = (settings: Extract<ProviderSettings, { kind: "http-polling" }>, context: DialectContext): JobProvider => {
  const { baseUrl, headers = {}, submit, poll, cancel, outputs, error } = settings;
  const transport = createTransport(context, settings);
  const callOf = ({ method = "POST", path }: { method?: string | undefined; path: string }, requestId = ""): JsonCall => ({
    method,
    url: baseUrl + path.replaceAll("{requestId}", encodeURIComponent(requestId)),
    headers,
  });

  const pace = { intervalMs: 1_000, maxIntervalMs: 5_000, ...poll, idempotencyHeader: submit.idempotencyHeader };
  return jobProvider(transport, pace, {
    submit: (inputs) => ({ ...callOf(submit), body: fillBody(submit.body ?? {}, inputs) }),
    submitted: (answer) => {
      const problem = errorIn(error, answer);
      if (problem !== undefined) throw new ProviderError("refused", transport.reason(problem), OK, transport.shown(JSON.stringify(answer)));
      return { requestId: requestIdOf(answer, submit.requestId) };
    },
    status: ({ requestId }) => callOf({ method: "GET", ...poll, path: poll.path ?? "" }, requestId),
    state: (answer) => {
      const problem = errorIn(error, answer);
      if (problem !== undefined) return { state: "failed", message: problem };
      const status = pointer(answer, poll.status);
      if (typeof status !== "string") throw new ProviderError("ambiguous", "the provider's answer has no status");
      if (poll.succeeded.includes(status)) return { state: "succeeded", files: filesAt(outputs, answer) };
      if (poll.cancelled?.includes(status)) return { state: "cancelled" };
      if (poll.failed?.includes(status)) {
        const message = poll.error ? pointer(answer, poll.error) : undefined;
        return { state: "failed", message: typeof message === "string" ? message : "the provider reported a failure" };
      }
      const progress = poll.progress ? pointer(answer, poll.progress) : undefined;
      return { state: "running", ...(typeof progress === "number" ? { progress } : {}) };
    },
    cancel: ({ requestId }) => cancel && callOf(cancel, requestId),
  });
};
