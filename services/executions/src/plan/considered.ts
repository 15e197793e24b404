import type { RunPlan } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";

/** Models that a node could have for its task, the chosen one first; none if the caller can't read the graph. */
export const consideredMessages = (
  { routes = [], graphHidden }: Pick<RunPlan, "routes" | "graphHidden">,
  nodeId: string,
): executions.ConsideredModel[] => {
  const route = graphHidden ? undefined : routes.find((one) => one.nodeId === nodeId);
  return (route?.considered ?? []).map(({ model, millicredits, p50Ms, errorRate, reason }) =>
    executions.ConsideredModel.fromPartial({
      ...{ model, reason },
      millicredits: millicredits ?? undefined,
      p50Ms: p50Ms ?? undefined,
      errorRate: errorRate ?? undefined,
    }),
  );
};
