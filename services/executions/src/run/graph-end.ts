import { elapsed } from "./events";
import type { ExecutionView } from "./record";
import type { FinalStatus, RunEnd, RunError } from "./types";
import { skipPending, type GraphRun } from "./graph-run";

export interface Failure {
  error: RunError;
}

/** How a run ended, as its graph tells it. */
export const endOf = (run: GraphRun, failure: Failure | undefined): RunEnd => {
  const complete = failure === undefined && run.isComplete;
  const given = complete ? run.result(Date.now()) : undefined;
  if (given && "error" in given) return endOf(run, given);
  const status: FinalStatus = failure ? "failed" : complete ? "completed" : "cancelled";
  const result = given?.result ?? null;
  run.stopRest(Date.now());
  return {
    status,
    result,
    error: failure?.error ?? null,
    requestId: run.requestId,
    nodes: run.nodes,
    completed: run.completed,
    underWay: [...run.submitted],
    extended: run.extended,
  };
};

/** How a run stands that nothing carries any more: what was under way is given up. Its completed calls are recorded elsewhere. */
export const abandonedEnd = ({ status, nodes, requestId }: ExecutionView, error: RunError): RunEnd => ({
  status: status === "cancel_requested" ? "cancelled" : "failed",
  result: null,
  error: status === "cancel_requested" ? null : error,
  requestId,
  nodes: skipPending(nodes).map((node) => {
    if (node.status !== "processing") return node;
    const durationMs = node.startedAt === null ? null : elapsed(node.startedAt);
    return { ...node, status: "cancelled", cancelReport: "could_not_stop", durationMs };
  }),
  completed: [],
});
