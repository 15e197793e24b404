import { request } from "../api/client";
import { useQuery, queryOptions } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { meQuery } from "../api/queries";

/** Temporal's UI, for administrators. */
const temporalQuery = queryOptions({
  queryKey: ["temporal"],
  queryFn: async ({ signal }) => (await request("adminGetTemporal", { signal })).body,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Link to a run's workflow in Temporal's UI. Runs without calls have none. */
export const TemporalLink = ({ executionId }: { executionId: string }) => {
  const { data: me } = useQuery(meQuery);
  const { data } = useQuery({ ...temporalQuery, enabled: me?.user.role === "admin" });
  if (!data || data.url === null) return null;
  const href = `${data.url}/namespaces/${encodeURIComponent(data.namespace)}/workflows/${encodeURIComponent(executionId)}`;
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener"
      title="This run's workflow in Temporal. A run without calls has none."
      className="inline-flex items-center gap-1 whitespace-nowrap text-accent-text underline underline-offset-2"
    >
      Temporal <ExternalLink className="size-3.5" aria-hidden />
    </a>
  );
};
