import { unavailable } from "@nodeloom/kernel";
import type { mongo } from "mongoose";
import { createBatcher, type BatchItem } from "../work/batcher";
import { bulkFailures } from "./bulk-failures";

const MAX_BATCH = 100;
const MAX_WAITING = 10_000;
/** Maximum wait of an update. It is rejected after that. */
const MAX_WAIT_MS = 10_000;

export interface OneUpdate {
  filter: { _id: string } & Record<string, unknown>;
  update: Record<string, unknown>;
  upsert?: boolean;
}

/**
 * Makes an update.
 * @returns whether it matched or inserted a document; undefined if that is unknown because other updates in the command didn't match
 * @throws DomainError SERVICE_UNAVAILABLE if too many updates wait, or the driver's error
 */
export type Updater = (update: OneUpdate) => Promise<boolean | undefined>;

type Item = BatchItem<OneUpdate, boolean | undefined>;
const countOf = ({ matchedCount, upsertedCount }: Pick<mongo.BulkWriteResult, "matchedCount" | "upsertedCount">): number =>
  matchedCount + upsertedCount;

/**
 * Creates an updater for one collection. Updates that arrive during a command are sent together in the next command, in no particular
 * order.
 */
export const createUpdater = (
  collection: Pick<mongo.Collection, "updateOne" | "bulkWrite">,
  writeConcern: mongo.WriteConcernSettings,
): Updater => {
  const options = { writeConcern: writeConcern as never, ignoreUndefined: true } as const;

  const writeOne = async ({ value: { filter, update, upsert = false }, resolve, reject }: Item): Promise<void> => {
    await collection
      .updateOne(filter as object, update as object, { ...options, upsert })
      .then((result) => resolve(countOf(result) === 1), reject);
  };

  const writeMany = async (batch: readonly Item[]): Promise<void> => {
    const updates = batch.map(({ value }) => ({ updateOne: { upsert: false, ...value } }));
    try {
      const updatedCount = countOf(await collection.bulkWrite(updates as never, { ...options, ordered: false }));
      for (const { resolve } of batch) resolve(updatedCount === batch.length || (updatedCount === 0 ? false : undefined));
    } catch (error) {
      const failures = bulkFailures(error);
      batch.forEach(({ resolve, reject }, index) => {
        const failure = failures ? failures.get(index) : error;
        if (failure === undefined) resolve(undefined);
        else reject(failure);
      });
    }
  };

  const batcher = createBatcher<OneUpdate, boolean | undefined>({
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    overloaded: () => unavailable("too much waits to be recorded"),
    work: (_key, batch) => (batch.length === 1 ? writeOne(batch[0]!) : writeMany(batch)),
  });
  return (update) => batcher.submit("", update, Date.now() + MAX_WAIT_MS);
};
