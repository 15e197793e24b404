import { request } from "../../api/client";
import { queryOptions } from "@tanstack/react-query";
export const organizationQuery = (id: string) =>
  queryOptions({
    queryKey: ["organizations", id],
    queryFn: async ({ signal }) => (await request("getOrganization", { params: { id }, signal })).body,
  });
