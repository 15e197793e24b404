import {
  createErasure,
  DURABLE,
  removeSome,
  untilNone,
  type Erase,
  type EraseMetadata,
  type EraseRuns,
  type RemovedPage,
} from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { keysOfUser } from "./totals/totals";

const PAGE = 1_000;

/** Erases an account's usage. @param connection connection on which the models are registered */
export const createEraseUsage = (connection: Connection): Erase => {
  const { UsageRow, UsageFolds, UsageTotals, UsageDays } = connection.models;
  const some = async (model: typeof UsageRow, filter: object): Promise<RemovedPage> =>
    untilNone(await removeSome(model as never, filter, PAGE));

  return createErasure<"usage">((userId) => ({
    // Rows are removed first, because a removed row can't become part of a new fold.
    usage: () => some(UsageRow, { userId }),
    usage_folds: () => some(UsageFolds, { _id: userId }),
    usage_totals: () => some(UsageTotals, { _id: keysOfUser(userId) }),
    usage_days: () => some(UsageDays, { _id: keysOfUser(userId) }),
  }));
};

/**
 * Removes everything except ids and amounts from rows of an account's runs. @param connection connection on which the models are registered
 */
export const createEraseRuns =
  (connection: Connection): EraseRuns =>
  async (userId, executionIds) => {
    const own = { _id: { $in: [...executionIds] }, userId };
    await connection.models
      .UsageRow!.updateMany(own, { $set: { metadata: {}, requestId: null } }, { writeConcern: DURABLE as never })
      .exec();
  };

/** Matches a name that can be part of a path. */
const PLAIN = /^[^.$][^.]*$/;

/** Removes a metadata value from an account's rows. @param connection connection on which the models are registered */
export const createEraseMetadata =
  (connection: Connection): EraseMetadata =>
  async ({ ownerId: userId, name, value, within }) => {
    const rows = connection.models.UsageRow!.collection;
    const metadataFilter = Object.entries({ ...within, [name]: value });
    if (metadataFilter.every(([key]) => PLAIN.test(key))) {
      const paths = Object.fromEntries(metadataFilter.map(([key, text]) => [`metadata.${key}`, text]));
      await rows.updateMany({ userId, ...paths }, { $unset: { [`metadata.${name}`]: "" } }, { writeConcern: DURABLE as never });
      return;
    }
    for await (const { _id, metadata } of rows.find({ userId }, { projection: { metadata: 1 }, batchSize: PAGE })) {
      const entries = metadata as Record<string, string>;
      if (!metadataFilter.every(([key, text]) => Object.hasOwn(entries, key) && entries[key] === text)) continue;
      const { [name]: _, ...others } = entries;
      await rows.updateOne({ _id }, { $set: { metadata: others } }, { writeConcern: DURABLE as never });
    }
  };
