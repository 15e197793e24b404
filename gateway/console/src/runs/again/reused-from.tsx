import type { NodeState } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { executionQuery } from "../../api/queries";
import { dateTime } from "../../ui/format";
import { REUSED_FROM } from "../../messages/runs";

/** Marks a reused call, with a link to the original run. */
export const ReusedFrom = ({ id }: { id: string }) => {
  const { data } = useQuery(executionQuery(id));
  return (
    <Link to="/executions/$id" params={{ id }} className="text-accent-text underline underline-offset-2">
      {REUSED_FROM.reusedFrom(data?.createdAt ? dateTime(data.createdAt) : undefined)}
    </Link>
  );
};

/** Text "reused", or the number of reused items; undefined if no item is reused. */
export const reusedShare = ({ reusedFrom, calls = [] }: Pick<NodeState, "reusedFrom" | "calls">): string | undefined => {
  if (reusedFrom !== undefined) return "reused";
  const reused = calls.filter((call) => call.reusedFrom !== undefined).length;
  if (reused === 0) return undefined;
  return reused === calls.length ? "reused" : REUSED_FROM.ofReused(reused, calls.length);
};
