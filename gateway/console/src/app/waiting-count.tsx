import { request } from "../api/client";
import { useQuery, queryOptions } from "@tanstack/react-query";
import { classes } from "../ui/classes";
import { WAITING_COUNT } from "../messages/app";

const WAITING_POLL_MS = 30_000;
const waitingQuery = queryOptions({
  queryKey: ["waiting"],
  queryFn: async ({ signal }) => (await request("countWaitingExecutions", { signal })).body,
  refetchInterval: WAITING_POLL_MS,
});

/** Number of runs waiting for the person; hidden at zero. */
export const WaitingCount = ({ compact }: { compact: boolean }) => {
  const { data } = useQuery(waitingQuery);
  if (data === undefined || data.waiting === 0) return null;
  return (
    <span
      className={classes(
        "rounded-full bg-accent px-1.5 text-[11px] leading-4.5 font-semibold text-on-accent tabular-nums",
        compact ? "absolute top-0.5 right-1.5" : "ml-auto",
      )}
      aria-label={WAITING_COUNT.waiting(data.waiting)}
    >
      {data.waiting}
    </span>
  );
};
