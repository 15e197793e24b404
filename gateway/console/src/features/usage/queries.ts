import { api, request } from "../../api/client";
import type { Operations } from "@nodeloom/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
export type UsageFilter = NonNullable<Operations["listUsage"]["query"]>;
export const usageQuery = (filter: UsageFilter) =>
  queryOptions({
    queryKey: ["usage", filter],
    queryFn: ({ signal }) => api.usage.list(filter, { signal }),
    placeholderData: keepPreviousData,
  });
export const usageModelsQuery = queryOptions({ queryKey: ["usage-models"], queryFn: ({ signal }) => api.usage.models({ signal }) });
export const summaryQuery = queryOptions({
  queryKey: ["usage", "summary"],
  queryFn: async ({ signal }) => (await request("getUsageSummary", { signal })).body,
});
export type UsageGroups = Required<Pick<NonNullable<Operations["getUsageSummary"]["query"]>, "groupBy" | "from">>;
export const usageGroupsQuery = (query: UsageGroups) =>
  queryOptions({
    queryKey: ["usage", "groups", query],
    queryFn: async ({ signal }) => (await request("getUsageSummary", { query, signal })).body,
    placeholderData: keepPreviousData,
  });
