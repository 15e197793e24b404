import type { HttpPollingSettings } from "../entries/settings";
import { requestIdOf } from "../answers";
import { ProviderError, type DialectContext, type JobProvider, type Submission } from "../dialect";
import { jobProvider, resultOf } from "../job";
import { outputIn, withDownloads } from "../output";
import { pointer } from "../pointer";
import { errorIn, isOwnAddress, requestOf } from "../request";
import { createTransport, type JsonCall } from "../transport";

/** Jobs of providers whose requests are described by the registry entry: submit, poll, fetch the result, cancel. */

const OK = 200;
/** Matches a job id that is a path. `..` isn't allowed, because the id must stay below the base path. */
const PATH_ID = /^[A-Za-z0-9._~:@-]+(?:\/[A-Za-z0-9._~:@-]+)*$/;
const DOTS = new Set([".", ".."]);

const isPathId = (id: string): boolean => PATH_ID.test(id) && !id.split("/").some((part) => DOTS.has(part));

/** @throws ProviderError for an id that can't be part of a path */
const withId = (path: string, requestId: string): string => {
  if (path.includes("{+requestId}") && !isPathId(requestId))
    throw new ProviderError("failed", "the provider's request id can't be a part of an address");
  return path.replaceAll("{requestId}", encodeURIComponent(requestId)).replaceAll("{+requestId}", requestId);
};

export const httpPolling = (settings: HttpPollingSettings, context: DialectContext): JobProvider => {
  const { baseUrl, headers = {}, defaults, submit, poll, result, cancel, outputs, error } = settings;
  const transport = createTransport(context, settings);
  const hasBooleans = poll.succeeded.some((state) => typeof state === "boolean");

  /** @throws ProviderError for a URL on another host, because the request contains the secret */
  const ownUrl = (answer: unknown, place: string): string => {
    const url = pointer(answer, place);
    if (typeof url === "string" && isOwnAddress(settings, url)) return url;
    throw new ProviderError("failed", `the provider's answer has no address of its own at ${place}`);
  };

  const statusCall = ({ requestId, handle }: Submission): JsonCall => {
    const url = handle?.status ?? `${baseUrl}${withId(poll.path ?? "", requestId)}`;
    return { method: poll.method ?? "GET", url, headers };
  };

  const resultCall = (resultSettings: NonNullable<typeof result>, answer: unknown, requestId: string): JsonCall => {
    const { method = "GET", url, path = "", values = {} } = resultSettings;
    if (url !== undefined) return { method, url: ownUrl(answer, url), headers };
    const filled = Object.entries(values).reduce((whole, [name, place]) => {
      const value = pointer(answer, place);
      if (typeof value !== "string" && typeof value !== "number")
        throw new ProviderError("failed", `the provider's answer has nothing at ${place}`);
      return whole.replaceAll(`{${name}}`, encodeURIComponent(String(value)));
    }, path);
    return { method, url: `${baseUrl}${withId(filled, requestId)}`, headers };
  };

  const pace = { intervalMs: 1_000, maxIntervalMs: 5_000, ...poll, idempotencyHeader: submit.idempotencyHeader };
  return jobProvider(transport, pace, {
    submit: (inputs) => requestOf({ baseUrl, headers, defaults, request: submit }, inputs),
    submitted: (answer) => {
      const problem = errorIn(error, answer);
      if (problem !== undefined) throw new ProviderError("refused", transport.reason(problem), OK, transport.shown(JSON.stringify(answer)));
      const requestId = requestIdOf(answer, submit.requestId);
      // An id that can't be polled is rejected before the job counts as submitted.
      withId(poll.path ?? "", requestId);
      return poll.url === undefined ? { requestId } : { requestId, handle: { status: ownUrl(answer, poll.url) } };
    },
    status: statusCall,
    state: async (answer, { requestId }, fetch) => {
      const problem = errorIn(error, answer);
      if (problem !== undefined) return { state: "failed", message: problem };
      const status = pointer(answer, poll.status) ?? (hasBooleans ? false : undefined);
      if (typeof status !== "string" && typeof status !== "number" && typeof status !== "boolean")
        throw new ProviderError("ambiguous", "the provider's answer has no status");
      if (poll.succeeded.includes(status)) {
        if (!result) return { state: "succeeded", output: withDownloads(settings, transport, outputIn(outputs, answer)) };
        return resultOf(
          () => fetch(resultCall(result, answer, requestId)),
          (pollAnswer) => {
            const failure = errorIn(error, pollAnswer);
            if (failure !== undefined) return { state: "failed", message: failure };
            return { state: "succeeded", output: withDownloads(settings, transport, outputIn(outputs, pollAnswer)) };
          },
        );
      }
      if (poll.cancelled?.includes(status)) return { state: "cancelled" };
      if (poll.failed?.includes(status)) {
        const message = poll.error ? pointer(answer, poll.error) : undefined;
        return { state: "failed", message: typeof message === "string" ? message : "the provider reported a failure" };
      }
      const progress = poll.progress ? pointer(answer, poll.progress) : undefined;
      return { state: "running", ...(typeof progress === "number" ? { progress } : {}) };
    },
    cancel: ({ requestId }) => cancel && { method: cancel.method ?? "POST", url: `${baseUrl}${withId(cancel.path, requestId)}`, headers },
  });
};
