import type { TestRunWithResults } from "@nodeloom/client";
import { loadVersion } from "../../api/workflow-remote";
import { api, request } from "../../api/client";
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
/** Tests of a workflow as they are stored. */
export const testsQuery = (slug: string) =>
  queryOptions({
    queryKey: ["workflow-tests", slug],
    queryFn: async ({ signal }) => (await request("getWorkflow", { params: { slug }, signal })).body.tests ?? [],
  });
export const hasTestsQuery = (slug: string) => queryOptions({ ...testsQuery(slug), select: ({ length }) => length > 0 });
/** A run of a workflow's tests, followed until it ends. */
export const testRunQuery = (slug: string, batchId: string) =>
  queryOptions({
    queryKey: ["test-run", slug, batchId],
    queryFn: ({ signal }) => api.tests.get(slug, batchId, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === "running" ? POLL_MS : false),
  });
/** The last runs of a workflow's tests, with comparisons of models, newest first. */
export const testRunsQuery = (slug: string, limit: number) =>
  queryOptions({
    queryKey: ["test-runs", slug, limit],
    queryFn: async ({ signal }) => (await api.tests.list(slug, { limit }, { signal })).rows,
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === "running") ? POLL_MS : false),
  });
/** Recent runs among which the last run of the tests is looked for; others compare models. */
const RECENT_TEST_RUNS = 20;
/** The newest run of a workflow's tests, followed until it ends; null if there is none. */
export const lastTestRunQuery = (slug: string) =>
  queryOptions({
    queryKey: ["test-runs", slug],
    queryFn: async ({ signal }): Promise<TestRunWithResults | null> => {
      const { rows } = await api.tests.list(slug, { limit: RECENT_TEST_RUNS }, { signal });
      const last = rows.find(({ settings, recentRuns }) => settings === undefined && recentRuns === undefined);
      return last ? api.tests.get(slug, last.batchId, { signal }) : null;
    },
    refetchInterval: ({ state }) => (state.data?.status === "running" ? POLL_MS : false),
  });
