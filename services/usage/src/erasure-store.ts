import { createErasure, DURABLE, removeSome, untilNone, type Erase, type EraseRuns, type RemovedPage } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { keysOfUser } from "./totals/totals";

const PAGE = 1_000;

/** Erases an account's usage. @param connection must have the models */
export const createEraseUsage = (connection: Connection): Erase => {
  const { UsageRow, UsageFolds, UsageTotals, UsageDays } = connection.models;
  const some = async (model: typeof UsageRow, filter: object): Promise<RemovedPage> =>
    untilNone(await removeSome(model as never, filter, PAGE));

  return createErasure<"usage">((userId) => ({
    // Rows come first: a removed row can't be part of a new fold.
    usage: () => some(UsageRow, { userId }),
    usage_folds: () => some(UsageFolds, { _id: userId }),
    usage_totals: () => some(UsageTotals, { _id: keysOfUser(userId) }),
    usage_days: () => some(UsageDays, { _id: keysOfUser(userId) }),
  }));
};

/** Leaves ids and amounts of an account's runs. @param connection must have the models */
export const createEraseRuns =
  (connection: Connection): EraseRuns =>
  async (userId, executionIds) => {
    const own = { _id: { $in: [...executionIds] }, userId };
    await connection.models
      .UsageRow!.updateMany(own, { $set: { metadata: {}, requestId: null } }, { writeConcern: DURABLE as never })
      .exec();
  };
