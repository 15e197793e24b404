import { request } from "../../api/client";
import { queryOptions } from "@tanstack/react-query";
export const tiersQuery = queryOptions({
  queryKey: ["tiers"],
  queryFn: async ({ signal }) => (await request("adminListTiers", { signal })).body,
});
