import { makesCalls, makesResult } from "@nodeloom/kernel";
import type { NodeState } from "../../contract/run-types";
import type { ExecutionEvent } from "../execution-record";

/** What ends a node, as the event log names it. */
const ENDINGS = ["completed", "failed", "cancelled", "skipped"] as const;
type Ending = (typeof ENDINGS)[number];

const isEnding = (status: string): status is Ending => (ENDINGS as readonly string[]).includes(status);

/** The key under which an end of a node is recorded. */
export const endKey = (ending: Ending, nodeId: string): string => `${ending}:${nodeId}`;

/** Activities tell of the nodes that they run; all others are told of by whoever writes the log next. */
const toldByActivities = ({ type, items }: NodeState): boolean => (makesCalls(type) || makesResult(type)) && items > 0;

const endData = (node: NodeState): Record<string, unknown> => {
  const { id: nodeId, durationMs, error, cancelReport } = node;
  switch (node.status) {
    case "failed":
      return { nodeId, error };
    case "cancelled":
      return { nodeId, durationMs, cancelReport };
    case "skipped":
      return { nodeId };
    default:
      return { nodeId, durationMs: durationMs ?? 0 };
  }
};

const endEvent = (node: NodeState, ending: Ending, otherwise: Date): ExecutionEvent => ({
  key: endKey(ending, node.id),
  type: `node.${ending}`,
  at: node.startedAt === null ? otherwise : new Date(node.startedAt + (node.durationMs ?? 0)),
  data: endData(node),
});

/** The ends of nodes that are over, in the order in which they were reached. */
const endEvents = (nodes: readonly NodeState[], otherwise: Date): ExecutionEvent[] =>
  nodes
    .flatMap((node) => (isEnding(node.status) ? [endEvent(node, node.status, otherwise)] : []))
    .sort((a, b) => a.at.getTime() - b.at.getTime());

/** What planning had evaluated when the run began. */
export const plannedEvents = (nodes: readonly NodeState[], at: Date): ExecutionEvent[] => endEvents(nodes, at);

/** True for a node that was over when the run was recorded. */
const wasPlanned = ({ status, startedAt }: NodeState): boolean => status === "completed" && startedAt === null;

/**
 * The ends that the log of a run lacks when the run is over.
 * @param recorded keys of the log; undefined when nothing went wrong, so that activities have told of all that they ran.
 */
export const missingEvents = (nodes: readonly NodeState[], recorded: ReadonlySet<string> | undefined, at: Date): ExecutionEvent[] =>
  endEvents(
    nodes.filter((node) =>
      recorded ? !ENDINGS.some((ending) => recorded.has(endKey(ending, node.id))) : !wasPlanned(node) && !toldByActivities(node),
    ),
    at,
  );
