import { queryOptions } from "@tanstack/react-query";
import { api, request } from "../../api/client";

export const schedulesQuery = (slug: string) =>
  queryOptions({
    queryKey: ["schedules", slug],
    queryFn: async ({ signal }) => (await request("listSchedules", { params: { slug }, signal })).body,
  });
export const hooksQuery = (slug: string) =>
  queryOptions({
    queryKey: ["hooks", slug],
    queryFn: async ({ signal }) => (await request("listHooks", { params: { slug }, signal })).body,
  });
/** Schedules of all workflows of the account. Shares its first key with {@link schedulesQuery}, so that a change refreshes both. */
export const allSchedulesQuery = queryOptions({
  queryKey: ["schedules"],
  queryFn: async ({ signal }) => (await request("listAllSchedules", { signal })).body,
});
/** Hooks of all workflows of the account. */
export const allHooksQuery = queryOptions({
  queryKey: ["hooks"],
  queryFn: async ({ signal }) => (await request("listAllHooks", { signal })).body,
});
export const schemaQuery = (slug: string) =>
  queryOptions({ queryKey: ["schema", slug], queryFn: ({ signal }) => api.workflows.schema(slug, { signal }) });
