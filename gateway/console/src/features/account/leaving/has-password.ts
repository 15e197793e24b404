import { useQuery } from "@tanstack/react-query";
import { request } from "../../../api/client";

/** Whether the person's account has a password, which is asked for again before something is deleted. */
export const useHasPassword = (): boolean => {
  const { data } = useQuery({
    queryKey: ["second-factor"],
    queryFn: async ({ signal }) => (await request("getSecondFactor", { signal })).body,
  });
  return data?.hasPassword ?? true;
};
