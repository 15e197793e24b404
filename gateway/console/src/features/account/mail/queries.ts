import { queryOptions } from "@tanstack/react-query";
import { request } from "../../../api/client";
import { signInMethodsQuery } from "../../../parts/sign-in/methods";

/** Email address and notices of the account; null if mail isn't configured. */
export const mailQuery = queryOptions({
  queryKey: ["mail"],
  queryFn: async ({ signal, client }) => {
    const { mail } = await client.ensureQueryData(signInMethodsQuery);
    return mail ? (await request("getMailSettings", { signal })).body : null;
  },
  staleTime: 300_000,
});
