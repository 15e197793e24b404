import { unavailable } from "@nodeloom/kernel";
import type { mongo } from "mongoose";
import { createBatcher, type BatchItem } from "../work/batcher";
import { bulkFailures } from "./bulk-failures";
import { isDuplicateKey } from "./mongo";

const MAX_BATCH = 100;
const MAX_WAITING = 5_000;
/** Maximum wait of an insert. It is rejected after that. */
const MAX_WAIT_MS = 10_000;

/**
 * Inserts a document.
 * @returns false if a unique index already contains its key
 * @throws DomainError SERVICE_UNAVAILABLE if too many inserts wait, or the driver's error
 */
export type Inserter<T> = (document: T) => Promise<boolean>;

/** Creates an inserter for one collection. Documents that arrive during a command are sent together in the next command. */
export const createInserter = <T extends { _id: string }>(
  collection: Pick<mongo.Collection, "insertMany">,
  writeConcern: mongo.WriteConcernSettings,
): Inserter<T> => {
  const answer = ({ resolve, reject }: BatchItem<T, boolean>, failure: Error | undefined): void => {
    if (failure === undefined) resolve(true);
    else if (isDuplicateKey(failure)) resolve(false);
    else reject(failure);
  };
  const batcher = createBatcher<T, boolean>({
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    overloaded: () => unavailable("too much waits to be recorded"),
    work: async (_key, batch) => {
      try {
        await collection.insertMany(batch.map(({ value }) => value) as never, { ordered: false, writeConcern: writeConcern as never });
        for (const item of batch) item.resolve(true);
      } catch (error) {
        const failures = bulkFailures(error);
        batch.forEach((item, index) => (failures ? answer(item, failures.get(index)) : item.reject(error)));
      }
    },
  });
  return (document) => batcher.submit("", document, Date.now() + MAX_WAIT_MS);
};
