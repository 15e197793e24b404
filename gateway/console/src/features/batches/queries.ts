import type { Batch, Operations } from "@nodeloom/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";

const POLL_MS = 2_000;

export const isGoing = (status: Batch["status"] | undefined): boolean => status === "running" || status === "cancel_requested";

export const batchesQuery = (query: Operations["listBatches"]["query"]) =>
  queryOptions({
    queryKey: ["batches", query],
    queryFn: ({ signal }) => api.batches.list(query, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.rows.some(({ status }) => isGoing(status)) ? POLL_MS : false),
  });

export const batchQuery = (id: string, query: { limit: number; cursor?: string }) =>
  queryOptions({
    queryKey: ["batch", id, query],
    queryFn: ({ signal }) => api.batches.get(id, query, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (isGoing(state.data?.status) ? POLL_MS : false),
  });
