import type { BaseTier, DomainError, HoldItem, MediaValue, Reason, RunPlan, Reported } from "@nodeloom/kernel";

/** Type of the Temporal workflow of a run. */
export const RUN_WORKFLOW = "executeGraph";

/** JSON text: inside the row if it is short, else a payload of its own. */
export type StoredText = { json: string } | { hash: string };

/** Input of `executeGraph`. Plain JSON without secrets. */
export interface RunInput {
  executionId: string;
  userId: string;
  /** Sync callers wait for the end, async callers for the first submission. */
  mode: "sync" | "async";
  workflowSlug: string | null;
  /** Published version; absent for the draft, and for models. */
  version?: number | undefined;
  /** The alias that selected the version; absent for a version named by its number, for the draft, and for models. */
  alias?: string | undefined;
  source: string;
  /** Key that submitted the run; null for a session. */
  keyId: string | null;
  webhook: { url: string; events: string[]; form?: string; isOwn?: true } | null;
  /** Events that webhook endpoints of the user want; absent for none. */
  endpointEvents?: string[];
  /** The built-in tier whose rights the user has. */
  baseTier: BaseTier;
  /** Executions the user can have in flight; 0: unlimited. */
  concurrency: number;
  plan: RunPlan;
  modelIds: string[];
  holds: HoldItem[];
  /** Days for which the run is kept after its end; absent for the installation's. */
  retentionDays?: number;
  /** The caller's limit for the run; undefined: none. */
  maxMillicredits?: number | undefined;
  /** Metadata of caller and key; absent if there is none. */
  metadata?: Record<string, string>;
  /** Billing's id for this attempt. */
  holdId: string;
  attempt: number;
  held: HeldItem[];
  /** Prompts and settings are stored with the files that the run creates. */
  provenance?: "full";
  /** For a rerun. */
  reuse?: Reuse;
  /** Position in a batch; absent for a single run. */
  batch?: BatchPlace;
  /** Milliseconds since the epoch: when the request was received. */
  receivedAt: number;
}

/** Outputs of earlier calls that a rerun reuses for equal requests. */
export interface Reuse {
  /** Executions, nearest first. */
  sources: string[];
  /** Nodes whose calls are made again. */
  again: string[];
  /** Nodes whose HTTP requests or decisions are reused as well. */
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

/** Why a run or a node failed. Clients see `code`. */
export interface RunError {
  code: Reason;
  message: string;
  nodeId?: string;
  /** Index of the item in a fan-out. */
  item?: number;
  providerStatus?: number;
  providerBody?: string;
  /** The failure counts against this, unless its code says so; without it, against the platform. Only operators see it. */
  fault?: "provider" | "input";
  /** Replaces a message that quotes values of the graph, for callers who can't read it. */
  publicMessage?: string;
}

export type NodeStatus = "pending" | "processing" | "completed" | "failed" | "cancelled" | "skipped";

/** Results of cancelling a running node, from best to worst. */
export const CANCEL_REPORTS = ["stopped", "provider_told", "could_not_stop"] as const;
export type CancelReport = (typeof CANCEL_REPORTS)[number];

/** Failure type of an activity that found the cancellation before its workflow. Recorded histories contain it. */
export const RUN_CANCELLED = "CALLED_OFF";

/** Tokens that providers counted. */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
}

/** Includes outputs of nodes that the run itself evaluates. */
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
  /** Number of calls, and how many are done. */
  items: number;
  itemsDone: number;
  /** Execution that made the node's only call, if its output was reused. */
  reusedFrom?: string;
  /** Sum over the calls of a text model; absent if its provider doesn't count. */
  usage?: TokenUsage;
  /** Texts that ended at the maximum of tokens. */
  cutTexts?: number;
  /** Distinct warnings of file operations. */
  callWarnings?: string[];
  /** Items left out because their calls failed. */
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
  /** Keys of submitted calls without an end. */
  underWay?: string[];
  /** Holds beyond the run's first hold, because lists were longer than expected. */
  extended?: HeldItem[];
  /** Fallback models that were called successfully. */
  usedAlternatives?: string[];
}

/** Serializable domain error: why a run wasn't started. */
export type Refusal = Pick<DomainError, "kind" | "reason" | "message" | "metadata">;

/** Result of the workflow. `unclaimed`: the run belonged to another workflow. */
export type RunOutcome = { unclaimed: true } | { status: FinalStatus; millicredits: number };

/** One call of a provider inside a run. `key` is its idempotency key. */
export interface CallContext {
  executionId: string;
  userId: string;
  /** Owner of the files that it creates, if that isn't the user; see `innerOwner`. */
  ownerId?: string;
  nodeId: string;
  label?: string;
  nodeIndex: number;
  item: number;
  items: number;
  /** First item with a call, if that isn't 0. */
  firstItem?: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** `<executionId>:<nodeId>:<item>`, then the part added by `alternativeKey`. */
  key: string;
  /** For a node with fallbacks: which model is called (0: its own), and whether it is the last one. */
  alternative?: { place: number; model: string; isLast: boolean };
  /** If the call fails, the item is left out and the node goes on. */
  isSkippable?: true;
}

/** True for the first call of a node. */
export const isFirstCall = ({ item, firstItem = 0, alternative }: CallContext): boolean => item === firstItem && !alternative?.place;

export interface CallResult {
  /** For media models. */
  files: MediaValue[];
  /** For text models. */
  text: string | null;
  /** JSON in the text, if it was requested and fits its schema. */
  json?: { value: unknown };
  /** The text ended at the maximum of tokens. */
  isCut?: true;
  /** Why the text doesn't fit the requested schema. */
  problems?: string[];
  costMicroUsd: number;
  requestId: string | null;
  /** For text models whose provider counts tokens. */
  usage?: TokenUsage;
}

/** Identifies equal requests. */
export interface Asked {
  /** Covers model, entry and settings, with numbers in place of files in our storage. */
  digest: string;
  /** Addresses of those files. */
  files: string[];
}
