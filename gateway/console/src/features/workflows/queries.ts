import { request } from "../../api/client";
import type { Operations } from "@nodeloom/client";
import { queryOptions } from "@tanstack/react-query";
export type WorkflowsFilter = NonNullable<Operations["listWorkflows"]["query"]>;
/** First page of workflows, which loads before a long list. */
export const someWorkflowsQuery = (filter: WorkflowsFilter) =>
  queryOptions({
    queryKey: ["workflows", filter],
    queryFn: async ({ signal }) => (await request("listWorkflows", { query: filter, signal })).body,
  });
export const foldersQuery = queryOptions({
  queryKey: ["folders"],
  queryFn: async ({ signal }) => (await request("listFolders", { signal })).body,
});
