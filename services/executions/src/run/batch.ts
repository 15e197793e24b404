import { publicError } from "@nodeloom/kernel";
import type { ExecutionView } from "./record";
import type { DeliveryState } from "./delivery";
import type { FinalStatus, StoredText } from "./types";
import type { Runner, Target } from "./runner";

export const BATCH = {
  fileColumns: 200,
  /** Default bound for items under way, if the tier sets none. */
  concurrency: 100,
  /** Bound for items that planning finishes: they take no place. */
  placelessAtOnce: 8,
  /** Maximum problems listed in an error. */
  problems: 100,
} as const;

/**
 * The life of a batch. Each change is one conditional update.
 *
 *   preparing ─► running ⇄ paused
 *                   └────────┴─► cancel_requested ─► cancelled
 *                   └─► completed | failed
 *
 * `preparing`: its rows are being written, and nothing shows it. `failed`: it was set to stop at an error, and an item failed.
 */
export type BatchStatus = "preparing" | "running" | "paused" | "cancel_requested" | "completed" | "failed" | "cancelled";

export const OPEN_BATCHES: readonly BatchStatus[] = ["running", "paused", "cancel_requested"];
export const FINAL_BATCHES: readonly BatchStatus[] = ["completed", "failed", "cancelled"];

/** An item that has started or is about to, and its reserved credits. */
export interface UnderWay {
  index: number;
  reserved: number;
}

/** Why a batch was paused, or ended by the platform. Clients see `code`. */
export interface BatchReason {
  code: string;
  message: string;
  /** For BUDGET_EXCEEDED: `batch` for `maxCredits`, otherwise the scope of the account's budget. Missing in batches of older versions. */
  scope?: string;
}

/** The batch's own limit is used up. */
export const OUT_OF_MAX_CREDITS: BatchReason = {
  code: "BUDGET_EXCEEDED",
  scope: "batch",
  message: "the rest of maxCredits isn't enough for another item: resume with a higher limit, or cancel",
};

/** True if a budget of the account paused the batch, not its own limit. */
export const isOutOfBudget = (reason: BatchReason | null): boolean =>
  reason?.code === OUT_OF_MAX_CREDITS.code && reason.scope !== OUT_OF_MAX_CREDITS.scope;

export const BATCH_COMPLETED = "batch.completed";

export interface BatchWebhook {
  url: string;
  state: DeliveryState;
  attempts: number;
  deliveredAt: Date | null;
  lastError: string | null;
  /** Notifications has the delivery state. */
  isHandedOver?: true;
  /** The batch named it; it replaces the key's. */
  isOwn?: true;
}

/** How a test of a workflow ended. */
export interface TestOutcome {
  passed: boolean;
  /** Price of all its calls in millicredits, those included that it reused. */
  millicredits: number;
  durationMs: number | null;
}

/** The batch runs the tests of a workflow: one item for each, in their order. */
export interface BatchTest {
  slug: string;
  /** JSON array: the tests as they were. */
  tests: StoredText;
  /** Equal for equal tests. */
  digest: string;
  /** The batch that runs the same tests on the version to compare with. It ends first: items reuse its calls. */
  against?: string;
  /** Set on that batch: the batch that it is compared with. */
  of?: string;
  /** In the order of the tests; set at its end. */
  outcomes?: TestOutcome[];
}

export interface BatchRecord {
  _id: string;
  userId: string;
  status: BatchStatus;
  reason: BatchReason | null;
  target: Target;
  /** For a workflow: the version that its items run. */
  version: string;
  /** The alias that selected the version; absent for none. */
  alias?: string;
  /** For a workflow: graphs of its items, as JSON; see `PinnedGraphs`. */
  graph?: StoredText;
  /** For a workflow: the node to run to; absent for all nodes. */
  until?: string;
  /** The caller who created or last resumed it, as they were then; changes of tier are looked up. */
  runner: Runner;
  total: number;
  /** Index of the next item to start, besides those in `again`. */
  next: number;
  /** Items that couldn't start in their turn. */
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
  /** Planning finishes its items, so they need no places. */
  isPlaceless: boolean;
  /** The owner's bound of items under way; 0: none. */
  concurrency: number;
  stopsOnError: boolean;
  itemWebhooks: boolean;
  /** See `metadataKeys`. */
  metadata: string[];
  webhook: BatchWebhook | null;
  fingerprint?: string;
  rerunOf?: string;
  /** Days for which it is kept after its end, with its items; absent for the installation's. */
  retentionDays?: number;
  /** When it is erased. */
  eraseAt?: Date;
  createdAt: Date;
  /** When another caller resumed it; absent if the creator runs it. */
  grantedAt?: Date;
  finishedAt: Date | null;
  /** Set while there is work left for its workflow. */
  isCarried?: true;
  test?: BatchTest;
}

export interface BatchRow {
  /** `<batch>.<index>` */
  _id: string;
  batchId: string;
  index: number;
  /** JSON: see `ItemInput`. */
  input: StoredText;
  /** Hold at the start in millicredits, and the most that the item can cost. */
  price: number;
  most: number;
  /** Part of the price that trial grants were expected to pay; absent for none. */
  granted?: number;
  status?: FinalStatus;
  millicredits?: number;
  error?: BatchReason;
  /** Its run was erased: its input is empty, and it is not run again. */
  isErased?: true;
}

/** JSON texts. */
export interface ItemInput {
  inputsJson: string;
  settingsJson: string;
  /** Executions to reuse calls from, nearest first; absent for none. */
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

/** True if no more items of a batch start. */
export const beginsNoMore = ({ status, stopsOnError, counts, next, again, total }: BatchRecord): boolean =>
  status !== "running" || (stopsOnError && counts.failed > 0) || (next >= total && again.length === 0);

/** Final state of a batch with nothing left to start and nothing under way. */
export const endOf = ({ status, stopsOnError, counts, next, again, total }: BatchRecord): FinalStatus => {
  if (status === "cancel_requested") return "cancelled";
  const isStopped = next < total || again.length > 0;
  return stopsOnError && counts.failed > 0 && isStopped ? "failed" : "completed";
};

/** Items of a batch that can run at once: half of the tier's places, and at least one. @param places of the tier; 0: unlimited */
export const itemsAtOnce = (batch: Pick<BatchRecord, "isPlaceless" | "concurrency">, places: number): number => {
  const wished = batch.concurrency === 0 ? BATCH.concurrency : batch.concurrency;
  if (batch.isPlaceless) return Math.min(wished, BATCH.placelessAtOnce);
  return Math.min(wished, places === 0 ? BATCH.concurrency : Math.max(1, Math.floor(places / 2)));
};

/** An item's share of a budget: credits to reserve, `waits` for other items to end, or `exhausted`. */
export type Share = { reserved: number } | "waits" | "exhausted";

/**
 * The share of a budget for one item. Its end gives back the unused rest. If less is left than it can cost, it starts only when no other
 * item is under way: their unused credits could have kept it from failing.
 */
export const shareOf = (
  { maxMillicredits, committed, underWay }: Pick<BatchRecord, "maxMillicredits" | "committed" | "underWay">,
  { price, most, granted = 0 }: Pick<BatchRow, "price" | "most" | "granted">,
): Share => {
  if (maxMillicredits === undefined) return { reserved: 0 };
  const left = maxMillicredits - committed;
  if (left >= most) return { reserved: most };
  if (underWay.length > 0) return "waits";
  return left >= price - granted ? { reserved: left } : "exhausted";
};
