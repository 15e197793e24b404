import type { NodeState, RunError } from "./types";

export interface ExecutionEvent {
  /** Id of the occurrence. An event with the same key is recorded once. */
  key: string;
  type: string;
  at: Date;
  data: Record<string, unknown>;
}

/** @param key id of the occurrence, which is recorded once */
export const event = (key: string, type: string, data: Record<string, unknown> = {}): ExecutionEvent => ({
  key,
  type,
  at: new Date(),
  data,
});

/** Prefix of a submission's key. The key of the call follows. */
export const SUBMITTED = "submitted:";

/** Returns an event that occurs once per run, identified by its type. */
export const runEvent = (type: string, data?: Record<string, unknown>): ExecutionEvent => event(type, type, data);

/** Never negative, because clocks of two processes can differ. */
export const elapsed = (sinceMs: number, untilMs = Date.now()): number => Math.max(0, untilMs - sinceMs);

const ENDINGS = ["completed", "failed", "cancelled", "skipped"] as const;
type Ending = (typeof ENDINGS)[number];

const isEnding = (status: string): status is Ending => (ENDINGS as readonly string[]).includes(status);

export const endKey = (ending: Ending, nodeId: string): string => `${ending}:${nodeId}`;

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

/** Returns the end events of nodes in the order in which they occurred. */
export const endEvents = (nodes: readonly NodeState[], otherwise: Date): ExecutionEvent[] =>
  nodes
    .flatMap((node) => (isEnding(node.status) ? [endEvent(node, node.status, otherwise)] : []))
    .sort((a, b) => a.at.getTime() - b.at.getTime());

/** Returns the end events of nodes that are missing in the log of an ended run. @param recorded keys in the log */
export const missingEvents = (nodes: readonly NodeState[], recorded: ReadonlySet<string>, at: Date): ExecutionEvent[] =>
  endEvents(
    nodes.filter((node) => !ENDINGS.some((ending) => recorded.has(endKey(ending, node.id)))),
    at,
  );

type EventContent = Pick<ExecutionEvent, "type" | "at" | "data">;

const advance = (node: NodeState, { type, at, data }: EventContent): void => {
  const { item, items, requestId, durationMs, error, reusedFrom } = data as {
    item: number;
    items: number;
    requestId: string;
    durationMs: number;
    error: RunError;
    reusedFrom?: string;
  };
  switch (type) {
    case "submitted":
    case "node.started":
      if (node.status === "pending") node.status = "processing";
      if (item === 0) node.requestId ??= requestId;
      node.items = items;
      node.startedAt ??= at.getTime();
      return;
    case "node.progress":
      node.itemsDone += 1;
      return;
    case "node.completed":
      Object.assign(node, { status: "completed", durationMs, itemsDone: node.items, ...(reusedFrom ? { reusedFrom } : {}) });
      return;
    case "node.failed":
      Object.assign(node, { status: "failed", error });
  }
};

/** Returns the current state of a run's nodes from the log. @param nodes their state when the run started */
export const nodesAfter = (nodes: readonly NodeState[], log: readonly EventContent[]): NodeState[] => {
  // Progress is counted only from the log.
  const counted = new Set(log.flatMap(({ type, data }) => (type === "node.progress" ? [data.nodeId] : [])));
  const byId = new Map(nodes.map((node) => [node.id, { ...node, ...(counted.has(node.id) ? { itemsDone: 0 } : {}) }]));
  for (const event of log) {
    const node = byId.get(event.data.nodeId as string);
    if (node) advance(node, event);
  }
  return [...byId.values()];
};
