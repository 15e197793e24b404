/** What runs are made of: what they are started with, their nodes, their calls and their ends. */
import type { BaseTier, DomainError, HoldItem, MediaValue, Reason, RunPlan, Reported } from "@nodeloom/kernel";

/** The type of the Temporal workflow that carries a run. */
export const RUN_WORKFLOW = "executeGraph";

/** JSON text that is kept in the row while it is short, and as a payload of its own when it is not. */
export type StoredText = { json: string } | { hash: string };

/** Everything `executeGraph` is started with. Plain JSON; carries no secret. */
export interface RunInput {
  executionId: string;
  userId: string;
  /** Sync callers wait for the end, async callers for the first submission. */
  mode: "sync" | "async";
  workflowSlug: string | null;
  /** The published version of the workflow; absent for the draft, and for models. */
  version?: number | undefined;
  source: string;
  /** The key that submitted the run; null for a session. */
  keyId: string | null;
  webhook: { url: string; events: string[] } | null;
  /** The built-in tier whose rights the user has. */
  baseTier: BaseTier;
  /** Executions the user may have in flight; 0 means unlimited. */
  concurrency: number;
  plan: RunPlan;
  modelIds: string[];
  holds: HoldItem[];
  /** The most the run may cost in credits; undefined means as much as there is. */
  maxMillicredits?: number | undefined;
  /** The caller's names for the run, with what the key fixes; absent where there are none. */
  metadata?: Record<string, string>;
  /** What billing knows this attempt at the run by. */
  holdId: string;
  attempt: number;
  held: HeldItem[];
  /** Prompts and settings are kept with the files that are made. */
  provenance?: "full";
  /** Of a rerun. */
  reuse?: Reuse;
  /** Where it stands in a batch; absent for a run by itself. */
  batch?: BatchPlace;
  /** Milliseconds since the epoch: when the request was received. */
  receivedAt: number;
}

/** What a rerun reuses from earlier runs: outputs of calls that ask for the same. */
export interface Reuse {
  /** Executions, the nearest first. */
  sources: string[];
  /** Nodes whose calls are made again. */
  again: string[];
  /** Nodes whose HTTP requests, or decisions, are reused, too. */
  requests: string[];
}

export interface BatchPlace {
  batchId: string;
  index: number;
}

export interface HeldItem {
  key: string;
  source: "grant" | "credits";
  millicredits: number;
}

/** Why a run or a node ended badly. `code` is what clients see. */
export interface RunError {
  code: Reason;
  message: string;
  nodeId?: string;
  /** Of a fan-out: which of its items. */
  item?: number;
  providerStatus?: number;
  providerBody?: string;
  /** In place of a message that quotes values of the graph, for those who can't read it. */
  publicMessage?: string;
}

export type NodeStatus = "pending" | "processing" | "completed" | "failed" | "cancelled" | "skipped";

/** What happened when a running node was cancelled, from good to bad. */
export const CANCEL_REPORTS = ["stopped", "provider_told", "could_not_stop"] as const;
export type CancelReport = (typeof CANCEL_REPORTS)[number];

/** The type of failure of an activity that found its run being cancelled, before the workflow had heard of that. Histories name it. */
export const RUN_CANCELLED = "CALLED_OFF";

/** Tokens that providers counted. */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
}

/** With the outputs of nodes that the run itself evaluates. */
export interface NodeState extends Reported {
  id: string;
  type: string;
  label?: string;
  status: NodeStatus;
  /** Milliseconds since the epoch. */
  startedAt: number | null;
  durationMs: number | null;
  millicredits: number;
  error: RunError | null;
  requestId: string | null;
  warnings: string[];
  cancelReport: CancelReport | null;
  /** Calls the node makes and how many of them are done. */
  items: number;
  itemsDone: number;
  /** The execution that made the node's one call, where its output was reused. */
  reusedFrom?: string;
  /** Of all calls of a text model that were made; absent where its provider counts none. */
  usage?: TokenUsage;
  /** Texts of a text model that ended where the most tokens were reached. */
  cutTexts?: number;
  /** What operations on files warned of, each sentence once. */
  callWarnings?: string[];
  /** Items that were left out because their calls failed. */
  itemErrors?: { item: number; error: RunError }[];
}

export interface CompletedCall {
  key: string;
  nodeId: string;
  costMicroUsd: number;
}

export type FinalStatus = "completed" | "failed" | "cancelled";

export interface RunEnd {
  status: FinalStatus;
  result: Record<string, unknown> | null;
  error: RunError | null;
  requestId: string | null;
  nodes: NodeState[];
  completed: CompletedCall[];
  /** Keys of calls that were submitted and not seen to end. */
  underWay?: string[];
  /** What was held beyond the run's first hold, because lists turned out longer. */
  extended?: HeldItem[];
  /** Models that were called in the place of others, with success. */
  usedAlternatives?: string[];
}

/** An error of ours as plain values: why a run was not begun. */
export type Refusal = Pick<DomainError, "kind" | "reason" | "message" | "metadata">;

/** What the workflow records as its result. `unclaimed`: the run was not its own to carry. */
export type RunOutcome = { unclaimed: true } | { status: FinalStatus; millicredits: number };

/** One call of a provider inside a run. `key` is its idempotency key. */
export interface CallContext {
  executionId: string;
  userId: string;
  /** Whose the files are that it makes, where that is not the user: see `innerOwner`. */
  ownerId?: string;
  nodeId: string;
  label?: string;
  nodeIndex: number;
  item: number;
  items: number;
  /** The first item that is called for, where that is not 0. */
  firstItem?: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** `<executionId>:<nodeId>:<item>`, with what `alternativeKey` puts behind it. */
  key: string;
  /** Of a node with alternatives to its model: which one is called, 0 being its own, and whether none is left after it. */
  alternative?: { place: number; model: string; isLast: boolean };
  /** A failure leaves the item out, and the node goes on. */
  isSkippable?: true;
}

/** True if a call is the first of its node. */
export const isFirstCall = ({ item, firstItem = 0, alternative }: CallContext): boolean => item === firstItem && !alternative?.place;

export interface CallResult {
  /** Files, for media models. */
  files: MediaValue[];
  /** Text, for text models. */
  text: string | null;
  /** What the text says, where it was asked for as JSON and fits its schema. */
  json?: { value: unknown };
  /** The text ended where the most tokens were reached. */
  isCut?: true;
  /** Why the text does not fit the schema that it was asked for by. */
  problems?: string[];
  costMicroUsd: number;
  requestId: string | null;
  /** Of text models whose provider counts them. */
  usage?: TokenUsage;
}

/** What a call asks for, so that the same call is known again. */
export interface Asked {
  /** Of model, entry and settings, in which the files of our storage are numbered. */
  digest: string;
  /** The addresses of those files. */
  files: string[];
}
