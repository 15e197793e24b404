import type { ProviderSettings } from "../entries/settings";
import { requestIdOf } from "../answers";
import type { DialectContext, JobProvider, PollState, Submission } from "../dialect";
import { jobProvider, resultOf } from "../job";
import { outputIn } from "../output";
import { pointer } from "../pointer";
import { withDefaults } from "../request";
import { fillTemplate } from "../template";
import { createTransport } from "../transport";

/** Runs jobs in fal's queue. */

/** Prefixes before the owner's name in an application's path. */
const NAMESPACES = new Set(["workflows", "comfy"]);

/** Queue path of an application: owner and name, without the inner path. Follows `@fal-ai/client` 1.10. */
const queueOf = (app: string): string => {
  const parts = app.split("/");
  return parts.slice(0, NAMESPACES.has(parts[0]!) ? 3 : 2).join("/");
};

/** A model in fal's queue. Each application has a queue. */
export const falQueue = (settings: Extract<ProviderSettings, { kind: "inference-platform" }>, context: DialectContext): JobProvider => {
  const { baseUrl, app, body, defaults, outputs } = settings;
  const addresses = (requestId: string): Record<"status" | "response" | "cancel", string> => {
    const response = `${baseUrl}/${queueOf(app)}/requests/${encodeURIComponent(requestId)}`;
    return { response, status: `${response}/status`, cancel: `${response}/cancel` };
  };
  const addressOf = (name: "status" | "response" | "cancel", { requestId, handle }: Submission): string =>
    handle?.[name] ?? addresses(requestId)[name];

  return jobProvider(createTransport(context, settings), settings, {
    submit: (callInputs) => {
      const inputs = withDefaults(defaults, callInputs);
      return { method: "POST", url: `${baseUrl}/${app}`, body: body ? fillTemplate(body, inputs) : inputs };
    },
    submitted: (answer) => {
      const requestId = requestIdOf(answer, "/request_id");
      // Requests of nested applications have other URLs than their application. Only URLs below the configured base are used.
      const handle = Object.entries(addresses(requestId)).map(([name, otherwise]) => {
        const statusUrl = pointer(answer, `/${name}_url`);
        return [name, typeof statusUrl === "string" && statusUrl.startsWith(`${baseUrl}/`) ? statusUrl : otherwise];
      });
      return { requestId, handle: Object.fromEntries(handle) as Record<string, string> };
    },
    status: (submission) => ({ method: "GET", url: addressOf("status", submission) }),
    state: async (status, submission, fetch): Promise<PollState> => {
      if (pointer(status, "/status") !== "COMPLETED") return { state: "running" };
      const error = pointer(status, "/error");
      if (typeof error === "string") return { state: "failed", message: error };
      return resultOf(
        () => fetch({ method: "GET", url: addressOf("response", submission) }),
        (answer) => ({ state: "succeeded", output: outputIn(outputs, answer) }),
      );
    },
    cancel: (submission) => ({ method: "PUT", url: addressOf("cancel", submission) }),
  });
};
