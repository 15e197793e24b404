import { filesAt } from "../answers";
import type { PollState } from "../dialect";
import { pointer, pointerTexts } from "../pointer";
import { idempotencyHeaders, type JsonCall } from "../transport";
import type { ReplicateSettings } from "./settings";

const predictionUrl = ({ baseUrl }: ReplicateSettings, requestId: string): string =>
  `${baseUrl}/v1/predictions/${encodeURIComponent(requestId)}`;

/** Official models have an address of their own; versions are named in the body. */
export const submitCall = (settings: ReplicateSettings, inputs: Record<string, unknown>, idempotencyKey: string): JsonCall => {
  const { baseUrl, app } = settings;
  const isOfficial = app.includes("/") && !app.includes(":");
  return {
    method: "POST",
    url: isOfficial ? `${baseUrl}/v1/models/${app}/predictions` : `${baseUrl}/v1/predictions`,
    body: isOfficial ? { input: inputs } : { version: app, input: inputs },
    headers: idempotencyHeaders(settings.idempotencyHeader, idempotencyKey),
  };
};

export const pollCall = (settings: ReplicateSettings, requestId: string): JsonCall => ({
  method: "GET",
  url: predictionUrl(settings, requestId),
});

export const cancelCall = (settings: ReplicateSettings, requestId: string): JsonCall => ({
  method: "POST",
  url: `${predictionUrl(settings, requestId)}/cancel`,
});

const messageOf = (error: unknown): string => (typeof error === "string" ? error : JSON.stringify(error ?? "the prediction failed"));

/** How a prediction stands. */
export const stateOf = ({ outputs }: ReplicateSettings, answer: unknown): PollState => {
  switch (pointer(answer, "/status")) {
    case "succeeded": {
      const direct = [...pointerTexts(answer, "/output"), ...pointerTexts(answer, "/output/*")];
      return { state: "succeeded", files: direct.length > 0 ? direct : filesAt(outputs, answer) };
    }
    case "failed":
      return { state: "failed", message: messageOf(pointer(answer, "/error")) };
    case "canceled":
    case "aborted":
      return { state: "cancelled" };
    default:
      return { state: "running" };
  }
};
