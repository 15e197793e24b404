import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import type { ExecutionsQuery, Me } from "@nodeloom/client";
import { api, isNotFound, isSignedOut, request } from "./client";
import { chosenOrganization, leaveOrganization } from "./organization";
import { beginSession } from "./session";

const APPROVAL_POLL_MS = 10_000;

const readMe = async (signal: AbortSignal): Promise<Me> => {
  try {
    return (await request("me", { signal })).body;
  } catch (error) {
    // A 404 means that the person left the organization.
    if (!isNotFound(error) || chosenOrganization() === undefined) throw error;
    leaveOrganization();
    return (await request("me", { signal })).body;
  }
};

/** All queries, by their cache key. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal, client }) => {
    try {
      const me = await readMe(signal);
      beginSession({ id: me.user.id, email: me.user.email });
      return me;
    } catch (error) {
      // A signed-in person stays on the page and signs in again there.
      if (isSignedOut(error)) return client.getQueryData<Me>(["me"]) ?? null;
      throw error;
    }
  },
  staleTime: 30_000,
  // Shows approval on the open page.
  refetchInterval: ({ state }) => (state.data?.user.approved === false ? APPROVAL_POLL_MS : false),
});

export const workflowsQuery = queryOptions({ queryKey: ["workflows"], queryFn: ({ signal }) => api.workflows.list({ signal }) });
const DOWNLOADING_POLL_MS = 5_000;
export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: ({ signal }) => api.models.list({ signal }),
  staleTime: 60_000,
  // Shows a model that is being installed without a reload.
  refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === "downloading") ? DOWNLOADING_POLL_MS : false),
});
/** Tasks that nodes can name instead of a model, with their current model. */
export const tasksQuery = queryOptions({
  queryKey: ["models", "tasks"],
  queryFn: async ({ signal }) => (await request("listTasks", { signal })).body,
  staleTime: 60_000,
});
/** The person's own account and organizations. */
export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: async ({ signal }) => (await request("listOrganizations", { signal })).body,
  staleTime: 60_000,
});
/** Members of an organization, or the person alone for their own account. */
export const membersQuery = (id: string) =>
  queryOptions({
    queryKey: ["organizations", id, "members"],
    queryFn: async ({ signal }) => (await request("listMembers", { params: { id }, signal })).body,
  });
/** Keys for the names of ids, deleted keys included. */
export const namedKeysQuery = queryOptions({
  queryKey: ["keys", "named"],
  queryFn: async ({ signal }) => (await request("listKeys", { query: { deleted: "true" }, signal })).body,
});
export const keysQuery = queryOptions({ queryKey: ["keys"], queryFn: async ({ signal }) => (await request("listKeys", { signal })).body });

const POLL_MS = 3_000;
const isGoing = (status: string | undefined): boolean => status === "processing" || status === "cancel_requested";

export const executionQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id],
    queryFn: ({ signal }) => api.executions.get(id, { signal }),
    refetchInterval: ({ state }) => (isGoing(state.data?.status) ? POLL_MS : false),
  });

export const executionsQuery = (filter: ExecutionsQuery) =>
  queryOptions({
    queryKey: ["executions", filter],
    queryFn: ({ signal }) => api.executions.list(filter, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.rows.some(({ status }) => isGoing(status)) ? POLL_MS : false),
  });

/** Refreshes balances and lists after a run. */
export const afterRun = (client: QueryClient): void => {
  for (const key of ["me", "executions", "usage"]) void client.invalidateQueries({ queryKey: [key] });
};
