import type { TestRunWithResults } from "@nodeloom/client";
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
const CANARY_MS = 5_000;
/** Aliases of a workflow, `production` first. */
export const aliasesQuery = (slug: string) =>
  queryOptions({
    queryKey: ["aliases", slug],
    queryFn: async ({ signal }) => (await request("listAliases", { params: { slug }, signal })).body,
    // A canary changes with each run.
    refetchInterval: ({ state }) => (state.data?.some(({ canary }) => canary) ? CANARY_MS : false),
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
const POLL_MS = 2_000;
export const hasTestsQuery = (slug: string) =>
  queryOptions({
    queryKey: ["workflow-tests", slug],
    queryFn: async ({ signal }) => ((await request("getWorkflow", { params: { slug }, signal })).body.tests ?? []).length > 0,
  });
/** The newest run of a workflow's tests, followed until it ends; null if there is none. */
export const lastTestRunQuery = (slug: string) =>
  queryOptions({
    queryKey: ["test-runs", slug],
    queryFn: async ({ signal }): Promise<TestRunWithResults | null> => {
      const { rows } = (await request("listTestRuns", { params: { slug }, query: { limit: 1 }, signal })).body;
      const [last] = rows;
      if (!last) return null;
      const { body } = await request("getTestRun", { params: { slug, id: last.batchId }, signal });
      return body as TestRunWithResults;
    },
    refetchInterval: ({ state }) => (state.data?.status === "running" ? POLL_MS : false),
  });
