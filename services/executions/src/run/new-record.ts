import { newWebhookState } from "./delivery";
import type { NodeState, RunEnd, RunInput } from "./types";
import type { Costs, ExecutionEvent, ExecutionRecord, FinalState } from "./record";
import { plannedEvents } from "./node-events";
import { elapsed, runEvent } from "./events";
import type { OutboxEntry } from "./states";

/** A run's row as it begins, and as it is when it is over. */

export interface Charged {
  millicredits: number;
  grantUsed: boolean;
  costs: Costs;
  modelCredits?: { model: string; millicredits: number }[];
}

const admittedEvent = ({ workflowSlug, modelIds }: RunInput): ExecutionEvent => runEvent("admitted", { workflowSlug, modelIds });
export const settledEvent = ({ status, error }: Pick<RunEnd, "status" | "error">): ExecutionEvent => runEvent("settled", { status, error });

/** What a client asked for, beside the run itself. */
export type RunRecordPart = Pick<ExecutionRecord, "fingerprint" | "requestToken" | "inputs" | "metadata">;

/** A run's row before anything is decided. */
export const newRecord = (input: RunInput, nodes: NodeState[], part: RunRecordPart = {}): ExecutionRecord => {
  const { executionId, userId, workflowSlug, version, modelIds, source, keyId, holdId, mode, webhook, receivedAt, attempt, baseTier } =
    input;
  const admitted = admittedEvent(input);
  return {
    _id: executionId,
    userId,
    workflowSlug,
    ...(version === undefined ? {} : { version }),
    modelIds,
    source,
    keyId,
    holdId,
    markupPermille: input.plan.markupPermille,
    mode,
    status: "accepted",
    ending: null,
    requestId: null,
    resultJson: null,
    error: null,
    webhook: webhook && newWebhookState(webhook),
    nodes,
    events: [admitted, ...plannedEvents(nodes, admitted.at)],
    millicredits: 0,
    grantUsed: false,
    createdAt: new Date(receivedAt),
    finishedAt: null,
    durationMs: null,
    seenRunningAt: new Date(),
    attempt,
    baseTier,
    outbox: [],
    unsettled: true,
    ...part,
  };
};

export const targetOf = ({ workflowSlug }: Pick<RunInput, "workflowSlug">): "workflow" | "model" =>
  workflowSlug === null ? "model" : "workflow";

/** What an execution is when it is over. */
export const finalState = ({ receivedAt }: Pick<RunInput, "receivedAt">, end: RunEnd, charge: Charged): FinalState => {
  const finishedAt = new Date();
  return {
    status: end.status,
    resultJson: end.result === null ? null : JSON.stringify(end.result),
    error: end.error,
    nodes: end.nodes,
    ...charge,
    finishedAt,
    durationMs: elapsed(receivedAt, finishedAt.getTime()),
    ...(end.requestId === null ? {} : { requestId: end.requestId }),
  };
};

/** The row of a run that is inserted when it is over. */
export const finalRecord = (
  input: RunInput,
  end: RunEnd,
  state: FinalState,
  part: RunRecordPart,
  outbox: readonly OutboxEntry[],
): ExecutionRecord => {
  const { unsettled, ...record } = newRecord(input, end.nodes, part);
  const events = [...record.events, settledEvent(end)];
  return { ...record, ...state, events, outbox: [...outbox], ...(unsettled && outbox.length > 0 ? { unsettled } : {}) };
};

export const FREE: Charged = { millicredits: 0, grantUsed: false, costs: { costMicroUsd: 0, userCostMicroUsd: 0 } };
