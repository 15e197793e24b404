import type { WorkflowBody } from "./graphs";
import type { ApiClient } from "./http";

/** Creates a workflow for the duration of `work`. */
export const withWorkflow = async <T>(api: ApiClient, body: WorkflowBody, work: (slug: string) => Promise<T>): Promise<T> => {
  const { slug } = await api.expect<{ slug: string }>(201, "POST", "/api/workflows", body);
  try {
    return await work(slug);
  } finally {
    await api.call("DELETE", `/api/workflows/${slug}`).catch(() => undefined);
  }
};
