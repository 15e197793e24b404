import type { ProviderSettings } from "@nodeloom/platform";
import { filesAt, requestIdOf } from "../answers";
import { ProviderError, type DialectContext, type JobProvider, type PollState, type Submission } from "../dialect";
import { jobProvider } from "../job";
import { pointer } from "../pointer";
import { createTransport } from "../transport";

/** How fal answers for the result of a request that failed. Others speak of the fetch, which may be repeated. */
const FAILED = new Set([400, 422]);

/** A model in fal's queue: one queue per application. */
export const falQueue = (settings: Extract<ProviderSettings, { kind: "inference-platform" }>, context: DialectContext): JobProvider => {
  const { baseUrl, app, outputs } = settings;
  const addresses = (requestId: string): Record<"status" | "response" | "cancel", string> => {
    const response = `${baseUrl}/${app}/requests/${encodeURIComponent(requestId)}`;
    return { response, status: `${response}/status`, cancel: `${response}/cancel` };
  };
  const addressOf = (name: "status" | "response" | "cancel", { requestId, handle }: Submission): string =>
    handle?.[name] ?? addresses(requestId)[name];

  return jobProvider(createTransport(context, settings), settings, {
    submit: (body) => ({ method: "POST", url: `${baseUrl}/${app}`, body }),
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
        if (failure instanceof ProviderError && FAILED.has(failure.status ?? 0)) return { state: "failed", message: failure.message };
        throw failure;
      }
    },
    cancel: (submission) => ({ method: "PUT", url: addressOf("cancel", submission) }),
  });
};
