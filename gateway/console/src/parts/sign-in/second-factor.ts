import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/client";

/** True if the person has a password and a second factor. */
export const secondFactorQuery = queryOptions({
  queryKey: ["second-factor"],
  queryFn: async ({ signal }) => (await request("getSecondFactor", { signal })).body,
});
