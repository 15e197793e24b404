import { useQuery } from "@tanstack/react-query";
import { workflowsQuery } from "../api/queries";

/** Names of workflows by slug. Unknown workflows keep their slug. */
export const useWorkflowNames = (): ((slug: string) => string) => {
  const { data } = useQuery({ ...workflowsQuery, select: (rows) => new Map(rows.map(({ slug, name }) => [slug, name])) });
  return (slug) => data?.get(slug) ?? slug;
};
