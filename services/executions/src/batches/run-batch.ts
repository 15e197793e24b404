/** Runs a batch: starts items while places and budget allow, and ends the batch after the last item. */
import { DomainError } from "@nodeloom/kernel";
import { doubling } from "@nodeloom/platform";
import { beginsNoMore, endOf, itemsAtOnce, shareOf, type BatchRecord, type BatchRow, type UnderWay } from "../run/batch";
import { OUT_OF_MAX_CREDITS, longOutageReason } from "../run/batch-reasons";
import { runEvent } from "../run/events";
import { CANCEL_REQUESTED } from "../run/states";
import { TIMING } from "../run/timing";
import type { EventChannel } from "../record/runs/channel";
import type { Stores } from "../record/stores";
import type { Cancellation } from "../accept/cancellation";
import type { BeginItem, Beginning, BeginOutcome } from "./begin-item";
import type { Judging } from "./tests/judging";
import type { Measuring } from "./tests/measuring";
import { createChanges } from "./changes";
import { itemExecutionId } from "./item";
import type { OutageOf } from "./outages";
import { isStopped, type CurrentRunner } from "./current-runner";
import type { Runner } from "../run/runner";

export interface RunBatchOptions {
  stores: Pick<Stores, "batches" | "queues">;
  beginItem: BeginItem;
  cancellation: Pick<Cancellation, "cancel">;
  channel: Pick<EventChannel, "onTransition" | "publish">;
  currentRunner: CurrentRunner;
  judging: Pick<Judging, "atEnd">;
  outageOf: OutageOf;
  measuring: Measuring;
}

const HOUR_MS = 3_600_000;

/** Result of a turn: `over` if no item is left to start or to wait for. */
export type TurnResult = "over" | "again";

/** Returns the items that the budget allows to start now, in order. */
const affordable = (batch: BatchRecord, rows: readonly BatchRow[]): { items: UnderWay[]; isExhausted: boolean } => {
  const items: UnderWay[] = [];
  let { committed } = batch;
  for (const row of rows) {
    const share = shareOf({ ...batch, committed, underWay: [...batch.underWay, ...items] }, row);
    if (typeof share === "string") return { items, isExhausted: share === "exhausted" };
    items.push({ index: row.index, reserved: share.reserved });
    committed += share.reserved;
  }
  return { items, isExhausted: false };
};

const createTurn = (batchId: string, options: RunBatchOptions) => {
  const { stores, beginItem, cancellation, channel, currentRunner, judging, measuring, outageOf } = options;
  const { batches, queues } = stores;
  const changes = createChanges(batchId, channel);
  const beginning = new Map<number, Promise<void>>();
  const cancelled = new Set<number>();
  let pauses = doubling(TIMING.batchPause, TIMING.batchLongestPause);
  let pausedUntil = 0;

  /** Starts or joins items that are under way. */
  const beginAll = (batch: BatchRecord, items: readonly UnderWay[], rows: readonly BatchRow[], how: Beginning): void => {
    for (const row of rows) {
      const item = items.find(({ index }) => index === row.index);
      if (!item) continue;
      // Subscribes before the start: the item may end at once.
      changes.follow(item.index);
      const start = beginItem(batch, item, row, how)
        // After a failed write the item stays under way, and the next turn joins it.
        .catch((): BeginOutcome => "unknown")
        .then((outcome) => {
          if (outcome !== "goes on") changes.forget(item.index);
          if (outcome !== "later" && outcome !== "unknown") pauses = doubling(TIMING.batchPause, TIMING.batchLongestPause);
          // Items that fail together are one failure. Otherwise a hundred of them would make the pause the longest one at once.
          else if (Date.now() >= pausedUntil) pausedUntil = Date.now() + pauses.next().value;
        })
        .finally(() => {
          beginning.delete(item.index);
          changes.notify();
        });
      beginning.set(item.index, start);
    }
  };

  /** Returns how many places of the user are free for this batch. Queued runs take precedence. */
  const roomFor = async ({ isPlaceless, userId }: BatchRecord, { concurrency }: Runner): Promise<number> => {
    if (isPlaceless || concurrency === 0) return Number.POSITIVE_INFINITY;
    const { running, waiting } = await queues.find(userId);
    return waiting.length > 0 ? 0 : Math.max(0, concurrency - running.length);
  };

  /**
   * Returns the rows before the first one whose provider is unavailable. If no item is under way, that row starts alone when a trial is
   * due.
   */
  const reachableRows = async (batch: BatchRecord, rows: readonly BatchRow[]): Promise<readonly BatchRow[]> => {
    for (const [position, row] of rows.entries()) {
      const outage = await outageOf(row);
      if (!outage) continue;
      if (position > 0) return rows.slice(0, position);
      const { model, since } = (await batches.wait(batchId, outage.model))?.outage ?? batch.outage ?? {};
      if (model === outage.model && since && Date.now() - since.getTime() >= TIMING.batchOutage) {
        await batches.pause(batchId, longOutageReason(model, TIMING.batchOutage / HOUR_MS));
        return [];
      }
      return batch.underWay.length === 0 && outage.trialAt <= Date.now() ? [row] : [];
    }
    if (batch.outage) await batches.waitNoMore(batchId);
    return rows;
  };

  const beginMore = async (batch: BatchRecord, runner: Runner): Promise<void> => {
    const { next, total, again, underWay } = batch;
    const free = itemsAtOnce(batch, runner.concurrency) - underWay.length;
    if (free <= 0) return;
    const room = await roomFor(batch, runner);
    // If no place is free, only one item can be queued, so that a batch never fills the queue.
    const mayWait = room < 1 && underWay.length === 0;
    const count = mayWait ? 1 : Math.min(free, room);
    if (count < 1) return;
    const repeated = [...again].sort((a, b) => a - b).slice(0, count);
    const fresh = Array.from({ length: Math.min(count, total - next) }, (_, offset) => next + offset);
    const rows = await reachableRows(batch, await batches.rowsAt(batchId, repeated.length > 0 ? repeated : fresh));
    const { items, isExhausted } = affordable(batch, rows);
    if (items.length === 0) return void (isExhausted && (await batches.pause(batchId, OUT_OF_MAX_CREDITS)));
    const startedBatch = await batches.begin(batch, items);
    if (startedBatch) beginAll(startedBatch, items, rows, { runner, mayWait, isNew: repeated.length === 0 });
    changes.notify();
  };

  /** Joins the items that an earlier turn has started or may have started. */
  const join = async (batch: BatchRecord, runner: Runner): Promise<void> => {
    const lostItems = batch.underWay.filter(({ index }) => !beginning.has(index) && !changes.followed.has(index));
    if (lostItems.length === 0) return;
    const rows = await batches.rowsAt(
      batchId,
      lostItems.map(({ index }) => index),
    );
    beginAll(batch, lostItems, rows, { runner, mayWait: batch.underWay.length === 1, isNew: false });
  };

  const cancelItem = async ({ userId }: BatchRecord, index: number): Promise<void> => {
    if (!changes.followed.has(index)) changes.follow(index);
    try {
      await cancellation.cancel(itemExecutionId(batchId, index), userId);
      cancelled.add(index);
    } catch (error) {
      if (!(error instanceof DomainError) || error.reason !== "EXECUTION_NOT_FOUND") throw error;
      await batches.endItem(batchId, { index, status: "cancelled", millicredits: 0 });
      changes.notify();
    }
  };

  /** No further item starts, so cancelling the items under way is enough. */
  const cancelAll = async (batch: BatchRecord): Promise<void> => {
    if (beginning.size > 0) return;
    const openItems = batch.underWay.filter(({ index }) => !cancelled.has(index));
    await Promise.all(openItems.map(({ index }) => cancelItem(batch, index)));
  };

  const finish = async (batch: BatchRecord): Promise<void> => {
    await batches.finish(batch, endOf(batch), await judging.atEnd(batch));
    changes.notify();
    if (batch.test?.of !== undefined) channel.publish(batch.test.of, { ...runEvent(CANCEL_REQUESTED), at: Date.now() });
  };

  /** Measures the results of tests before the batch ends. A cancelled batch isn't measured. */
  const end = async (batch: BatchRecord): Promise<void> => {
    if (batch.status === "cancel_requested") await measuring.cancel(batch);
    else if (batch.test) {
      const runner = await currentRunner(batch);
      if (isStopped(runner)) {
        await batches.requestCancel(batchId, batch.userId, runner.stopped);
        return changes.notify();
      }
      if (!(await measuring.measure(batch, runner))) return;
    }
    await finish(batch);
  };

  /** True while the comparison batch runs. The batch starts afterwards, because it reuses the comparison's calls. */
  const waitsForCompared = async ({ test }: BatchRecord): Promise<boolean> =>
    test?.against !== undefined && (await batches.find(test.against))?.status === "running";

  return {
    changes,
    beginning,

    look: async (batch: BatchRecord): Promise<void> => {
      for (const index of [...changes.followed.keys()]) if (!batch.underWay.some((item) => item.index === index)) changes.forget(index);
      if (beginsNoMore(batch) && batch.underWay.length === 0 && beginning.size === 0) {
        return end(batch);
      }
      if (batch.status === "cancel_requested") return cancelAll(batch);
      const runner = await currentRunner(batch);
      if (isStopped(runner)) {
        await batches.requestCancel(batchId, batch.userId, runner.stopped);
        return changes.notify();
      }
      if (Date.now() < pausedUntil || (await waitsForCompared(batch))) return;
      await join(batch, runner);
      if (!beginsNoMore(batch)) await beginMore(batch, runner);
    },

    stop: async (): Promise<void> => {
      await Promise.all(beginning.values());
      changes.close();
    },
  };
};

/** Processes a batch until no work is left, the turn's time is up, or the process stops. */
export const createRunBatch =
  (options: RunBatchOptions) =>
  async (batchId: string, stopping: AbortSignal): Promise<TurnResult> => {
    const { batches } = options.stores;
    const until = Date.now() + TIMING.batchTurn;
    const turn = createTurn(batchId, options);
    try {
      while (!stopping.aborted && Date.now() < until) {
        const batch = await batches.find(batchId);
        if (batch?.status !== "running" && batch?.status !== "cancel_requested") return "over";
        await turn.look(batch);
        await turn.changes.next(stopping, batch.underWay.length);
      }
      return "again";
    } finally {
      await turn.stop();
    }
  };
