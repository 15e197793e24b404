import { publicError } from "@nodeloom/kernel";
import type { BatchReason } from "./batch-reasons";
import type { BatchTest, ItemMeasurements } from "./batch-tests";
import type { ExecutionView } from "./record";
import type { DeliveryState } from "./delivery";
import type { FinalStatus, StoredText } from "./types";
import type { Runner, Target } from "./runner";

export const BATCH = {
  fileColumns: 200,
  /** Maximum items under way if the tier sets no limit. */
  concurrency: 100,
  /** Maximum items under way if planning completes them, because they need no place. */
  placelessAtOnce: 8,
  /** Maximum problems listed in an error. */
  problems: 100,
} as const;

/**
 * States of a batch. Each change is one conditional update.
 *
 *   preparing ─► running ⇄ paused
 *                   └────────┴─► cancel_requested ─► cancelled
 *                   └─► completed | failed
 *
 * `preparing`: its rows are being written, and the batch isn't visible. `failed`: the batch stops at the first error, and an item failed.
 */
export type BatchStatus = "preparing" | "running" | "paused" | "cancel_requested" | "completed" | "failed" | "cancelled";

export const OPEN_BATCHES: readonly BatchStatus[] = ["running", "paused", "cancel_requested"];
export const FINAL_BATCHES: readonly BatchStatus[] = ["completed", "failed", "cancelled"];

/** An item that has started or is about to, and its reserved credits. */
export interface UnderWay {
  index: number;
  reserved: number;
}

export const BATCH_COMPLETED = "batch.completed";

export interface BatchWebhook {
  url: string;
  state: DeliveryState;
  attempts: number;
  deliveredAt: Date | null;
  lastError: string | null;
  /** Set if notifications has the delivery state. */
  isHandedOver?: true;
  /** Set if the webhook comes from the batch request. It replaces the key's webhook. */
  isOwn?: true;
}

export interface BatchRecord {
  _id: string;
  userId: string;
  status: BatchStatus;
  reason: BatchReason | null;
  /** Set while a running batch waits for the provider of a model. */
  outage?: { model: string; since: Date };
  target: Target;
  /** For a workflow: version that the items run. */
  version: string;
  /** Alias that selected the version; absent if no alias was used. */
  alias?: string;
  /** For a workflow: graphs of the items as JSON; see `PinnedGraphs`. */
  graph?: StoredText;
  /** For a workflow: last node to run; absent for all nodes. */
  until?: string;
  /** State of the caller when they created or last resumed the batch. Changes of the tier are looked up. */
  runner: Runner;
  total: number;
  /** Index of the next item to start, after the items in `again`. */
  next: number;
  /** Items that couldn't start in their turn and are started again. */
  again: number[];
  underWay: UnderWay[];
  counts: Record<FinalStatus, number>;
  /** Cost of ended items in millicredits. */
  spent: number;
  /** `spent` plus the reserved credits of items under way. */
  committed: number;
  maxMillicredits?: number;
  /** Quote at creation. */
  price: { estimated: number; isExact: boolean };
  /** True if planning completes the items, so that they need no places. */
  isPlaceless: boolean;
  /** The owner's limit on items under way; 0 for no limit. */
  concurrency: number;
  stopsOnError: boolean;
  itemWebhooks: boolean;
  /** See `metadataKeys`. */
  metadata: string[];
  webhook: BatchWebhook | null;
  fingerprint?: string;
  rerunOf?: string;
  /** Days for which the batch and its items are kept after its end; absent for the installation's default. */
  retentionDays?: number;
  eraseAt?: Date;
  createdAt: Date;
  /** When another caller resumed the batch; absent if the creator runs it. */
  grantedAt?: Date;
  finishedAt: Date | null;
  /** Set while the batch's workflow has work left. */
  isCarried?: true;
  test?: BatchTest;
}

export interface BatchRow {
  /** `<batch>.<index>` */
  _id: string;
  batchId: string;
  index: number;
  /** JSON of an `ItemInput`. */
  input: StoredText;
  /** Hold at the start in millicredits, and the maximum cost of the item. */
  price: number;
  most: number;
  /** Part of the price that trial grants were expected to pay; absent if none. */
  granted?: number;
  /** Models that the item's nodes call: one list of alternatives per node, without repetitions. */
  models?: string[][];
  status?: FinalStatus;
  millicredits?: number;
  error?: BatchReason;
  /** For a test: what was measured; absent if nothing was. */
  measured?: ItemMeasurements;
  /** Set if the run was erased: the input is empty, and the item isn't run again. */
  isErased?: true;
}

/** Inputs and settings of an item as JSON texts. */
export interface ItemInput {
  inputsJson: string;
  settingsJson: string;
  /** Executions whose calls can be reused, in order of preference; absent if none. */
  sources?: readonly string[] | undefined;
}

export interface ItemEnd extends Pick<BatchRow, "error"> {
  index: number;
  status: FinalStatus;
  millicredits: number;
}

export const itemEndOf = (index: number, { status, millicredits, error, graphHidden }: ExecutionView): ItemEnd => ({
  ...{ index, status: status as FinalStatus, millicredits },
  ...(error ? { error: { code: error.code, message: (graphHidden ? publicError(error) : error).message } } : {}),
});

/** True if no further items of a batch start. */
export const beginsNoMore = ({ status, stopsOnError, counts, next, again, total }: BatchRecord): boolean =>
  status !== "running" || (stopsOnError && counts.failed > 0) || (next >= total && again.length === 0);

/** Returns the final state of a batch with no item left to start and none under way. */
export const endOf = ({ status, stopsOnError, counts, next, again, total }: BatchRecord): FinalStatus => {
  if (status === "cancel_requested") return "cancelled";
  const isStopped = next < total || again.length > 0;
  return stopsOnError && counts.failed > 0 && isStopped ? "failed" : "completed";
};

/**
 * Number of a batch's items that can run concurrently: half of the tier's places, and at least one. @param places number of places of the
 * tier; 0 for unlimited
 */
export const itemsAtOnce = (batch: Pick<BatchRecord, "isPlaceless" | "concurrency">, places: number): number => {
  const wished = batch.concurrency === 0 ? BATCH.concurrency : batch.concurrency;
  if (batch.isPlaceless) return Math.min(wished, BATCH.placelessAtOnce);
  return Math.min(wished, places === 0 ? BATCH.concurrency : Math.max(1, Math.floor(places / 2)));
};

/** An item's share of a budget: credits to reserve, `waits` (for other items to end), or `exhausted`. */
export type Share = { reserved: number } | "waits" | "exhausted";

/**
 * Computes an item's share of a budget. When an item ends, its unused credits are returned. If the budget can't cover the item's maximum
 * cost, the item starts only when no other item is under way, because unused credits of other items could still cover it.
 */
export const shareOf = (
  { maxMillicredits, committed, underWay }: Pick<BatchRecord, "maxMillicredits" | "committed" | "underWay">,
  { price, most, granted = 0 }: Pick<BatchRow, "price" | "most" | "granted">,
): Share => {
  if (maxMillicredits === undefined) return { reserved: 0 };
  const remaining = maxMillicredits - committed;
  if (remaining >= most) return { reserved: most };
  if (underWay.length > 0) return "waits";
  return remaining >= price - granted ? { reserved: remaining } : "exhausted";
};
