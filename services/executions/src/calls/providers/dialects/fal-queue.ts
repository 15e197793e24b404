import type { ProviderSettings } from "@nodeloom/platform";
import { filesAt, requestIdOf } from "../answers";
import { fillBody } from "../body-template";
import { ProviderError, type DialectContext, type JobProvider, type PollState, type Submission } from "../dialect";
import { jobProvider } from "../job";
import { pointer } from "../pointer";
import { createTransport } from "../transport";

/** Statuses that speak of the fetch of a result, which may be repeated; every other 4xx is the result. */
const OF_THE_FETCH = new Set([408, 425, 429]);
const isResult = ({ status = 0 }: ProviderError): boolean => status >= 400 && status < 500 && !OF_THE_FETCH.has(status);

/** Applications that have another name before their owner's. */
const NAMESPACES = new Set(["workflows", "comfy"]);

/** What requests of an application are under: its owner and name, without the path inside it. As `@fal-ai/client` 1.10 does. */
const queueOf = (app: string): string => {
  const parts = app.split("/");
  return parts.slice(0, NAMESPACES.has(parts[0]!) ? 3 : 2).join("/");
};

/** A model in fal's queue: one queue per application. */
export const falQueue = (settings: Extract<ProviderSettings, { kind: "inference-platform" }>, context: DialectContext): JobProvider => {
  const { baseUrl, app, body, outputs } = settings;
  const addresses = (requestId: string): Record<"status" | "response" | "cancel", string> => {
    const response = `${baseUrl}/${queueOf(app)}/requests/${encodeURIComponent(requestId)}`;
    return { response, status: `${response}/status`, cancel: `${response}/cancel` };
  };
  const addressOf = (name: "status" | "response" | "cancel", { requestId, handle }: Submission): string =>
    handle?.[name] ?? addresses(requestId)[name];

  return jobProvider(createTransport(context, settings), settings, {
    submit: (inputs) => ({ method: "POST", url: `${baseUrl}/${app}`, body: body ? fillBody(body, inputs) : inputs }),
    submitted: (answer) => {
      const requestId = requestIdOf(answer, "/request_id");
      // Those of nested applications are not under the application's own. Only what is under the configured base is followed.
      const handle = Object.entries(addresses(requestId)).map(([name, otherwise]) => {
        const told = pointer(answer, `/${name}_url`);
        return [name, typeof told === "string" && told.startsWith(`${baseUrl}/`) ? told : otherwise];
      });
      return { requestId, handle: Object.fromEntries(handle) as Record<string, string> };
    },
    status: (submission) => ({ method: "GET", url: addressOf("status", submission) }),
    state: async (status, submission, fetch): Promise<PollState> => {
      if (pointer(status, "/status") !== "COMPLETED") return { state: "running" };
      const error = pointer(status, "/error");
      if (typeof error === "string") return { state: "failed", message: error };
      try {
        return { state: "succeeded", files: filesAt(outputs, await fetch({ method: "GET", url: addressOf("response", submission) })) };
      } catch (failure) {
        if (failure instanceof ProviderError && isResult(failure)) return { state: "failed", message: failure.message };
        throw failure;
      }
    },
    cancel: (submission) => ({ method: "PUT", url: addressOf("cancel", submission) }),
  });
};
