import type { FinalStatus, RunEnd, RunError } from "./types";
import type { GraphRun } from "./graph-run";

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
