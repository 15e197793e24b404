/** Ends runs whose workflow is missing or can't proceed. */
import { elapsed } from "../run/events";
import { skipPending } from "../run/nodes";
import type { ExecutionView } from "../run/record";
import type { RunEnd, RunError } from "../run/types";
import type { Stores } from "../record/stores";
import type { End } from "./end";

const ABANDONED: RunError = { code: "EXECUTION_FAILED", message: "the run was interrupted before it was complete: run it again" };

/** Final state of a run that is ended from outside. Calls under way are abandoned. Completed calls have their own records. */
export const abandonedEnd = ({ status, nodes, requestId }: ExecutionView, error = ABANDONED): RunEnd => ({
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

export interface AbandonOptions {
  stores: Pick<Stores, "log">;
  starter: { terminate(executionId: string): Promise<void> };
  end: Pick<End, "end">;
}

export type Abandon = ReturnType<typeof createAbandon>;

/**
 * Terminates the workflow of a run and ends the run: as cancelled if that was requested, otherwise as failed. If this process dies before
 * the run has ended, the reconciler ends it.
 * @returns the final row
 */
export const createAbandon =
  ({ stores, starter, end }: AbandonOptions) =>
  async (row: ExecutionView, error?: RunError): Promise<ExecutionView | null> => {
    await starter.terminate(row._id);
    return end.end({ from: "lost", row }, abandonedEnd(await stores.log.current(row), error));
  };
