import type { ProviderSettings } from "@nodeloom/platform";
import { filesAt, requestIdOf } from "../answers";
import { fillBody } from "../body-template";
import type { DialectContext, JobProvider, Submission } from "../dialect";
import { jobProvider } from "../job";
import { pointer, pointerTexts } from "../pointer";
import { createTransport } from "../transport";

/** Replicate's predictions, or those of anything that speaks its API. `outputs` is used where the output is no plain URL or list of URLs. */
export const replicate = (settings: Extract<ProviderSettings, { kind: "inference-platform" }>, context: DialectContext): JobProvider => {
  const { baseUrl, app, body, outputs } = settings;
  // Official models have an address of their own; versions are named in the body.
  const isOfficial = app.includes("/") && !app.includes(":");
  const urlOf = ({ requestId }: Submission): string => `${baseUrl}/v1/predictions/${encodeURIComponent(requestId)}`;

  return jobProvider(createTransport(context, settings), settings, {
    submit: (inputs) => {
      const input = body ? fillBody(body, inputs) : inputs;
      return {
        method: "POST",
        url: isOfficial ? `${baseUrl}/v1/models/${app}/predictions` : `${baseUrl}/v1/predictions`,
        body: isOfficial ? { input } : { version: app, input },
      };
    },
    submitted: (answer) => ({ requestId: requestIdOf(answer, "/id") }),
    status: (submission) => ({ method: "GET", url: urlOf(submission) }),
    state: (answer) => {
      switch (pointer(answer, "/status")) {
        case "succeeded": {
          const direct = [...pointerTexts(answer, "/output"), ...pointerTexts(answer, "/output/*")];
          return { state: "succeeded", files: direct.length > 0 ? direct : filesAt(outputs, answer) };
        }
        case "failed": {
          const error = pointer(answer, "/error");
          return { state: "failed", message: typeof error === "string" ? error : JSON.stringify(error ?? "the prediction failed") };
        }
        case "canceled":
        case "aborted":
          return { state: "cancelled" };
        default:
          return { state: "running" };
      }
    },
    cancel: (submission) => ({ method: "POST", url: `${urlOf(submission)}/cancel` }),
  });
};
