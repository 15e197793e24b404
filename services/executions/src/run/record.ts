/** The row of a run: what it keeps, how it begins, and what it is when the run is over. */
import type { InlinedWorkflow } from "@nodeloom/kernel";
import type { RunStatus, OutboxEntry } from "./states";
import { type WebhookState, newWebhookState } from "./delivery";
import type { FinalStatus, NodeState, Refusal, RunError, RunInput, RunEnd, StoredText } from "./types";
import { elapsed, endEvents, runEvent, type ExecutionEvent } from "./events";
import type { Approvals } from "./approvals";

export type StoredEvents = StoredText & { count: number };

export interface Costs {
  costMicroUsd: number;
  userCostMicroUsd: number;
}

/** What a row has of what its workflow is started with. */
type Given = "userId" | "workflowSlug" | "version" | "modelIds" | "source" | "keyId" | "holdId" | "mode" | "baseTier" | "attempt";

export interface ExecutionRecord extends Pick<RunInput, Given>, Approvals {
  _id: string;
  markupPermille: number;
  status: RunStatus;
  /** Set once the run has decided how it ends; from then on it can't be cancelled. */
  ending: FinalStatus | null;
  requestId: string | null;
  /** JSON text: result keys are the users' own. */
  resultJson: string | null;
  /** Where a result is kept that is long: `resultJson` is null then. */
  resultHash?: string;
  error: RunError | null;
  webhook: WebhookState | null;
  /** As they were when the run began, and as they are when it is over. In between its log says how far they have come. */
  nodes: NodeState[];
  /** Where nodes are kept that are many: `nodes` is empty then. */
  nodesHash?: string;
  /** The newest of the log. */
  events: ExecutionEvent[];
  /** What was logged before that and is too long for the row, oldest first. */
  logParts?: StoredEvents[];
  /** What the run's end added to the log, where that is long. */
  closing?: StoredEvents;
  millicredits: number;
  grantUsed: boolean;
  createdAt: Date;
  finishedAt: Date | null;
  durationMs: number | null;
  /** When it was last known that something carries the run. */
  seenRunningAt: Date;
  /** What the last transition left to be done. */
  outbox: OutboxEntry[];
  /** Set while anything is undelivered or undecided: what the relay looks at. */
  unsettled?: true;
  /** The workflow run that claimed the row. */
  claimedBy?: string;
  refusal?: Refusal | null;
  refusedAt?: Date;
  /** When the row may be forgotten: refused ones only. */
  expiresAt?: Date;
  /** What was asked for, of requests that may be repeated. */
  fingerprint?: string;
  /** The client's request that began this attempt. */
  requestToken?: string;
  /** How its client was answered, where that can't be read off the row: 202 for a synchronous run, the error of an asynchronous one. */
  answered?: "accepted" | "failure";
  /** What a run that waits in the queue is started with. */
  runInput?: StoredText;
  inputBytes?: number;
  queuedAt?: Date;
  inputs?: StoredText;
  /** The graph that ran, of a workflow. */
  graph?: StoredText;
  /** The node that it ran to. Empty, or absent: everything. */
  until?: string;
  /** Of a text model: the JSON Schema of its answer. */
  schema?: StoredText;
  /** Of a rerun: the execution that it is one of, and those that it may take calls over from, the nearest first. */
  rerun?: { of: string; sources: string[] };
  /** The client's own names for the run: see `metadataKeys`. */
  metadata?: string[];
  /** Workflows whose nodes were a part of it. */
  inlined?: readonly InlinedWorkflow[];
  /** Prompts and settings are kept with the files that are made. */
  provenance?: "full";
  /** The user may read no more of the graph than its schema: only the result, costs and errors are shown. */
  graphHidden?: true;
  /** The person who started it, where the user is an organization. */
  personId?: string;
  /** Of an item of a batch. */
  batchId?: string;
  index?: number;
  costs?: Costs;
  modelCredits?: { model: string; millicredits: number }[];
}

const SEPARATOR = "\u0000";
/** Names and values as they are stored and searched for: one text each, for clients' names may have dots. */
export const metadataKeys = (metadata: Readonly<Record<string, string>>): string[] =>
  Object.entries(metadata).map(([name, value]) => name + SEPARATOR + value);
export const metadataOf = (keys: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(
    keys.map((key) => {
      const end = key.indexOf(SEPARATOR);
      return [key.slice(0, end), key.slice(end + 1)];
    }),
  );

export type ExecutionView = Omit<ExecutionRecord, "events">;

export type FinalState = Pick<ExecutionRecord, "resultHash" | "nodesHash" | "closing" | "costs" | "modelCredits"> &
  Pick<ExecutionRecord, "resultJson" | "error" | "nodes" | "millicredits" | "grantUsed" | "finishedAt" | "durationMs"> & {
    status: FinalStatus;
    requestId?: string;
    /** With those that were called in the place of others. */
    modelIds?: string[];
  };

export interface Charged {
  millicredits: number;
  grantUsed: boolean;
  costs: Costs;
  modelCredits?: { model: string; millicredits: number }[];
}

export const settledEvent = ({ status, error }: Pick<RunEnd, "status" | "error">): ExecutionEvent => runEvent("settled", { status, error });

/** What a client asked for, beside the run itself. */
export type RunRecordPart = Pick<
  ExecutionRecord,
  "fingerprint" | "requestToken" | "inputs" | "metadata" | "graph" | "until" | "schema" | "rerun" | "personId"
>;

export const newRecord = (input: RunInput, nodes: NodeState[], part: RunRecordPart = {}): ExecutionRecord => {
  const { executionId, userId, workflowSlug, version, modelIds, source, keyId, holdId, mode, webhook, attempt, baseTier } = input;
  const admitted = runEvent("admitted", { workflowSlug, modelIds });
  return {
    ...{ _id: executionId, userId, workflowSlug, modelIds, source, keyId, holdId, mode, attempt, baseTier },
    ...(version === undefined ? {} : { version }),
    markupPermille: input.plan.markupPermille,
    status: "accepted",
    ending: null,
    requestId: null,
    resultJson: null,
    error: null,
    webhook: webhook && newWebhookState(webhook),
    nodes,
    events: [admitted, ...endEvents(nodes, admitted.at)],
    ...{ millicredits: 0, grantUsed: false },
    createdAt: new Date(input.receivedAt),
    finishedAt: null,
    durationMs: null,
    seenRunningAt: new Date(),
    outbox: [],
    unsettled: true,
    ...(input.provenance ? { provenance: input.provenance } : {}),
    ...(input.plan.graphHidden ? { graphHidden: true as const } : {}),
    ...(input.plan.inlined ? { inlined: input.plan.inlined } : {}),
    ...input.batch,
    ...part,
  };
};

export const finalState = (
  { receivedAt, modelIds = [] }: Pick<RunInput, "receivedAt"> & Partial<Pick<RunInput, "modelIds">>,
  end: RunEnd,
  charge: Charged,
): FinalState => {
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
    ...(end.usedAlternatives ? { modelIds: [...new Set([...modelIds, ...end.usedAlternatives])] } : {}),
  };
};

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
