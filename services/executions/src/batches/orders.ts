import { DomainError, invalidInputs, invalidRequest, preconditionFailed, USUAL_CAPS } from "@nodeloom/kernel";
import type { batches as proto } from "@nodeloom/proto";
import { FINAL_BATCHES, type BatchRecord, type ItemInput } from "../run/batch";
import { isOutOfBudget } from "../run/batch-reasons";
import { metadataKeys, metadataOf } from "../run/record";
import { checkNotEmptied } from "../run/refusals";
import { requireKeyAlias } from "../plan/planning";
import { withKeyMetadata } from "../accept/run-input";
import type { Items } from "./item";
import { createOwned } from "./owned";
import { createPlacing, webhookOf, type CreatedBatch, type Order, type PlacingOptions, type TestOrder, type WhichTests } from "./placing";
import { statusOfRow } from "./view";
import type { ReadTable } from "./table";
import type { Runner } from "../run/runner";

/** Rows of an earlier batch that are in memory at once. */
const ROWS_AT_ONCE = 100;
const RERUN: ReadonlySet<string> = new Set(["failed", "cancelled", "skipped"]);

export interface OrdersOptions extends PlacingOptions {
  readTable: ReadTable;
}

/** Keeps a batch's own webhook if another caller resumes the batch. */
const resumedBy = (runner: Runner, { webhookUrl, webhookEvents, webhookOwn }: Runner): Runner =>
  webhookOwn ? { ...runner, webhookUrl, webhookEvents, webhookOwn } : runner;

const checkItems = (count: number, { maxBatchRows: most = USUAL_CAPS.batchRows }: Runner): void => {
  if (count === 0) throw invalidInputs([{ path: "inputs", message: "must have at least one item" }]);
  if (count > most) throw invalidInputs([{ path: "inputs", message: `must have at most ${most} items` }]);
};

export type Orders = ReturnType<typeof createOrders>;

export const createOrders = ({ stores, pricing, readTable, starter, channel, logger }: OrdersOptions) => {
  const { batches, payloads } = stores;
  const owned = createOwned(batches);
  const { inTurn, start, existingBatch, place, placeBoth } = createPlacing({ stores, pricing, starter, channel, logger });
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
    if (!mediaId) checkItems(orderItems.length, runner);
    const items = mediaId ? await readTable(mediaId, to, runner) : orderItems;
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

  /** Returns the price of batches, with the number of items of the first one. */
  const quoteOf = async (all: readonly Order[]): Promise<proto.QuoteBatchResponse> => {
    const pricedBatches = [];
    for (const order of all) pricedBatches.push(await pricing(order));
    return {
      total: pricedBatches[0]?.items.length ?? 0,
      millicredits: pricedBatches.reduce((sum, { estimated }) => sum + estimated, 0),
      maxMillicredits: pricedBatches.reduce((sum, { most, estimated }) => sum + Math.max(most, estimated), 0),
      exact: pricedBatches.every(({ isExact }) => isExact),
    };
  };

  /** Returns the indexes of a batch's rows in some states. */
  const indexesOf = async (batch: BatchRecord, statuses: readonly string[]): Promise<number[]> => {
    const indexes: number[] = [];
    for (let next = 0; next < batch.total;) {
      const rows = await batches.rowsFrom(batch._id, next, ROWS_AT_ONCE);
      if (rows.length === 0) break;
      for (const row of rows) if (!row.isErased && statuses.includes(statusOfRow(batch, row))) indexes.push(row.index);
      next = rows.at(-1)!.index + 1;
    }
    return indexes;
  };

  /** Reads the inputs of rows again, a page at a time. @throws PRECONDITION_FAILED if some were deleted */
  const itemsAt = (batchId: string, indexes: readonly number[]): Items => ({
    async *[Symbol.asyncIterator]() {
      for (let from = 0; from < indexes.length; from += ROWS_AT_ONCE) {
        const rows = await batches.rowsAt(batchId, indexes.slice(from, from + ROWS_AT_ONCE));
        for (const { input } of rows) {
          const json = await payloads.getText(input);
          if (json === null) throw preconditionFailed("the inputs of the batch were deleted at the end of their retention");
          yield JSON.parse(json) as ItemInput;
        }
      }
    },
  });

  const rerunOrder = async (earlier: BatchRecord, { statuses, runner, maxMillicredits }: proto.RerunBatchRequest): Promise<Order> => {
    const indexes = await indexesOf(earlier, statuses);
    if (indexes.length === 0) throw preconditionFailed(`the batch has no rows with the status ${statuses.join(" or ")}`);
    const { target, version, alias, until = "", concurrency, stopsOnError, itemWebhooks, metadata, retentionDays } = earlier;
    return {
      ...{ target, version, alias, until, concurrency, stopsOnError, itemWebhooks, maxMillicredits, rerunOf: earlier._id },
      retentionDays,
      // The key that resumes the batch may fix other values.
      metadata: metadataKeys(withKeyMetadata(metadataOf(metadata), runner)),
      runner: runner!,
      items: itemsAt(earlier._id, indexes),
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
    create: async ({ batchId, order, fingerprint }: proto.CreateBatchRequest): Promise<CreatedBatch> => {
      const userId = order?.runner?.userId ?? "";
      const batch = await existingBatch(batchId, userId, fingerprint);
      if (batch) return { batch, isReplay: true };
      return inTurn(userId, async () => place(batchId, fingerprint, await read(order)));
    },

    /** Runs the tests of a workflow. Requests with the same id get the same batch. @param readTests reads the tests of a new batch */
    placeTests: async (which: WhichTests, readTests: () => Promise<TestOrder>): Promise<CreatedBatch> => {
      const { batchId, fingerprint, userId } = which;
      const batch = await existingBatch(batchId, userId, fingerprint);
      if (batch) return { batch, isReplay: true };
      return inTurn(userId, async () => placeBoth(which, await readTests()));
    },

    quote: async ({ order: batchOrder }: proto.QuoteBatchRequest): Promise<proto.QuoteBatchResponse> =>
      inTurn(batchOrder?.runner?.userId ?? "", async () => quoteOf([await read(batchOrder)])),

    /** Returns the price of a workflow's tests with those to compare with. */
    quoteTests: (userId: string, readTests: () => Promise<TestOrder>): Promise<proto.QuoteBatchResponse> =>
      inTurn(userId, async () => {
        const { order, compared } = await readTests();
        return quoteOf([order, ...(compared ? [compared.order] : [])]);
      }),

    /** Creates a batch from rows of an earlier batch. @throws NOT_FOUND, SOURCE_ERASED, PRECONDITION_FAILED */
    rerun: async (request: proto.RerunBatchRequest): Promise<CreatedBatch> => {
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
        throw preconditionFailed(`the batch is not paused: it is ${status}`);
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
