import { APP_METADATA, executionNotFound, invalidRequest, publicError } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { CallerVisitor } from "../auth/caller";
import type { StreamedEvent } from "../http/event-stream";

/** Executions for an app's visitors: their own, with progress and results, without the owner's graph. */

const LIST_PARAMETERS: ReadonlySet<string> = new Set(["status", "limit", "cursor"]);

const isOwn = ({ metadata }: executions.Execution, visitor: CallerVisitor): boolean =>
  Object.entries(visitor.metadata).every(([name, value]) => metadata[name] === value);

const shownError = (error: executions.ExecutionError | undefined): executions.ExecutionError | undefined =>
  error && executions.ExecutionError.fromPartial({ code: error.code, message: publicError(error).message });

const shownNode = ({ id, type, status, startedAt, durationMs, items, itemsDone, error }: executions.NodeState): executions.NodeState =>
  executions.NodeState.fromPartial({ id, type, status, startedAt, durationMs, items, itemsDone, error: shownError(error) });

/** @throws EXECUTION_NOT_FOUND unless it is the visitor's */
export const asVisitorSees = (execution: executions.Execution, visitor: CallerVisitor): executions.Execution => {
  if (!isOwn(execution, visitor)) throw executionNotFound();
  const { executionId, userId, status, durationMs, queued, position, resultJson, inputsJson, workflowSlug, source } = execution;
  const { createdAt, finishedAt, millicredits, error, nodes } = execution;
  return executions.Execution.fromPartial({
    ...{ executionId, userId, status, durationMs, queued, position, resultJson, inputsJson, workflowSlug, source },
    ...{ createdAt, finishedAt, millicredits, error: shownError(error), nodes: nodes.map(shownNode) },
  });
};

/** Filter for a visitor's list. @throws INVALID_REQUEST for parameters reserved for the owner */
export const ownOnly = (
  query: Readonly<Record<string, unknown>>,
  { id, slug }: CallerVisitor,
): Pick<executions.ListExecutionsRequest, "metadata" | "workflowSlug"> => {
  const unknown = Object.keys(query).filter((name) => query[name] !== undefined && !LIST_PARAMETERS.has(name));
  if (unknown.length > 0)
    throw invalidRequest(
      unknown.map((path) => ({ path, message: "can't be sent by visitors of an app, who see only their own executions" })),
    );
  // Filters by visitor first: an app can have many thousands of runs by other visitors.
  return { metadata: { [APP_METADATA.visitor]: id }, workflowSlug: slug };
};

/** Events that show progress. Texts of intermediate nodes belong to the owner. */
const EVENTS: ReadonlySet<string> = new Set([
  ...["admitted", "queued", "started", "settled", "cancel_requested"],
  ...["node.started", "node.progress", "node.completed", "node.failed", "node.skipped", "node.decided", "execution.waiting"],
]);
const EVENT_MEMBERS = ["nodeId", "item", "items", "durationMs", "position", "status"] as const;

interface EventText {
  type: string;
  at: string;
  data: Record<string, unknown>;
}

const shownData = (data: Record<string, unknown>): Record<string, unknown> => {
  const shownFields: Record<string, unknown> = {};
  for (const name of EVENT_MEMBERS) if (data[name] !== undefined) shownFields[name] = data[name];
  const { code, message } = (data.error ?? {}) as { code?: unknown; message?: unknown };
  return code === undefined ? shownFields : { ...shownFields, error: { code, message } };
};

export async function* eventsForVisitors(events: AsyncIterable<StreamedEvent>): AsyncGenerator<StreamedEvent, void> {
  for await (const event of events) {
    if (!EVENTS.has(event.type)) continue;
    const { type, at, data } = JSON.parse(event.data) as EventText;
    yield { ...event, data: JSON.stringify({ type, at, data: shownData(data) } satisfies EventText) };
  }
}
