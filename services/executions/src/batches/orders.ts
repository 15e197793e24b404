import { DomainError, invalidInputs, invalidRequest, leastRetention, unavailable, USUAL_CAPS } from "@nodeloom/kernel";
import { createSlots, NoSlot, type Logger } from "@nodeloom/platform";
import type { batches as proto } from "@nodeloom/proto";
import {
  BATCH_COMPLETED,
  FINAL_BATCHES,
  isOutOfBudget,
  type BatchRecord,
  type BatchRow,
  type BatchTest,
  type BatchWebhook,
  type ItemInput,
} from "../run/batch";
import { runEvent } from "../run/events";
import { metadataKeys, metadataOf } from "../run/record";
import { checkNotEmptied } from "../run/retention";
import { CANCEL_REQUESTED } from "../run/states";
import { rowId } from "../record/batches";
import type { EventChannel } from "../record/channel";
import type { Stores } from "../record/stores";
import { requireKeyAlias } from "../plan/planning";
import { withKeyMetadata } from "../accept/key-metadata";
import type { StoredText } from "../run/types";
import { batchNotFound, createOwned } from "./owned";
import { checkBudget, type PricedBatch, type Pricing, type ReadOrder } from "./pricing";
import { statusOfRow } from "./view";
import type { ReadTable } from "./table";
import type { Runner } from "../run/runner";

/** Limits of one process: batches that it validates concurrently, and requests that can wait. Users take turns. */
const CREATIONS = { concurrency: 2, queueLimit: 200 };
const CREATION_WAIT_MS = 30_000;
const WRITES_AT_ONCE = 10;
const RERUN: ReadonlySet<string> = new Set(["failed", "cancelled", "skipped"]);

export interface OrdersOptions {
  stores: Pick<Stores, "batches" | "payloads">;
  pricing: Pricing;
  readTable: ReadTable;
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
  test: { slug: string; testsJson: string; digest: string };
  order: Order;
  compared?: Order;
}

export interface Created {
  batch: BatchRecord;
  /** True if an earlier request created the batch. */
  isReplay: boolean;
}

export interface WhichTests {
  batchId: string;
  /** Id of the batch to compare with; undefined if there is no comparison. */
  compared: string | undefined;
  fingerprint: string;
  userId: string;
}

interface Priced {
  order: Order;
  priced: PricedBatch;
  test?: BatchTest;
}

const webhookOf = ({ keyId, webhookUrl: url, webhookEvents, webhookOwn = false }: Runner): BatchWebhook | null => {
  const isWanted = webhookEvents.includes(BATCH_COMPLETED) || (webhookOwn && webhookEvents.length === 0);
  if (!isWanted || (keyId === "" && !webhookOwn)) return null;
  return { url, state: "pending", attempts: 0, deliveredAt: null, lastError: null, ...(webhookOwn ? { isOwn: true } : {}) };
};

/** Keeps a batch's own webhook if another caller resumes the batch. */
const resumedBy = (runner: Runner, { webhookUrl, webhookEvents, webhookOwn }: Runner): Runner =>
  webhookOwn ? { ...runner, webhookUrl, webhookEvents, webhookOwn } : runner;

const newBatch = (id: string, fingerprint: string, order: Order, priced: PricedBatch, graph: StoredText | undefined): BatchRecord => {
  const { target, until, runner, items, maxMillicredits, concurrency, stopsOnError, itemWebhooks, metadata, rerunOf } = order;
  const retentionDays = leastRetention(order.retentionDays, priced.retentionDays);
  const now = new Date();
  return {
    ...{ _id: id, userId: runner.userId, status: "preparing", reason: null, target, runner },
    version: priced.version === undefined ? order.version : String(priced.version),
    ...(priced.alias === undefined ? {} : { alias: priced.alias }),
    ...(graph ? { graph } : {}),
    ...(until === "" ? {} : { until }),
    ...{ total: items.length, next: 0, again: [], underWay: [], counts: { completed: 0, failed: 0, cancelled: 0 } },
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

const checkItems = (count: number, path: string, { maxBatchRows: most = USUAL_CAPS.batchRows }: Runner): void => {
  const refusal = path === "inputs" ? invalidInputs : invalidRequest;
  if (count === 0) throw refusal([{ path, message: "must have at least one item" }]);
  if (count > most) throw refusal([{ path, message: `must have at most ${most} items` }]);
};

export type Orders = ReturnType<typeof createOrders>;

export const createOrders = ({ stores, pricing, readTable, starter, channel, logger }: OrdersOptions) => {
  const { batches, payloads } = stores;
  const owned = createOwned(batches);
  const creations = createSlots(CREATIONS);

  const inTurn = <T>(userId: string, work: () => Promise<T>): Promise<T> =>
    creations.use(work, { key: userId, maxWaitMs: CREATION_WAIT_MS }).catch((error: unknown) => {
      throw error instanceof NoSlot ? unavailable("too many batches are being created", 5) : error;
    });

  const read = async (batchOrder: proto.BatchOrder | undefined): Promise<Order> => {
    const {
      target: to,
      runner,
      items: orderItems,
      mediaId,
      maxMillicredits,
      concurrency,
      stopOnError,
      metadata,
      itemWebhooks,
      retentionDays,
    } = batchOrder ?? {};
    if (!to?.target || !runner || !orderItems) throw new DomainError("invalid", "INVALID_REQUEST", "a batch needs a target and a runner");
    const items = mediaId ? await readTable(mediaId, to, runner) : orderItems;
    checkItems(items.length, mediaId ? "mediaId" : "inputs", runner);
    const { version, alias, until } = to;
    return {
      ...{ target: to.target, version, alias, until, runner, items, maxMillicredits, concurrency: concurrency ?? 0 },
      ...{
        stopsOnError: stopOnError ?? false,
        itemWebhooks: itemWebhooks ?? false,
        retentionDays,
        metadata: metadataKeys(withKeyMetadata(metadata ?? {}, runner)),
      },
    };
  };

  /**
   * Starts the workflow of a batch. If that fails, the relay starts it later. A turn that is under way gets a signal to check the batch
   * again.
   */
  const start = async ({ _id: batchId, userId }: BatchRecord): Promise<void> => {
    channel.publish(batchId, { ...runEvent(CANCEL_REQUESTED), at: Date.now() });
    await starter.startBatch(batchId, userId).catch((err: unknown) => logger.warn({ err, batchId }, "a batch is carried later"));
  };

  const writeRows = async (batchId: string, items: readonly ItemInput[], priced: PricedBatch): Promise<void> => {
    const rows: BatchRow[] = [];
    for (let from = 0; from < items.length; from += WRITES_AT_ONCE) {
      const some = items.slice(from, from + WRITES_AT_ONCE);
      const inputs = await Promise.all(
        some.map(({ inputsJson, settingsJson, sources }) =>
          payloads.putText(JSON.stringify({ inputsJson, settingsJson, sources } satisfies ItemInput), batchId),
        ),
      );
      inputs.forEach((input, offset) => {
        const index = from + offset;
        rows.push({ _id: rowId(batchId, index), batchId, index, input, ...priced.items[index]! });
      });
    }
    await batches.insertRows(rows);
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

  const store = async (batchId: string, fingerprint: string, { order, priced, test }: Priced): Promise<Created> => {
    const graph = priced.pinned && (await payloads.putText(JSON.stringify(priced.pinned), batchId));
    await batches.insert({ ...newBatch(batchId, fingerprint, order, priced, graph), ...(test ? { test } : {}) });
    await writeRows(batchId, order.items, priced);
    const batch = (await batches.activate(batchId)) ?? (await batches.find(batchId));
    if (!batch) throw unavailable("the batch couldn't be stored: retry", 1);
    await start(batch);
    return { batch, isReplay: false };
  };

  const place = async (batchId: string, fingerprint: string, order: Order): Promise<Created> => {
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
    { batchId, compared: comparedId, fingerprint }: WhichTests,
    { test: { slug, testsJson, digest }, order, compared }: TestOrder,
  ): Promise<Created> => {
    await checkOpen(order.runner, compared ? 2 : 1);
    const priced = await pricing(order);
    const comparedPriced = compared && (await pricing(compared));
    const testFor = async (id: string) => ({ slug, digest, tests: await payloads.putText(testsJson, id) });
    if (compared && comparedPriced && comparedId !== undefined) {
      const test = { ...(await testFor(comparedId)), of: batchId };
      await store(comparedId, "", { order: compared, priced: comparedPriced, test });
    }
    const against = comparedId === undefined ? {} : { against: comparedId };
    return store(batchId, fingerprint, { order, priced, test: { ...(await testFor(batchId)), ...against } });
  };

  const rowsOf = async ({ _id, total }: BatchRecord): Promise<BatchRow[]> => batches.rowsFrom(_id, 0, total);

  const rerunOrder = async (earlier: BatchRecord, { statuses, runner, maxMillicredits }: proto.RerunBatchRequest): Promise<Order> => {
    const rerunRows = (await rowsOf(earlier)).filter((row) => !row.isErased && statuses.includes(statusOfRow(earlier, row)));
    if (rerunRows.length === 0) {
      throw new DomainError("precondition", "PRECONDITION_FAILED", `the batch has no rows with the status ${statuses.join(" or ")}`);
    }
    const texts = await Promise.all(rerunRows.map(({ input }) => payloads.getText(input)));
    if (texts.includes(null))
      throw new DomainError("precondition", "PRECONDITION_FAILED", "the inputs of the batch were deleted at the end of their retention");
    const { target, version, alias, until = "", concurrency, stopsOnError, itemWebhooks, metadata, retentionDays } = earlier;
    return {
      ...{ target, version, alias, until, concurrency, stopsOnError, itemWebhooks, maxMillicredits, rerunOf: earlier._id },
      retentionDays,
      // The key that resumes the batch may fix other values.
      metadata: metadataKeys(withKeyMetadata(metadataOf(metadata), runner)),
      runner: runner!,
      items: texts.map((json) => JSON.parse(json!) as ItemInput),
    };
  };

  /** Returns the changes to a batch that another caller resumes. @throws NOT_FOUND */
  const takenOver = async (batchId: string, runner: Runner) => {
    const before = await owned(batchId, runner.userId);
    if (before.target.$case === "workflowSlug") requireKeyAlias(runner, before.alias ?? "");
    const metadata = withKeyMetadata({ ...metadataOf(before.metadata), ...runner.keyMetadata }, runner);
    const resumed = resumedBy(runner, before.runner);
    return { runner: resumed, grantedAt: new Date(), metadata: metadataKeys(metadata), webhook: webhookOf(resumed) };
  };

  const cancel = async (batchId: string, userId: string): Promise<BatchRecord> => {
    const batch = (await batches.requestCancel(batchId, userId)) ?? (await owned(batchId, userId));
    if (batch.status === "cancel_requested") await start(batch);
    return batch;
  };

  return {
    create: async ({ batchId, order, fingerprint }: proto.CreateBatchRequest): Promise<Created> => {
      const userId = order?.runner?.userId ?? "";
      const batch = await existingBatch(batchId, userId, fingerprint);
      if (batch) return { batch, isReplay: true };
      return inTurn(userId, async () => place(batchId, fingerprint, await read(order)));
    },

    /** Runs the tests of a workflow. Requests with the same id get the same batch. @param readTests reads the tests of a new batch */
    placeTests: async (which: WhichTests, readTests: () => Promise<TestOrder>): Promise<Created> => {
      const { batchId, fingerprint, userId } = which;
      const batch = await existingBatch(batchId, userId, fingerprint);
      if (batch) return { batch, isReplay: true };
      return inTurn(userId, async () => placeBoth(which, await readTests()));
    },

    quote: async ({ order: batchOrder }: proto.QuoteBatchRequest): Promise<proto.QuoteBatchResponse> =>
      inTurn(batchOrder?.runner?.userId ?? "", async () => {
        const order = await read(batchOrder);
        const { estimated, most, isExact } = await pricing(order);
        return { total: order.items.length, millicredits: estimated, maxMillicredits: Math.max(most, estimated), exact: isExact };
      }),

    /** Creates a batch from rows of an earlier batch. @throws NOT_FOUND, SOURCE_ERASED, PRECONDITION_FAILED */
    rerun: async (request: proto.RerunBatchRequest): Promise<Created> => {
      const { batchId, newBatchId, runner, statuses, fingerprint } = request;
      const userId = runner?.userId ?? "";
      if (statuses.length === 0 || statuses.some((status) => !RERUN.has(status)))
        throw invalidRequest([{ path: "status", message: `must be one of: ${[...RERUN].join(", ")}` }]);
      const batch = await existingBatch(newBatchId, userId, fingerprint);
      if (batch) return { batch, isReplay: true };
      const earlier = await owned(batchId, userId);
      if (FINAL_BATCHES.includes(earlier.status)) checkNotEmptied(earlier, "its rows can't be run again");
      return inTurn(userId, async () => place(newBatchId, fingerprint, await rerunOrder(earlier, request)));
    },

    /**
     * Resumes a batch for the caller: the caller's key provides the budget and the fixed metadata.
     * @throws NOT_FOUND; PRECONDITION_FAILED if the batch isn't paused
     */
    resume: async ({ batchId, userId, runner, maxMillicredits }: proto.ResumeBatchRequest): Promise<BatchRecord> => {
      const limit = maxMillicredits === undefined ? {} : { maxMillicredits };
      const batch = await batches.resume(batchId, userId, { ...limit, ...(runner && (await takenOver(batchId, runner))) });
      if (!batch) {
        const { status } = await owned(batchId, userId);
        throw new DomainError("precondition", "PRECONDITION_FAILED", `the batch is not paused: it is ${status}`);
      }
      await start(batch);
      return batch;
    },

    /** Resumes a user's batches that an account budget has paused. Called after a budget was raised. @returns the number of batches */
    resumePaused: async (userId: string): Promise<number> => {
      const paused = (await batches.open(userId)).filter(({ status, reason }) => status === "paused" && isOutOfBudget(reason));
      const resumed = await Promise.all(paused.map(({ _id }) => batches.resume(_id, userId)));
      for (const batch of resumed) if (batch) await start(batch);
      return paused.length;
    },

    cancel,

    /** Cancels all batches of a user that haven't ended. @returns the number of batches */
    cancelAll: async ({ userId, createdBy }: proto.CancelBatchesRequest): Promise<number> => {
      const openBatches = (await batches.open(userId)).filter(({ createdAt }) => !createdBy || createdAt <= createdBy);
      for (const { _id } of openBatches) await cancel(_id, userId);
      return openBatches.length;
    },
  };
};
