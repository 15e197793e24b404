import { requestIdOf } from "../answers";
import type { PollState, Submission } from "../dialect";
import { pointer } from "../pointer";
import { idempotencyHeaders, type JsonCall } from "../transport";
import type { FalQueueSettings } from "./settings";

const appUrl = ({ baseUrl, app }: FalQueueSettings): string => `${baseUrl}/${app}`;
const requestUrl = (settings: FalQueueSettings, requestId: string): string =>
  `${appUrl(settings)}/requests/${encodeURIComponent(requestId)}`;

/** Only addresses under the configured base are followed; others are rebuilt from the request id. */
const under = (baseUrl: string, candidate: unknown, otherwise: string): string =>
  typeof candidate === "string" && candidate.startsWith(`${baseUrl}/`) ? candidate : otherwise;

export const submitCall = (settings: FalQueueSettings, inputs: Record<string, unknown>, idempotencyKey: string): JsonCall => ({
  method: "POST",
  url: appUrl(settings),
  body: inputs,
  headers: idempotencyHeaders(settings.idempotencyHeader, idempotencyKey),
});

/** The request's id and its addresses: those of nested applications are not under the application's own. */
export const submissionOf = (settings: FalQueueSettings, answer: unknown): Submission => {
  const requestId = requestIdOf(answer, "/request_id");
  const request = requestUrl(settings, requestId);
  return {
    requestId,
    handle: {
      status: under(settings.baseUrl, pointer(answer, "/status_url"), `${request}/status`),
      response: under(settings.baseUrl, pointer(answer, "/response_url"), request),
      cancel: under(settings.baseUrl, pointer(answer, "/cancel_url"), `${request}/cancel`),
    },
  };
};

export const statusCall = (settings: FalQueueSettings, { requestId, handle }: Submission): JsonCall => ({
  method: "GET",
  url: handle?.status ?? `${requestUrl(settings, requestId)}/status`,
});

export const responseCall = (settings: FalQueueSettings, { requestId, handle }: Submission): JsonCall => ({
  method: "GET",
  url: handle?.response ?? requestUrl(settings, requestId),
});

export const cancelCall = (settings: FalQueueSettings, { requestId, handle }: Submission): JsonCall => ({
  method: "PUT",
  url: handle?.cancel ?? `${requestUrl(settings, requestId)}/cancel`,
});

/** How a request stands by its status alone; undefined when its response must be fetched. */
export const stateOf = (status: unknown): PollState | undefined => {
  if (pointer(status, "/status") !== "COMPLETED") return { state: "running" };
  const error = pointer(status, "/error");
  return typeof error === "string" ? { state: "failed", message: error } : undefined;
};
