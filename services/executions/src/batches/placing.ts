import { DomainError, leastRetention, unavailable, USUAL_CAPS } from "@nodeloom/kernel";
import { createSlots, NoSlot, type Logger } from "@nodeloom/platform";
import { BATCH_COMPLETED, type BatchRecord, type BatchRow, type BatchWebhook, type ItemInput } from "../run/batch";
import type { BatchTest } from "../run/batch-tests";
import { runEvent } from "../run/events";
import { CANCEL_REQUESTED } from "../run/states";
import { rowId } from "../record/batches";
import type { EventChannel } from "../record/runs/channel";
import type { Stores } from "../record/stores";
import type { StoredText } from "../run/types";
import { itemPages, type Items } from "./item";
import { batchNotFound } from "./owned";
import { checkBudget, type PricedBatch, type Pricing, type ReadOrder } from "./pricing";
import type { Runner } from "../run/runner";

/** Prices, stores and starts new batches. */

/** Limits of one process: batches that it validates concurrently, and requests that can wait. Users take turns. */
const CREATIONS = { concurrency: 2, queueLimit: 200 };
const CREATION_WAIT_MS = 30_000;
const WRITES_AT_ONCE = 10;
export interface PlacingOptions {
  stores: Pick<Stores, "batches" | "payloads">;
  pricing: Pricing;
  starter: { startBatch(batchId: string, userId: string): Promise<void> };
  channel: Pick<EventChannel, "publish">;
  logger: Logger;
}

export interface Order extends ReadOrder {
  maxMillicredits: number | undefined;
  concurrency: number;
  stopsOnError: boolean;
  itemWebhooks: boolean;
  metadata: string[];
  rerunOf?: string;
  retentionDays: number | undefined;
}

/** A workflow's tests as a batch, and the batch to compare them with. */
export interface TestOrder {
  test: Pick<BatchTest, "slug" | "digest" | "settingsJson" | "isRecentRuns"> & { testsJson: string };
  order: Order;
  /** The batch to compare with. */
  compared?: { id: string; order: Order };
}

export interface CreatedBatch {
  batch: BatchRecord;
  /** True if an earlier request created the batch. */
  isReplay: boolean;
}

export interface WhichTests {
  batchId: string;
  fingerprint: string;
  userId: string;
}

interface PricedOrder {
  order: Order;
  priced: PricedBatch;
  test?: BatchTest;
}

/** Webhook of a new batch; null if it has none. */
export const webhookOf = ({ keyId, webhookUrl: url, webhookEvents, webhookOwn = false }: Runner): BatchWebhook | null => {
  const isWanted = webhookEvents.includes(BATCH_COMPLETED) || (webhookOwn && webhookEvents.length === 0);
  if (!isWanted || (keyId === "" && !webhookOwn)) return null;
  return { url, state: "pending", attempts: 0, deliveredAt: null, lastError: null, ...(webhookOwn ? { isOwn: true } : {}) };
};

const newBatch = (id: string, fingerprint: string, order: Order, priced: PricedBatch, graph: StoredText | undefined): BatchRecord => {
  const { target, until, runner, maxMillicredits, concurrency, stopsOnError, itemWebhooks, metadata, rerunOf } = order;
  const retentionDays = leastRetention(order.retentionDays, priced.retentionDays);
  const now = new Date();
  return {
    ...{ _id: id, userId: runner.userId, status: "preparing", reason: null, target, runner },
    version: priced.version === undefined ? order.version : String(priced.version),
    ...(priced.alias === undefined ? {} : { alias: priced.alias }),
    ...(graph ? { graph } : {}),
    ...(until === "" ? {} : { until }),
    ...{ total: priced.items.length, next: 0, again: [], underWay: [], counts: { completed: 0, failed: 0, cancelled: 0 } },
    ...{ spent: 0, committed: 0, price: { estimated: priced.estimated, isExact: priced.isExact } },
    ...(maxMillicredits === undefined ? {} : { maxMillicredits }),
    ...{ isPlaceless: priced.isPlaceless, concurrency, stopsOnError, itemWebhooks, metadata },
    webhook: webhookOf(runner),
    ...(fingerprint === "" ? {} : { fingerprint }),
    ...(rerunOf === undefined ? {} : { rerunOf }),
    ...(retentionDays === undefined ? {} : { retentionDays }),
    ...{ createdAt: now, finishedAt: null, isCarried: true },
  };
};

export const createPlacing = ({ stores, pricing, starter, channel, logger }: PlacingOptions) => {
  const { batches, payloads } = stores;
  const creations = createSlots(CREATIONS);

  /** Validates in turn with other users. @throws SERVICE_UNAVAILABLE if too many batches are waiting */
  const inTurn = <T>(userId: string, work: () => Promise<T>): Promise<T> =>
    creations.use(work, { key: userId, maxWaitMs: CREATION_WAIT_MS }).catch((error: unknown) => {
      throw error instanceof NoSlot ? unavailable("too many batches are being created", 5) : error;
    });

  /**
   * Starts the workflow of a batch. If that fails, the relay starts it later. A turn that is under way gets a signal to check the batch
   * again.
   */
  const start = async ({ _id: batchId, userId }: BatchRecord): Promise<void> => {
    channel.publish(batchId, { ...runEvent(CANCEL_REQUESTED), at: Date.now() });
    await starter.startBatch(batchId, userId).catch((err: unknown) => logger.warn({ err, batchId }, "a batch is carried later"));
  };

  /** Reads the items again and writes them as rows, a page at a time. */
  const writeRows = async (batchId: string, items: Items, priced: PricedBatch): Promise<void> => {
    let from = 0;
    for await (const page of itemPages(items)) {
      const rows: BatchRow[] = [];
      for (let offset = 0; offset < page.length; offset += WRITES_AT_ONCE) {
        const some = page.slice(offset, offset + WRITES_AT_ONCE);
        const inputs = await Promise.all(
          some.map(({ inputsJson, settingsJson, sources }) =>
            payloads.putText(JSON.stringify({ inputsJson, settingsJson, sources } satisfies ItemInput), batchId),
          ),
        );
        for (const input of inputs) {
          const index = from + rows.length;
          rows.push({ _id: rowId(batchId, index), batchId, index, input, ...priced.items[index]! });
        }
      }
      await batches.insertRows(rows);
      from += page.length;
    }
    // Rows of an earlier batch, or the file, were deleted after they were priced.
    if (from !== priced.items.length) throw unavailable("the items of the batch have changed: retry", 1);
  };

  /** Returns the batch that an earlier request with the same id created. @throws NOT_FOUND, IDEMPOTENCY_KEY_REUSED */
  const existingBatch = async (batchId: string, userId: string, fingerprint: string): Promise<BatchRecord | null> => {
    const batch = await batches.find(batchId);
    if (!batch) return null;
    if (batch.userId !== userId) throw batchNotFound();
    if (fingerprint !== "" && batch.fingerprint !== undefined && batch.fingerprint !== fingerprint) {
      throw new DomainError(
        "conflict",
        "IDEMPOTENCY_KEY_REUSED",
        "this Idempotency-Key was used with a different request body: use a new key",
      );
    }
    return batch.status === "preparing" ? null : batch;
  };

  const checkOpen = async ({ userId, maxBatches: limit = USUAL_CAPS.batches }: Runner, more = 1): Promise<void> => {
    if ((await batches.open(userId)).length + more <= limit) return;
    const message = `at most ${limit} batches can be running or paused at once: wait for one, or cancel one`;
    throw new DomainError("exhausted", "CONCURRENCY_LIMIT_EXCEEDED", message, { limit, retryAfter: 60 });
  };

  const store = async (batchId: string, fingerprint: string, { order, priced, test }: PricedOrder): Promise<CreatedBatch> => {
    const graph = priced.pinned && (await payloads.putText(JSON.stringify(priced.pinned), batchId));
    await batches.insert({ ...newBatch(batchId, fingerprint, order, priced, graph), ...(test ? { test } : {}) });
    await writeRows(batchId, order.items, priced);
    const batch = (await batches.activate(batchId)) ?? (await batches.find(batchId));
    if (!batch) throw unavailable("the batch couldn't be stored: retry", 1);
    await start(batch);
    return { batch, isReplay: false };
  };

  const place = async (batchId: string, fingerprint: string, order: Order): Promise<CreatedBatch> => {
    await checkOpen(order.runner);
    const priced = await pricing(order);
    checkBudget(priced, order.maxMillicredits);
    return store(batchId, fingerprint, { order, priced });
  };

  /**
   * Stores both batches, or neither if one can't run. The comparison batch is stored first, so that a repeated request continues after a
   * crash.
   */
  const placeBoth = async (
    { batchId, fingerprint }: WhichTests,
    { test: { testsJson, ...shared }, order, compared }: TestOrder,
  ): Promise<CreatedBatch> => {
    await checkOpen(order.runner, compared ? 2 : 1);
    const priced = await pricing(order);
    const comparedPriced = compared && (await pricing(compared.order));
    const testFor = async (id: string) => ({ ...shared, tests: await payloads.putText(testsJson, id) });
    if (compared && comparedPriced) {
      const test = { ...(await testFor(compared.id)), of: batchId };
      await store(compared.id, "", { order: compared.order, priced: comparedPriced, test });
    }
    const against = compared ? { against: compared.id } : {};
    return store(batchId, fingerprint, { order, priced, test: { ...(await testFor(batchId)), ...against } });
  };

  return { inTurn, start, existingBatch, place, placeBoth };
};
