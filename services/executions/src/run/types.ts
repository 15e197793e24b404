import type { BaseTier, DomainError, HoldItem, MediaValue, Reason, RunPlan, ReportedOutputs } from "@nodeloom/kernel";

export const RUN_WORKFLOW = "executeGraph";

/** A JSON text. A short text is stored in the row, a long text in a payload. */
export type StoredText = { json: string } | { hash: string };

/** Input of `executeGraph`. Plain JSON without secrets. */
export interface RunInput {
  executionId: string;
  userId: string;
  /** Synchronous callers wait for the end. Asynchronous callers wait for the first submission. */
  mode: "sync" | "async";
  workflowSlug: string | null;
  /** Published version; absent for the draft and for models. */
  version?: number | undefined;
  /** Alias that selected the version; absent for the draft, for models, and for a version selected by number. */
  alias?: string | undefined;
  source: string;
  /** Key that submitted the run; null for a session. */
  keyId: string | null;
  webhook: { url: string; events: string[]; form?: string; isOwn?: true } | null;
  /** Events to which the user's webhook endpoints are subscribed; absent if there are none. */
  endpointEvents?: string[];
  /** Built-in tier that defines the user's rights. */
  baseTier: BaseTier;
  /** Maximum executions of the user in flight; 0 for unlimited. */
  concurrency: number;
  plan: RunPlan;
  modelIds: string[];
  holds: HoldItem[];
  /** Days for which the run is kept after its end; absent for the installation's default. */
  retentionDays?: number;
  /** The caller's limit for the run; undefined if there is none. */
  maxMillicredits?: number | undefined;
  /** Metadata of caller and key; absent if there is none. */
  metadata?: Record<string, string>;
  /** Id of this attempt's hold in billing. */
  holdId: string;
  attempt: number;
  held: HeldItem[];
  /** Set if prompts and settings are stored with the files that the run creates. */
  provenance?: "full";
  /** Set for a rerun. */
  reuse?: Reuse;
  /** Position in a batch; absent for a single run. */
  batch?: BatchPlace;
  /** Set for a run by an alias with a canary. */
  canary?: CanaryRun;
  /** When the request was received, in milliseconds since the epoch. */
  receivedAt: number;
}

/** Options of a rerun: reuse outputs of earlier calls for equal requests. */
export interface Reuse {
  /** Executions in order of preference. */
  sources: string[];
  /** Nodes whose calls are made again. */
  again: string[];
  /** Nodes whose HTTP requests or decisions are also reused. */
  requests: string[];
}

/** The part of a run in the comparison of a canary with its alias's version. */
export interface CanaryRun {
  /** Id of the canary. */
  id: string;
  /** `canary`: the run is the canary's. */
  arm: "base" | "canary";
  /** Set if the canary's version couldn't be planned. The run then uses the alias's version, and counts as failed by the canary. */
  isUnplanned?: true;
  /** Set if credits of the canary are reserved for the run. */
  isReserved?: true;
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

/** Reason why a run or a node failed. Clients see `code`. */
export interface RunError {
  code: Reason;
  message: string;
  nodeId?: string;
  /** Index of the item in a fan-out. */
  item?: number;
  providerStatus?: number;
  providerBody?: string;
  /** Party that caused the failure, unless the code says so; absent for the platform. Only operators see it. */
  fault?: "provider" | "input";
  /** Message for callers who can't read the graph, if `message` quotes values of the graph. */
  publicMessage?: string;
}

export type NodeStatus = "pending" | "processing" | "completed" | "failed" | "cancelled" | "skipped";

/** Results of cancelling a running node, from best to worst. */
export const CANCEL_REPORTS = ["stopped", "provider_told", "could_not_stop"] as const;
export type CancelReport = (typeof CANCEL_REPORTS)[number];

/** Failure type of an activity that noticed the cancellation before its workflow. Recorded histories contain it. */
export const RUN_CANCELLED = "CALLED_OFF";

/** Numbers of tokens that the provider counted. */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
}

/** State of a node. It includes outputs of nodes that the run itself evaluates. */
export interface NodeState extends ReportedOutputs {
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
  /** Number of calls, and number of completed calls. */
  items: number;
  itemsDone: number;
  /** Execution that made the node's only call, if its output was reused. */
  reusedFrom?: string;
  /** Sum over the calls of a text model; absent if its provider doesn't count tokens. */
  usage?: TokenUsage;
  /** Number of texts that ended at the maximum number of tokens. */
  cutTexts?: number;
  /** Distinct warnings of file operations. */
  callWarnings?: string[];
  /** Items that are left out because their calls failed. */
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
  /** Keys of submitted calls whose outcome isn't known. */
  underWay?: string[];
  /** Holds in addition to the run's first hold, because lists were longer than expected. */
  extended?: HeldItem[];
  /** Fallback models that were called successfully. */
  usedAlternatives?: string[];
}

/** Serializable domain error: the reason why a run wasn't started. */
export type Refusal = Pick<DomainError, "kind" | "reason" | "message" | "metadata">;

/** Result of the workflow. `unclaimed`: the run belonged to another workflow. */
export type RunOutcome = { unclaimed: true } | { status: FinalStatus; millicredits: number };

/** One call inside a run. Its `key` is the idempotency key. */
export interface CallContext {
  executionId: string;
  userId: string;
  /** Owner of the files that the call creates, if the owner isn't the user; see `innerOwner`. */
  ownerId?: string;
  nodeId: string;
  label?: string;
  nodeIndex: number;
  item: number;
  items: number;
  /** Index of the first item with a call, if it isn't 0. */
  firstItem?: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** `<executionId>:<nodeId>:<item>`, followed by the part that `alternativeKey` adds. */
  key: string;
  /** For a node with fallbacks: the model that is called (0: its own), and `isLast` for the last alternative. */
  alternative?: { place: number; model: string; isLast: boolean };
  /** Set if the item is left out when its call fails, so that the node continues. */
  isSkippable?: true;
  /** Set if the call's files can be found by its texts, and by the name of the run's workflow (empty for a model's run). */
  findableIn?: string;
}

/** True for the first call of a node. */
export const isFirstCall = ({ item, firstItem = 0, alternative }: CallContext): boolean => item === firstItem && !alternative?.place;

export interface CallResult {
  /** Output files of a media model. */
  files: MediaValue[];
  /** Output of a text model. */
  text: string | null;
  /** JSON in the text, if it was requested and matches its schema. */
  json?: { value: unknown };
  /** Set if the text ended at the maximum number of tokens. */
  isCut?: true;
  /** Reasons why the text doesn't match the requested schema. */
  problems?: string[];
  costMicroUsd: number;
  requestId: string | null;
  /** Set for text models whose provider counts tokens. */
  usage?: TokenUsage;
}

/** Identifies equal requests, so that their calls can be reused. */
export interface CallFingerprint {
  /** Digest of model, entry and settings, with numbers in place of stored files. */
  digest: string;
  /** Addresses of the stored files. */
  files: string[];
}
