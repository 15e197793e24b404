import type { WebhookEndpoint } from "@nodeloom/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { request } from "../../api/client";

/** Webhook endpoints of the account, and the messages to one of them. */

export const READS = ["webhook-endpoints"] as const;

export const endpointsQuery = queryOptions({
  queryKey: READS,
  queryFn: async ({ signal }) => (await request("listWebhookEndpoints", { signal })).body.endpoints,
});

const POLL_MS = 3_000;
const PAGE = 25;

export const deliveriesQuery = (id: string, cursor: string | undefined) =>
  queryOptions({
    queryKey: [...READS, id, "deliveries", cursor],
    queryFn: async ({ signal }) =>
      (
        await request("listWebhookEndpointDeliveries", {
          params: { id },
          query: { limit: PAGE, ...(cursor !== undefined && { cursor }) },
          signal,
        })
      ).body,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.rows.some((row) => row.state === "pending") ? POLL_MS : false),
  });

/** Sends a test message to an endpoint, now. */
export const sendTest = ({ id }: WebhookEndpoint): Promise<unknown> => request("testWebhookEndpoint", { params: { id } });

/** Stops messages to an endpoint, or starts them again. */
export const setDisabled = ({ id }: WebhookEndpoint, disabled: boolean): Promise<unknown> =>
  request("updateWebhookEndpoint", { params: { id }, body: { disabled } });
