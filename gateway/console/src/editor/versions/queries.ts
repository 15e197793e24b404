import { loadVersion } from "../../api/workflow-remote";
import { request } from "../../api/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
const VERSIONS = 20;
export const versionsQuery = (slug: string) =>
  infiniteQueryOptions({
    queryKey: ["versions", slug],
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: VERSIONS, ...(pageParam === "" ? {} : { cursor: pageParam }) };
      return (await request("listVersions", { params: { slug }, query, signal })).body;
    },
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
/** `production` is the first. */
export const aliasesQuery = (slug: string) =>
  queryOptions({
    queryKey: ["aliases", slug],
    queryFn: async ({ signal }) => (await request("listAliases", { params: { slug }, signal })).body,
  });
/** Graph of a published version, which never changes. */
export const versionQuery = (slug: string, version: number) =>
  queryOptions({
    queryKey: ["version", slug, version],
    queryFn: ({ signal }) => loadVersion(slug, version, signal),
    staleTime: Number.POSITIVE_INFINITY,
    // Derived nodes are cached by identity.
    structuralSharing: false,
  });
