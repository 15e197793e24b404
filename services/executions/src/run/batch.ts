/** Batches: what one keeps, how it stands, and which of its items may begin. */
import { publicError } from "@nodeloom/kernel";
import type { ExecutionView } from "./record";
import type { FinalStatus, StoredText } from "./types";
import type { Runner, Target } from "./runner";

/** Bounds of batches. */
export const BATCH = {
  fileColumns: 200,
  /** Batches of one account that are not over. */
  open: 20,
  /** Items under way at once where the tier sets no bound. */
  concurrency: 100,
  /** The same for items that planning finishes: they take no place in the queue. */
  placelessAtOnce: 8,
  /** Problems that a refusal lists. */
  problems: 100,
} as const;

/**
 * The life of a batch. Each change is one conditional update.
 *
 *   preparing ─► running ⇄ paused
 *                   └────────┴─► cancel_requested ─► cancelled
 *                   └─► completed | failed
 *
 * `preparing`: its rows are being written, and nothing shows it. `failed`: it was to stop at an error, and met one.
 */
export type BatchStatus = "preparing" | "running" | "paused" | "cancel_requested" | "completed" | "failed" | "cancelled";

export const OPEN_BATCHES: readonly BatchStatus[] = ["running", "paused", "cancel_requested"];
export const FINAL_BATCHES: readonly BatchStatus[] = ["completed", "failed", "cancelled"];

/** An item that has begun, or is about to, and what of the budget is set aside for it. */
export interface UnderWay {
  index: number;
  reserved: number;
}

/** Why a batch is paused, or was ended by the platform. `code` is what clients see. */
export interface BatchReason {
  code: string;
  message: string;
}

/** Why a batch is paused of whose own limit too little is left. */
export const OUT_OF_MAX_CREDITS: BatchReason = {
  code: "BUDGET_EXCEEDED",
  message: "what is left of maxCredits is not enough for another item: resume with more, or cancel",
};

/** True if a budget of the account, and not the batch's own limit, has paused a batch. */
export const isOutOfBudget = (reason: BatchReason | null): boolean =>
  reason?.code === OUT_OF_MAX_CREDITS.code && reason.message !== OUT_OF_MAX_CREDITS.message;

export interface BatchWebhook {
  url: string;
  state: "pending" | "delivered" | "failed" | "disabled" | "skipped";
  attempts: number;
  deliveredAt: Date | null;
  lastError: string | null;
  /** Notifications tells how far it has come. */
  isHandedOver?: true;
}

export interface BatchRecord {
  _id: string;
  userId: string;
  status: BatchStatus;
  reason: BatchReason | null;
  target: Target;
  /** Of a workflow: the version that its items run. */
  version: string;
  /** Of a workflow: what its items run, as JSON: see `PinnedGraphs`. */
  graph?: StoredText;
  /** Of a workflow: the node that its items run to; none for everything. */
  until?: string;
  /** Who created or last resumed it, as they were then; what a change of tier changes is looked up. */
  runner: Runner;
  total: number;
  /** Items before this one have begun, but for those of `again`. */
  next: number;
  /** Items that could not begin when it was their turn. */
  again: number[];
  underWay: UnderWay[];
  counts: Record<FinalStatus, number>;
  /** What items that are over cost, in milli-credits… */
  spent: number;
  /** …and that with what is set aside for items under way. */
  committed: number;
  maxMillicredits?: number;
  /** As quoted when it was created. */
  price: { estimated: number; isExact: boolean };
  /** Its items need no places in the queue: planning finishes them. */
  isPlaceless: boolean;
  /** Items under way that its owner wants at most; 0: no wish. */
  concurrency: number;
  stopsOnError: boolean;
  itemWebhooks: boolean;
  /** See `metadataKeys`. */
  metadata: string[];
  webhook: BatchWebhook | null;
  fingerprint?: string;
  rerunOf?: string;
  createdAt: Date;
  /** When the rest of it was given to its runner; absent where that is who created it. */
  grantedAt?: Date;
  finishedAt: Date | null;
  /** Set while something is to be done for it: a workflow carries it. */
  isCarried?: true;
}

/** One item: what it is run with, and how it ended. */
export interface BatchRow {
  /** `<batch>.<index>` */
  _id: string;
  batchId: string;
  index: number;
  /** JSON: see `ItemInput`. */
  input: StoredText;
  /** Held when it begins, in milli-credits, and the most that it may come to. */
  price: number;
  most: number;
  status?: FinalStatus;
  millicredits?: number;
  error?: BatchReason;
}

/** What an item is run with: JSON texts. */
export interface ItemInput {
  inputsJson: string;
  settingsJson: string;
}

/** How an item ended. */
export interface ItemEnd extends Pick<BatchRow, "error"> {
  index: number;
  status: FinalStatus;
  millicredits: number;
}

/** How an item ended whose run is over. */
export const itemEndOf = (index: number, { status, millicredits, error, graphHidden }: ExecutionView): ItemEnd => ({
  ...{ index, status: status as FinalStatus, millicredits },
  ...(error ? { error: { code: error.code, message: (graphHidden ? publicError(error) : error).message } } : {}),
});

/** True if no more items of a batch begin. */
export const beginsNoMore = ({ status, stopsOnError, counts, next, again, total }: BatchRecord): boolean =>
  status !== "running" || (stopsOnError && counts.failed > 0) || (next >= total && again.length === 0);

/** How a batch ends of which no items begin any more, and none is under way. */
export const endOf = ({ status, stopsOnError, counts, next, again, total }: BatchRecord): FinalStatus => {
  if (status === "cancel_requested") return "cancelled";
  const isStopped = next < total || again.length > 0;
  return stopsOnError && counts.failed > 0 && isStopped ? "failed" : "completed";
};

/**
 * Items of a batch that may be under way at once: half of the places of its owner's tier, and at least one.
 * @param places of the tier; 0: any number
 */
export const itemsAtOnce = (batch: Pick<BatchRecord, "isPlaceless" | "concurrency">, places: number): number => {
  const wished = batch.concurrency === 0 ? BATCH.concurrency : batch.concurrency;
  if (batch.isPlaceless) return Math.min(wished, BATCH.placelessAtOnce);
  return Math.min(wished, places === 0 ? BATCH.concurrency : Math.max(1, Math.floor(places / 2)));
};

/** What a budget says to an item: how much to set aside for it; that it waits for others to end; or that nothing is left. */
export type Share = { reserved: number } | "waits" | "exhausted";

/**
 * The share of a budget that an item gets. Its end gives back what it did not cost. Where less is left than it may come to, it begins
 * only by itself: what others give back would have kept it from failing.
 */
export const shareOf = (
  { maxMillicredits, committed, underWay }: Pick<BatchRecord, "maxMillicredits" | "committed" | "underWay">,
  { price, most }: Pick<BatchRow, "price" | "most">,
): Share => {
  if (maxMillicredits === undefined) return { reserved: 0 };
  const left = maxMillicredits - committed;
  if (left >= most) return { reserved: most };
  if (underWay.length > 0) return "waits";
  return left >= price ? { reserved: left } : "exhausted";
};
