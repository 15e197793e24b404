/** The row of a run. */
import type { InlinedWorkflow } from "@nodeloom/kernel";
import type { RunStatus, OutboxEntry } from "./states";
import { type WebhookState, newWebhookState } from "./delivery";
import type { FinalStatus, NodeState, Refusal, RunError, RunInput, RunEnd, StoredText } from "./types";
import { elapsed, endEvents, runEvent, type ExecutionEvent } from "./events";
import type { Approvals } from "./approvals";
import { eraseAtEnd } from "./retention";

export type StoredEvents = StoredText & { count: number };

export interface Costs {
  costMicroUsd: number;
  userCostMicroUsd: number;
}

/** Members that the row shares with the workflow's input. */
type Given =
  | ("userId" | "workflowSlug" | "version" | "alias" | "modelIds" | "source" | "keyId" | "holdId" | "mode" | "baseTier" | "attempt")
  | ("retentionDays" | "endpointEvents");

export interface ExecutionRecord extends Pick<RunInput, Given>, Approvals {
  _id: string;
  markupPermille: number;
  status: RunStatus;
  /** Set once the run has decided how it ends; afterwards it can't be cancelled. */
  ending: FinalStatus | null;
  requestId: string | null;
  /** JSON text, because users choose the keys of results. */
  resultJson: string | null;
  /** Payload of a long result; `resultJson` is null then. */
  resultHash?: string;
  error: RunError | null;
  webhook: WebhookState | null;
  /** State at the start and at the end of the run. In between, the log has the progress. */
  nodes: NodeState[];
  /** Payload of a long list; `nodes` is empty then. */
  nodesHash?: string;
  /** The newest events of the log. */
  events: ExecutionEvent[];
  /** Earlier events that are too long for the row, oldest first. */
  logParts?: StoredEvents[];
  /** Events added by the run's end, if they are long. */
  closing?: StoredEvents;
  millicredits: number;
  grantUsed: boolean;
  createdAt: Date;
  finishedAt: Date | null;
  durationMs: number | null;
  /** When something was last known to carry the run. */
  seenRunningAt: Date;
  /** Work owed by the last transition. */
  outbox: OutboxEntry[];
  /** Set while anything is undelivered or undecided, for the relay. */
  unsettled?: true;
  /** The workflow run that claimed the row. */
  claimedBy?: string;
  refusal?: Refusal | null;
  refusedAt?: Date;
  /** When the row can be deleted; refused runs only. */
  expiresAt?: Date;
  /** Digest of the request, if it can be repeated. */
  fingerprint?: string;
  /** The request that started this attempt. */
  requestToken?: string;
  /** How the client was answered, if the row doesn't show it: 202 for a synchronous run, the error of an asynchronous one. */
  answered?: "accepted" | "failure";
  /** Input of a queued run. */
  runInput?: StoredText;
  inputBytes?: number;
  queuedAt?: Date;
  inputs?: StoredText;
  /** For a workflow: the graph that ran. */
  graph?: StoredText;
  /** Node to run to. Empty or absent: all. */
  until?: string;
  /** For a text model: JSON Schema of its answer. */
  schema?: StoredText;
  /** For a rerun: its source, and the executions that it can reuse calls from, nearest first. */
  rerun?: { of: string; sources: string[] };
  /** Metadata of the client; see `metadataKeys`. */
  metadata?: string[];
  /** Workflows that were inlined. */
  inlined?: readonly InlinedWorkflow[];
  /** Prompts and settings are stored with the files that the run creates. */
  provenance?: "full";
  /** The user can only read the graph's schema, so nothing but the result, costs and errors is shown. */
  graphHidden?: true;
  /** The person who started it, if the user is an organization. */
  personId?: string;
  /** For an item of a batch. */
  batchId?: string;
  index?: number;
  costs?: Costs;
  modelCredits?: { model: string; millicredits: number }[];
  /** Cost that was expected when the credits were held; absent if nothing was held. */
  estimatedMillicredits?: number;
  /** Keys and ids of stored files that its inputs and its graph name. */
  uses?: string[];
  /** When a final run is emptied or erased because of `retentionDays`; absent for an item that follows its batch. */
  eraseAt?: Date;
  /** Kept for 0 days, and over: nothing is left but its status, its result and its amounts. */
  isEmptied?: true;
  /** When it was erased. */
  erasedAt?: Date;
  /** Leads to what is still to be removed of an erased run. */
  remains?: Remains;
}

/** What leads to what is kept beside the row of an erased run. */
export interface Remains {
  /** The hash of its graph, and those of its other long texts: other rows of its user may name them. */
  graph?: string;
  texts: string[];
  uses: string[];
  batchId?: string;
  index?: number;
  /** Kept files are removed, too. */
  withKept?: true;
  /** Its time was over: its usage keeps the metadata that costs are told apart by. */
  isExpired?: true;
  /** The erasure of many runs that it is part of. */
  erasure?: string;
}

const SEPARATOR = "\u0000";
/** Metadata as stored and searched: one text per pair, because names can contain dots. */
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

export type FinalState = Pick<
  ExecutionRecord,
  "resultHash" | "nodesHash" | "closing" | "costs" | "modelCredits" | "estimatedMillicredits" | "eraseAt"
> &
  Pick<ExecutionRecord, "resultJson" | "error" | "nodes" | "millicredits" | "grantUsed" | "finishedAt" | "durationMs"> & {
    status: FinalStatus;
    requestId?: string;
    /** Includes fallbacks that were called. */
    modelIds?: string[];
  };

export interface Charged {
  millicredits: number;
  grantUsed: boolean;
  costs: Costs;
  modelCredits?: { model: string; millicredits: number }[];
  estimatedMillicredits?: number;
}

export const settledEvent = ({ status, error }: Pick<RunEnd, "status" | "error">): ExecutionEvent => runEvent("settled", { status, error });

/** Options of the request besides the run itself. */
export type RunRecordPart = Pick<
  ExecutionRecord,
  "fingerprint" | "requestToken" | "inputs" | "metadata" | "graph" | "until" | "schema" | "rerun" | "personId" | "uses"
>;

export const newRecord = (input: RunInput, nodes: NodeState[], part: RunRecordPart = {}): ExecutionRecord => {
  const { executionId, userId, workflowSlug, version, alias, modelIds, source, keyId, holdId, mode, webhook, attempt, baseTier } = input;
  const { retentionDays, endpointEvents } = input;
  const admitted = runEvent("admitted", { workflowSlug, modelIds });
  return {
    ...{ _id: executionId, userId, workflowSlug, modelIds, source, keyId, holdId, mode, attempt, baseTier },
    ...(version === undefined ? {} : { version }),
    ...(alias === undefined ? {} : { alias }),
    ...(retentionDays === undefined ? {} : { retentionDays }),
    markupPermille: input.plan.markupPermille,
    status: "accepted",
    ending: null,
    requestId: null,
    resultJson: null,
    error: null,
    webhook: webhook && newWebhookState(webhook),
    ...(endpointEvents ? { endpointEvents } : {}),
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
  {
    receivedAt,
    modelIds = [],
    retentionDays,
    isItem,
  }: Pick<RunInput, "receivedAt"> & Partial<Pick<RunInput, "modelIds" | "retentionDays">> & { isItem: boolean },
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
    ...eraseAtEnd(retentionDays, isItem, finishedAt),
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
