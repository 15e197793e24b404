/** The row of a run. */
import { erasedAfter, type InlinedWorkflow, type Route } from "@nodeloom/kernel";
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

/** Members of the row that are also in the workflow's input. */
type InputMembers =
  | ("userId" | "workflowSlug" | "version" | "alias" | "modelIds" | "source" | "keyId" | "holdId" | "mode" | "baseTier" | "attempt")
  | ("retentionDays" | "endpointEvents" | "canary");

export interface ExecutionRecord extends Pick<RunInput, InputMembers>, Approvals {
  _id: string;
  markupPermille: number;
  status: RunStatus;
  /** Set when the run has decided how it ends. Afterwards the run can't be cancelled. */
  ending: FinalStatus | null;
  requestId: string | null;
  /** A JSON text, because users choose the keys of results. */
  resultJson: string | null;
  /** Payload of a long result. `resultJson` is null in that case. */
  resultHash?: string;
  error: RunError | null;
  webhook: WebhookState | null;
  /** State at the start or the end of the run. Progress during the run is in the log. */
  nodes: NodeState[];
  /** Payload of a long list. `nodes` is empty in that case. */
  nodesHash?: string;
  /** The newest events of the log. */
  events: ExecutionEvent[];
  /** Parts of the log with earlier events that don't fit into the row, oldest first. */
  logParts?: StoredEvents[];
  /** Events added when the run ended, if they don't fit into the row. */
  closing?: StoredEvents;
  millicredits: number;
  grantUsed: boolean;
  createdAt: Date;
  finishedAt: Date | null;
  durationMs: number | null;
  /** Time at which a workflow was last known to run the execution. */
  seenRunningAt: Date;
  /** Undelivered work of the last transition. */
  outbox: OutboxEntry[];
  /** Set while the relay has work: an undelivered entry, or an undecided run. */
  unsettled?: true;
  /** The workflow run that claimed the row. */
  claimedBy?: string;
  refusal?: Refusal | null;
  refusedAt?: Date;
  /** Time after which the row can be deleted; only for refused runs. */
  expiresAt?: Date;
  /** Digest of the request, if the request can be repeated. */
  fingerprint?: string;
  /** Token of the request that started this attempt. */
  requestToken?: string;
  /** How the client was answered, if the row doesn't show it: 202 for a synchronous run, or the error of an asynchronous run. */
  answered?: "accepted" | "failure";
  /** Workflow input of a queued run. */
  runInput?: StoredText;
  inputBytes?: number;
  queuedAt?: Date;
  inputs?: StoredText;
  /** For a workflow: the graph that ran. */
  graph?: StoredText;
  /** Last node to run; empty or absent for all nodes. */
  until?: string;
  /** For a text model: JSON Schema of its answer. */
  schema?: StoredText;
  /** For a rerun: its source, and the executions whose calls can be reused, in order of preference. */
  rerun?: { of: string; sources: string[] };
  /** Metadata of the client; see `metadataKeys`. */
  metadata?: string[];
  inlined?: readonly InlinedWorkflow[];
  /** Models chosen for nodes that name a task. */
  routes?: readonly Route[];
  /** Set if prompts and settings are stored with the files that the run creates. */
  provenance?: "full";
  /** Set if the user can only read the graph's schema. The API then shows only result, costs and errors. */
  graphHidden?: true;
  /** Set if approvers get links by mail; see `RunPlan`. */
  mailsApprovers?: true;
  /** Person who started the run, if the user is an organization. */
  personId?: string;
  /** Set for an item of a batch. */
  batchId?: string;
  index?: number;
  costs?: Costs;
  modelCredits?: { model: string; millicredits: number }[];
  /** Estimated cost when the credits were held; absent if nothing was held. */
  estimatedMillicredits?: number;
  /** Keys and ids of stored files that the run's inputs and graph use. */
  uses?: string[];
  /** When a final run is emptied or erased because of `retentionDays`; absent for an item, which is erased with its batch. */
  eraseAt?: Date;
  /** Set after a run with a retention of 0 days has ended. Only its status, result and amounts remain. */
  isEmptied?: true;
  erasedAt?: Date;
  /** Data of an erased run that must still be removed. */
  remains?: Remains;
}

/** Data of an erased run that is stored outside its row and must be removed. */
export interface Remains {
  /** Hashes of the run's graph and other long texts. Other rows of the user may use them. */
  graph?: string;
  texts: string[];
  uses: string[];
  batchId?: string;
  index?: number;
  /** Set to also remove kept files. */
  withKept?: true;
  /** Set if the retention had ended. The run's usage row keeps the metadata that costs are grouped by. */
  isExpired?: true;
  /** Id of the erasure of many runs that this erasure belongs to. */
  erasure?: string;
}

const SEPARATOR = "\u0000";
/** Returns metadata as stored and searched: one text per pair, because names can contain dots. */
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

export interface RunCharge {
  millicredits: number;
  grantUsed: boolean;
  costs: Costs;
  modelCredits?: { model: string; millicredits: number }[];
  estimatedMillicredits?: number;
}

export const settledEvent = ({ status, error }: Pick<RunEnd, "status" | "error">): ExecutionEvent => runEvent("settled", { status, error });

/** Options of a request in addition to the run itself. */
export type RunRecordPart = Pick<
  ExecutionRecord,
  "fingerprint" | "requestToken" | "inputs" | "metadata" | "graph" | "until" | "schema" | "rerun" | "personId" | "uses"
>;

export const newRecord = (input: RunInput, nodes: NodeState[], part: RunRecordPart = {}): ExecutionRecord => {
  const { executionId, userId, workflowSlug, version, alias, modelIds, source, keyId, holdId, mode, webhook, attempt, baseTier } = input;
  const { retentionDays, endpointEvents, canary } = input;
  const admitted = runEvent("admitted", { workflowSlug, modelIds });
  return {
    ...{ _id: executionId, userId, workflowSlug, modelIds, source, keyId, holdId, mode, attempt, baseTier },
    ...(version === undefined ? {} : { version }),
    ...(alias === undefined ? {} : { alias }),
    ...(retentionDays === undefined ? {} : { retentionDays }),
    ...(canary ? { canary } : {}),
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
    ...(input.plan.mailsApprovers ? { mailsApprovers: true as const } : {}),
    ...(input.plan.inlined ? { inlined: input.plan.inlined } : {}),
    ...(input.plan.routes ? { routes: input.plan.routes } : {}),
    ...input.batch,
    ...part,
  };
};

/** Returns when a run is erased or emptied after its end. An item is erased with its batch, unless it is emptied at its end. */
export const eraseAtEnd = (retentionDays: number | undefined, isItem: boolean, finishedAt: Date): { eraseAt?: Date } => {
  if (retentionDays === undefined || (isItem && retentionDays > 0)) return {};
  return { eraseAt: retentionDays === 0 ? finishedAt : erasedAfter(retentionDays, finishedAt) };
};

export const finalState = (
  {
    receivedAt,
    modelIds = [],
    retentionDays,
    isItem,
  }: Pick<RunInput, "receivedAt"> & Partial<Pick<RunInput, "modelIds" | "retentionDays">> & { isItem: boolean },
  end: RunEnd,
  charge: RunCharge,
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

export const FREE: RunCharge = { millicredits: 0, grantUsed: false, costs: { costMicroUsd: 0, userCostMicroUsd: 0 } };
