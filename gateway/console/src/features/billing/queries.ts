import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/client";

/** Terms of buying credits; null if the installation doesn't sell them. */
export const billingQuery = queryOptions({
  queryKey: ["billing"],
  queryFn: async ({ signal }) => (await request("getBilling", { signal })).body,
  staleTime: 60_000,
});

const POLL_MS = 2_000;
const NEWEST = 20;

/** Ledger row of a payment; null until Stripe reports the payment, moments after the buyer returns. */
export const bookedQuery = (session: string) =>
  queryOptions({
    queryKey: ["my-ledger", "topup", session],
    queryFn: async ({ signal }) => {
      const { rows } = (await request("listMyLedger", { query: { limit: NEWEST, kind: "topup" }, signal })).body;
      return rows.find(({ id }) => id === `stripe:${session}`) ?? null;
    },
    refetchInterval: ({ state }) => (state.data === null ? POLL_MS : false),
  });
