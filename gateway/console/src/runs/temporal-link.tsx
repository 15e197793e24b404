import { request } from "../api/client";
import { useQuery, queryOptions } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { meQuery } from "../api/queries";
import { TEMPORAL_LINK } from "../messages/runs";

/** Temporal's UI, for administrators. */
const temporalQuery = queryOptions({
  queryKey: ["temporal"],
  queryFn: async ({ signal }) => (await request("adminGetTemporal", { signal })).body,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Link to a run's workflow in Temporal's UI; hidden for runs without calls. */
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
      title={TEMPORAL_LINK.hint}
      className="inline-flex items-center gap-1 whitespace-nowrap text-accent-text underline underline-offset-2"
    >
      {TEMPORAL_LINK.temporal} <ExternalLink className="size-3.5" aria-hidden />
    </a>
  );
};
