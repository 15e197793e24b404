import { infiniteQueryOptions, keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import type { Me, Operations } from "@nodeloom/client";
import { api, isNotFound, isSignedOut, request } from "./client";
import { chosenOrganization, leaveOrganization } from "./organization";
import { beginSession } from "./session";
import { loadRanGraph, loadVersion } from "./workflow-remote";

const APPROVAL_POLL_MS = 10_000;

const readMe = async (signal: AbortSignal): Promise<Me> => {
  try {
    return (await request("me", { signal })).body;
  } catch (error) {
    // Of an organization that the person is no member of any more.
    if (!isNotFound(error) || chosenOrganization() === undefined) throw error;
    leaveOrganization();
    return (await request("me", { signal })).body;
  }
};

/** Everything that is read, by the key under which it is remembered. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal, client }) => {
    try {
      const me = await readMe(signal);
      beginSession({ id: me.user.id, email: me.user.email });
      return me;
    } catch (error) {
      // Whoever was signed in stays on the page, and is asked to sign in again.
      if (isSignedOut(error)) return client.getQueryData<Me>(["me"]) ?? null;
      throw error;
    }
  },
  staleTime: 30_000,
  // Whoever waits for approval sees it on the page that is open.
  refetchInterval: ({ state }) => (state.data?.user.approved === false ? APPROVAL_POLL_MS : false),
});

export const workflowsQuery = queryOptions({ queryKey: ["workflows"], queryFn: ({ signal }) => api.workflows.list({ signal }) });
export type WorkflowsFilter = NonNullable<Operations["listWorkflows"]["query"]>;
/** Some workflows, which are there before all of very many are. */
export const someWorkflowsQuery = (filter: WorkflowsFilter) =>
  queryOptions({
    queryKey: ["workflows", filter],
    queryFn: async ({ signal }) => (await request("listWorkflows", { query: filter, signal })).body,
  });
export const foldersQuery = queryOptions({
  queryKey: ["folders"],
  queryFn: async ({ signal }) => (await request("listFolders", { signal })).body,
});
const DOWNLOADING_POLL_MS = 5_000;
export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: ({ signal }) => api.models.list({ signal }),
  staleTime: 60_000,
  // A model that is on its way is there without a reload.
  refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === "downloading") ? DOWNLOADING_POLL_MS : false),
});
export const modelQuery = (internalName: string) =>
  queryOptions({
    queryKey: ["models", internalName],
    queryFn: ({ signal }) => api.models.get(internalName, { signal }),
    staleTime: 60_000,
  });
/** What nodes may name instead of a model, and which model that is now. */
export const tasksQuery = queryOptions({
  queryKey: ["models", "tasks"],
  queryFn: async ({ signal }) => (await request("listTasks", { signal })).body,
  staleTime: 60_000,
});
const PROGRESS_MS = 2_000;
/** How far the files of the machine's own models are fetched. */
export const localModelsQuery = queryOptions({
  queryKey: ["local-models"],
  queryFn: async ({ signal }) => (await request("getLocalModels", { signal })).body,
  refetchInterval: ({ state }) => (state.data?.status === "downloading" ? PROGRESS_MS : false),
});
/** Keys of providers, for administrators. */
export const providerKeysQuery = queryOptions({
  queryKey: ["provider-keys"],
  queryFn: async ({ signal }) => (await request("adminListProviderKeys", { signal })).body,
});
/** The person's own account, and the organizations that they are a member of. */
export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: async ({ signal }) => (await request("listOrganizations", { signal })).body,
  staleTime: 60_000,
});
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
export const keysQuery = queryOptions({ queryKey: ["keys"], queryFn: async ({ signal }) => (await request("listKeys", { signal })).body });

export const publicSchemaQuery = (slug: string) =>
  queryOptions({ queryKey: ["public-schema", slug], queryFn: ({ signal }) => api.workflows.publicSchema(slug, { signal }), retry: false });

const POLL_MS = 3_000;
const isGoing = (status: string | undefined): boolean => status === "processing" || status === "cancel_requested";

export const executionQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id],
    queryFn: ({ signal }) => api.executions.get(id, { signal }),
    refetchInterval: ({ state }) => (isGoing(state.data?.status) ? POLL_MS : false),
  });

export type ExecutionsFilter = NonNullable<Operations["listExecutions"]["query"]>;
export const executionsQuery = (filter: ExecutionsFilter) =>
  queryOptions({
    queryKey: ["executions", filter],
    queryFn: ({ signal }) => api.executions.list(filter, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.rows.some(({ status }) => isGoing(status)) ? POLL_MS : false),
  });

const WAITING_POLL_MS = 30_000;
/** How many runs wait for a decision. */
export const waitingQuery = queryOptions({
  queryKey: ["waiting"],
  queryFn: async ({ signal }) => (await request("countWaitingExecutions", { signal })).body,
  refetchInterval: WAITING_POLL_MS,
});

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
/** The graph of a published version; versions never change. */
export const versionQuery = (slug: string, version: number) =>
  queryOptions({
    queryKey: ["version", slug, version],
    queryFn: ({ signal }) => loadVersion(slug, version, signal),
    staleTime: Number.POSITIVE_INFINITY,
    // Nodes remember what was made of them by identity.
    structuralSharing: false,
  });

/** The graph that a run ran, which never changes. */
export const ranGraphQuery = (id: string) =>
  queryOptions({
    queryKey: ["ran-graph", id],
    queryFn: ({ signal }) => loadRanGraph(id, signal),
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    retry: false,
  });

export type UsageFilter = NonNullable<Operations["listUsage"]["query"]>;
export const usageQuery = (filter: UsageFilter) =>
  queryOptions({
    queryKey: ["usage", filter],
    queryFn: ({ signal }) => api.usage.list(filter, { signal }),
    placeholderData: keepPreviousData,
  });
export const usageModelsQuery = queryOptions({ queryKey: ["usage-models"], queryFn: ({ signal }) => api.usage.models({ signal }) });

/** After something was run: balances and lists are other ones. */
export const afterRun = (client: QueryClient): void => {
  for (const key of ["me", "executions", "usage"]) void client.invalidateQueries({ queryKey: [key] });
};

export const mediaQuery = (cursor: string | undefined) =>
  queryOptions({
    queryKey: ["media", cursor ?? ""],
    queryFn: async ({ signal }) =>
      (await request("listMedia", { query: { limit: 24, ...(cursor === undefined ? {} : { cursor }) }, signal })).body,
    placeholderData: keepPreviousData,
  });

export const tiersQuery = queryOptions({
  queryKey: ["tiers"],
  queryFn: async ({ signal }) => (await request("adminListTiers", { signal })).body,
});

/** Temporal's UI, for administrators. */
export const temporalQuery = queryOptions({
  queryKey: ["temporal"],
  queryFn: async ({ signal }) => (await request("adminGetTemporal", { signal })).body,
  staleTime: Number.POSITIVE_INFINITY,
});

export const summaryQuery = queryOptions({
  queryKey: ["usage", "summary"],
  queryFn: async ({ signal }) => (await request("getUsageSummary", { signal })).body,
});

export type UsageGroups = Required<Pick<NonNullable<Operations["getUsageSummary"]["query"]>, "groupBy" | "from">>;
/** What runs came to since a day, by what they are grouped by. */
export const usageGroupsQuery = (query: UsageGroups) =>
  queryOptions({
    queryKey: ["usage", "groups", query],
    queryFn: async ({ signal }) => (await request("getUsageSummary", { query, signal })).body,
    placeholderData: keepPreviousData,
  });
