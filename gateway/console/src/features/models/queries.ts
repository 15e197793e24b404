import { api, request } from "../../api/client";
import { queryOptions } from "@tanstack/react-query";
export const modelQuery = (internalName: string) =>
  queryOptions({
    queryKey: ["models", internalName],
    queryFn: ({ signal }) => api.models.get(internalName, { signal }),
    staleTime: 60_000,
  });
const PROGRESS_MS = 2_000;
/** Download progress of local models. */
export const localModelsQuery = queryOptions({
  queryKey: ["local-models"],
  queryFn: async ({ signal }) => (await request("getLocalModels", { signal })).body,
  refetchInterval: ({ state }) => (state.data?.status === "downloading" ? PROGRESS_MS : false),
});
export const providerKeysQuery = queryOptions({
  queryKey: ["provider-keys"],
  queryFn: async ({ signal }) => (await request("adminListProviderKeys", { signal })).body,
});
