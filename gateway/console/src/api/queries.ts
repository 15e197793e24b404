import { keepPreviousData, queryOptions, type QueryClient } from "@tanstack/react-query";
import type { Me, Operations } from "@nodeloom/client";
import { api, isNotFound, isSignedOut, request } from "./client";
import { chosenOrganization, leaveOrganization } from "./organization";
import { beginSession } from "./session";

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
const DOWNLOADING_POLL_MS = 5_000;
export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: ({ signal }) => api.models.list({ signal }),
  staleTime: 60_000,
  // A model that is on its way is there without a reload.
  refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === "downloading") ? DOWNLOADING_POLL_MS : false),
});
/** What nodes may name instead of a model, and which model that is now. */
export const tasksQuery = queryOptions({
  queryKey: ["models", "tasks"],
  queryFn: async ({ signal }) => (await request("listTasks", { signal })).body,
  staleTime: 60_000,
});
/** The person's own account, and the organizations that they are a member of. */
export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: async ({ signal }) => (await request("listOrganizations", { signal })).body,
  staleTime: 60_000,
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

export type ExecutionsFilter = NonNullable<Operations["listExecutions"]["query"]>;
export const executionsQuery = (filter: ExecutionsFilter) =>
  queryOptions({
    queryKey: ["executions", filter],
    queryFn: ({ signal }) => api.executions.list(filter, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.rows.some(({ status }) => isGoing(status)) ? POLL_MS : false),
  });

/** After something was run: balances and lists are other ones. */
export const afterRun = (client: QueryClient): void => {
  for (const key of ["me", "executions", "usage"]) void client.invalidateQueries({ queryKey: [key] });
};
