import { request } from "../../api/client";
import { queryOptions } from "@tanstack/react-query";
export const organizationQuery = (id: string) =>
  queryOptions({
    queryKey: ["organizations", id],
    queryFn: async ({ signal }) => (await request("getOrganization", { params: { id }, signal })).body,
  });
export const membersQuery = (id: string) =>
  queryOptions({
    queryKey: ["organizations", id, "members"],
    queryFn: async ({ signal }) => (await request("listMembers", { params: { id }, signal })).body,
  });
