import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/client";

/** Whether credits can be bought here, and at which price. */
export const billingQuery = queryOptions({
  queryKey: ["billing"],
  queryFn: async ({ signal }) => (await request("getBilling", { signal })).body,
  staleTime: 60_000,
});

const POLL_MS = 2_000;
const NEWEST = 20;

/** Whether a payment is booked: Stripe says so moments after it sends the buyer back. */
export const bookedQuery = (session: string) =>
  queryOptions({
    queryKey: ["my-ledger", "topup", session],
    queryFn: async ({ signal }) => {
      const { rows } = (await request("listMyLedger", { query: { limit: NEWEST, kind: "topup" }, signal })).body;
      return rows.find(({ id }) => id === `stripe:${session}`) ?? null;
    },
    refetchInterval: ({ state }) => (state.data === null ? POLL_MS : false),
  });
