import type { ProviderSettings } from "../entries/settings";
import { requestIdOf } from "../answers";
import type { DialectContext, JobProvider, Submission } from "../dialect";
import { jobProvider } from "../job";
import { outputIn } from "../output";
import { pointer } from "../pointer";
import { withDefaults } from "../request";
import { fillTemplate } from "../template";
import { createTransport } from "../transport";

/** Predictions of Replicate, or of another service with its API. `outputs` is used if the output isn't a URL or a list of URLs. */
export const replicate = (settings: Extract<ProviderSettings, { kind: "inference-platform" }>, context: DialectContext): JobProvider => {
  const { baseUrl, app, body, defaults, outputs } = settings;
  const makesFiles = !Object.hasOwn(outputs, "text");
  // Official models have a separate URL. Other versions are named in the body.
  const isOfficial = app.includes("/") && !app.includes(":");
  const urlOf = ({ requestId }: Submission): string => `${baseUrl}/v1/predictions/${encodeURIComponent(requestId)}`;

  return jobProvider(createTransport(context, settings), settings, {
    submit: (callInputs) => {
      const inputs = withDefaults(defaults, callInputs);
      const input = body ? fillTemplate(body, inputs) : inputs;
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
          const direct = outputIn({ images: ["/output", "/output/*"] }, answer);
          return { state: "succeeded", output: makesFiles && direct.files.length > 0 ? direct : outputIn(outputs, answer) };
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
