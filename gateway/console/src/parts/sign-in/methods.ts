import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/client";

/** Sign-in methods, and whether this installation sends mail. */
export const signInMethodsQuery = queryOptions({
  queryKey: ["sign-in-methods"],
  queryFn: async ({ signal }) => (await request("getSignInMethods", { signal })).body,
  staleTime: Infinity,
});
