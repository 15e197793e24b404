import type { ApiClient } from "./http";
import { loadEach } from "./load";

const FINAL = new Set(["completed", "failed", "cancelled"]);
const WATCHED_AT_ONCE = 10;

/** Submits an asynchronous run. Returns its id. */
export const submit = async (api: ApiClient, slug: string): Promise<string> => {
  const { executionId } = await api.expect<{ executionId: string }>(202, "POST", `/api/workflows/${slug}/run?async=true`, { inputs: {} });
  return executionId;
};

/** Cancels a running execution. @throws Error if it isn't running */
export const cancelRun = async (api: ApiClient, executionId: string): Promise<void> => {
  const { status } = await api.expect<{ status: string }>(200, "POST", `/api/executions/${executionId}/cancel`);
  if (status !== "cancel_requested") throw new Error(`execution ${executionId} should be running, and is ${status}`);
};

const watch = async (api: ApiClient, executionId: string): Promise<string> => {
  for (;;) {
    // The event stream ends with the execution, or at the server's time limit.
    await api.call("GET", `/api/executions/${executionId}/events`);
    const { status } = await api.expect<{ status: string }>(200, "GET", `/api/executions/${executionId}`);
    if (FINAL.has(status)) return status;
  }
};

/** Waits until all executions are final. @throws Error if one ended differently */
export const waitForAll = async (
  api: ApiClient,
  executionIds: readonly string[],
  wantedStatus: "completed" | "cancelled",
): Promise<void> => {
  const { results } = await loadEach(executionIds, WATCHED_AT_ONCE, (executionId) => watch(api, executionId));
  const wrong = results.findIndex((status) => status !== wantedStatus);
  if (wrong >= 0) throw new Error(`execution ${executionIds[wrong]} should have been ${wantedStatus}, and was ${results[wrong]}`);
};
