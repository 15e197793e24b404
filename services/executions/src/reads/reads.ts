/** Reads executions for their owners, one at a time or in pages. */
import { executionNotFound, makesCalls } from "@nodeloom/kernel";
import { alternativeKey, itemKey, placeOfKey } from "@nodeloom/kernel/graph";
import { toCursor } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import type { AwaitDelivered } from "../record/runs/channel";
import { placeOf } from "../run/queue";
import { isFinal } from "../run/states";
import type { KeptGraph } from "../plan/kept-graphs";
import type { CallRecord } from "../run/call-record";
import type { ExecutionView } from "../run/record";
import { LIST_BATCH } from "../record/runs/rows";
import type { Stores } from "../record/stores";
import { executionMessage, type Details } from "./view";

/** A page is one gRPC message, so it ends before the message becomes too large. */
const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Collects one page: at most `size` executions, fewer if they are large, and at least one.
 * @param rows up to `size` + 1 rows; the extra row shows that another page follows
 */
export const collectPage = async (
  rows: AsyncIterable<ExecutionView>,
  size: number,
  maxBytes = PAGE_BYTES,
): Promise<executions.ListExecutionsResponse> => {
  const page: executions.Execution[] = [];
  let last: ExecutionView | undefined;
  let bytes = 0;
  for await (const row of rows) {
    const message = executionMessage(row);
    bytes += executions.Execution.encode(message).finish().byteLength;
    if (last && (page.length === size || bytes > maxBytes))
      return { executions: page, nextCursor: toCursor({ at: last.createdAt, id: last._id }) };
    page.push(message);
    last = row;
  }
  return { executions: page, nextCursor: "" };
};

export type Reads = ReturnType<typeof createReads>;

/** True if a row contains all shown data of its run's calls. */
const tellsItsCalls = (row: ExecutionView): boolean =>
  isFinal(row) &&
  row.nodesHash === undefined &&
  row.nodes.every(({ type, status, items, outputsJson }) => {
    const wasCalled = makesCalls(type) && status !== "pending" && status !== "skipped";
    return !wasCalled || (items <= 1 && outputsJson !== undefined);
  });

export type WithDeliveries = (rows: readonly ExecutionView[]) => Promise<ExecutionView[]>;

export const createReads = (
  stores: Pick<Stores, "rows" | "calls" | "log" | "payloads" | "queues">,
  awaitDelivered: AwaitDelivered,
  withDeliveries: WithDeliveries = async (rows) => [...rows],
) => {
  const positionOf = async ({ holdId, userId, status, waits, waiting }: ExecutionView): Promise<number | undefined> => {
    if (status === "queued") return placeOf(await stores.queues.find(userId), holdId);
    // After a decision, the run may still wait for its place.
    if (status !== "processing" || !waits || waiting) return undefined;
    return placeOf(await stores.queues.find(userId), holdId) || undefined;
  };

  /** Returns values for review that are too long for the row. */
  const waitingValues = async ({ waits = [], waitingFor = [] }: ExecutionView): Promise<Map<string, string>> => {
    const long = waits.filter(({ nodeId, value }) => value && "hash" in value && waitingFor.includes(nodeId));
    const longTexts = await Promise.all(long.map(async ({ nodeId, value }) => [nodeId, await stores.payloads.getText(value!)] as const));
    return new Map(longTexts.filter((entry): entry is [string, string] => entry[1] !== null));
  };

  async function* delivered(batch: readonly ExecutionView[]): AsyncIterable<ExecutionView> {
    await Promise.all(batch.map(awaitDelivered));
    yield* stores.log.standing(await withDeliveries(batch));
  }

  async function* allStanding(rows: AsyncIterable<ExecutionView>): AsyncIterable<ExecutionView> {
    let batch: ExecutionView[] = [];
    for await (const row of rows) {
      batch.push(row);
      if (batch.length < LIST_BATCH) continue;
      yield* delivered(batch);
      batch = [];
    }
    yield* delivered(batch);
  }

  /**
   * Returns the calls of a run. In a fan-out, calls are recorded before they have a name, so incomplete calls get their names from the log.
   * @param current the run's present state: the number of a node's calls may become known only during the run
   */
  const callsOf = async ({ _id }: ExecutionView, current: ExecutionView | Promise<ExecutionView>): Promise<CallRecord[]> => {
    const [calls, { nodes }] = await Promise.all([stores.calls.of(_id), current]);
    const single = new Set(nodes.filter(({ items }) => items <= 1).map(({ id }) => id));
    const isUnnamed = ({ nodeId, status, requestId }: CallRecord): boolean =>
      status !== "completed" && requestId === null && !single.has(nodeId);
    if (!calls.some(isUnnamed)) return calls;
    const requestIds = await stores.log.requestIds(_id);
    const nameOf = ({ _id, nodeId, item }: CallRecord): string | undefined =>
      requestIds.get(alternativeKey(itemKey(nodeId, item), placeOfKey(_id)));
    return calls.map((call) => (isUnnamed(call) ? { ...call, requestId: nameOf(call) ?? null } : call));
  };

  const details = async (row: ExecutionView, current: ExecutionView | Promise<ExecutionView> = row): Promise<Details> => {
    const [calls, inputsJson, position, values] = await Promise.all([
      tellsItsCalls(row) ? [] : callsOf(row, current),
      row.inputs ? stores.payloads.getText(row.inputs) : null,
      positionOf(row),
      row.waiting ? waitingValues(row) : undefined,
    ]);
    return { calls, inputsJson: inputsJson ?? undefined, position, ...(values ? { waitingValues: values } : {}) };
  };

  return {
    details,

    /** @throws DomainError EXECUTION_NOT_FOUND, also for another user's execution and for an undecided execution */
    get: async (executionId: string, userId: string): Promise<executions.Execution> => {
      const row = await stores.rows.findOwned(executionId, userId);
      if (!row) throw executionNotFound();
      await awaitDelivered(row);
      const [notified] = await withDeliveries([row]);
      const current = stores.log.current(notified ?? row);
      return executionMessage(...(await Promise.all([current, details(row, current)])));
    },

    /**
     * Returns the graph of a run.
     * @throws DomainError EXECUTION_NOT_FOUND, also for another user's execution, a run of a model, or a deleted graph
     */
    graph: async (executionId: string, userId: string): Promise<executions.GetExecutionGraphResponse> => {
      const row = await stores.rows.findOwned(executionId, userId);
      const json = row?.graph ? await stores.payloads.getText(row.graph) : null;
      if (json === null) throw executionNotFound();
      const { nodesJson, edgesJson } = JSON.parse(json) as KeptGraph;
      return { workflowSlug: row?.workflowSlug ?? "", nodesJson, edgesJson };
    },

    page: (rows: AsyncIterable<ExecutionView>, size: number): Promise<executions.ListExecutionsResponse> =>
      collectPage(allStanding(rows), size),
  };
};
