import { randomUUID } from "node:crypto";
import { createOutgoing, type Outgoing } from "../../src/workflow/step-failures";
import type { Connection } from "mongoose";
import { openOutgoingBudget, openOwnStores } from "../../../../test-support/stores";
import { createEnd, type End } from "../../src/lifecycle/end";
import type { RunEnd, RunInput } from "../../src/run/types";
import type { Execution } from "../../src/lifecycle/execution";
import type { ExecutionRecord } from "../../src/run/record";
import { createReads, type Reads } from "../../src/reads/reads";
import { createStores, type Stores, type StoresOptions } from "../../src/record/stores";

/** A store in its own database. */
export const openStore = (options: StoresOptions = {}): Promise<{ stores: Stores; connection: Connection; stop: () => Promise<void> }> =>
  openOwnStores("executions", (connection) => createStores(connection, options));

/** A running execution with one node. */
export const newRecord = (userId: string = randomUUID(), part: Partial<ExecutionRecord> = {}): ExecutionRecord => ({
  _id: randomUUID(),
  userId,
  workflowSlug: null,
  modelIds: [],
  source: "api-slim",
  keyId: null,
  holdId: "hold",
  markupPermille: 1_500,
  mode: "async",
  status: "processing",
  ending: null,
  requestId: null,
  resultJson: null,
  error: null,
  webhook: null,
  nodes: [
    {
      id: "pic",
      type: "generate-image",
      status: "pending",
      startedAt: null,
      durationMs: null,
      millicredits: 0,
      error: null,
      requestId: null,
      warnings: [],
      cancelReport: null,
      items: 10,
      itemsDone: 0,
    },
  ],
  events: [{ key: "admitted", type: "admitted", at: new Date(), data: {} }],
  outbox: [],
  attempt: 1,
  baseTier: "pro",
  millicredits: 0,
  grantUsed: false,
  createdAt: new Date(),
  finishedAt: null,
  durationMs: null,
  seenRunningAt: new Date(),
  ...part,
});

/** Outgoing calls with a separate budget. */
export const openOutgoing = async (
  ...options: Parameters<typeof openOutgoingBudget>
): Promise<{ outgoing: Outgoing; stop: () => void }> => {
  const { take, stop } = await openOutgoingBudget(...options);
  return { outgoing: createOutgoing(take), stop };
};

/** For tests in which ends are always delivered. */
export const DELIVERED = (): Promise<void> => Promise.resolve();
export const readsOf = (stores: Stores): Reads => createReads(stores, DELIVERED);

/** Ends runs without holds and deliveries. */
export const endsOf = (stores: Stores, execution: Execution): End => {
  const billing = { settle: () => Promise.reject(new Error("the run holds nothing")) };
  const outbox = { deliverFirst: <Row>(row: Row): Promise<Row> => Promise.resolve(row) };
  return createEnd({ billing, execution, stores, outbox });
};

/**
 * Ends a run without holds as its workflow would.
 * @returns true if this made the run final
 */
export const endFree = async (stores: Stores, execution: Execution, input: RunInput, runEnd: RunEnd): Promise<boolean> => {
  const row = await endsOf(stores, execution).end({ from: "workflow", input: { ...input, held: [] } }, runEnd);
  return row?.status === runEnd.status;
};
