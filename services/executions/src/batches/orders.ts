import { DomainError, invalidInputs, invalidRequest, USUAL_CAPS } from "@nodeloom/kernel";
import type { batches as proto } from "@nodeloom/proto";
import { FINAL_BATCHES, isOutOfBudget, type BatchRecord, type BatchRow, type ItemInput } from "../run/batch";
import { metadataKeys, metadataOf } from "../run/record";
import { checkNotEmptied } from "../run/retention";
import { requireKeyAlias } from "../plan/planning";
import { withKeyMetadata } from "../accept/key-metadata";
import { createOwned } from "./owned";
import { createPlacing, webhookOf, type CreatedBatch, type Order, type PlacingOptions, type TestOrder, type WhichTests } from "./placing";
import { statusOfRow } from "./view";
import type { ReadTable } from "./table";
import type { Runner } from "../run/runner";

const RERUN: ReadonlySet<string> = new Set(["failed", "cancelled", "skipped"]);

export interface OrdersOptions extends PlacingOptions {
  readTable: ReadTable;
}

/** Keeps a batch's own webhook if another caller resumes the batch. */
const resumedBy = (runner: Runner, { webhookUrl, webhookEvents, webhookOwn }: Runner): Runner =>
  webhookOwn ? { ...runner, webhookUrl, webhookEvents, webhookOwn } : runner;

const checkItems = (count: number, path: string, { maxBatchRows: most = USUAL_CAPS.batchRows }: Runner): void => {
  const refusal = path === "inputs" ? invalidInputs : invalidRequest;
  if (count === 0) throw refusal([{ path, message: "must have at least one item" }]);
  if (count > most) throw refusal([{ path, message: `must have at most ${most} items` }]);
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

  /** Returns the price of batches, with the number of items of the first one. */
  const quoteOf = async (all: readonly Order[]): Promise<proto.QuoteBatchResponse> => {
    const pricedBatches = [];
    for (const order of all) pricedBatches.push(await pricing(order));
    return {
      total: all[0]?.items.length ?? 0,
      millicredits: pricedBatches.reduce((sum, { estimated }) => sum + estimated, 0),
      maxMillicredits: pricedBatches.reduce((sum, { most, estimated }) => sum + Math.max(most, estimated), 0),
      exact: pricedBatches.every(({ isExact }) => isExact),
    };
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
