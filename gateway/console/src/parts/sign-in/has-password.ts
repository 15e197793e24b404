import { useQuery } from "@tanstack/react-query";
import { secondFactorQuery } from "./second-factor";

/** Whether the person's account has a password, which is asked for again before something is deleted. */
export const useHasPassword = (): boolean => {
  const { data } = useQuery(secondFactorQuery);
  return data?.hasPassword ?? true;
};
