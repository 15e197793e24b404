import { unavailable } from "@nodeloom/kernel";
import type { mongo } from "mongoose";
import { createBatcher, type BatchItem } from "../work/batcher";
import { isDuplicateKey } from "./mongo";

/** Documents of one command. */
const MAX_BATCH = 100;
const MAX_WAITING = 5_000;
/** An insert that waited longer for its turn is refused. */
const MAX_WAIT_MS = 10_000;

/**
 * Inserts a document, acknowledged as the inserter was told to.
 * @returns whether it was inserted; false where a unique index has its key already
 * @throws DomainError SERVICE_UNAVAILABLE when too many wait, or the driver's error
 */
export type Inserter<T> = (document: T) => Promise<boolean>;

interface BulkError {
  writeErrors?: unknown;
  result?: { getWriteConcernError?(): unknown };
}

/** What became of each document of a command that failed; undefined where the whole command did. */
const outcomesOf = (error: unknown, count: number): (true | Error)[] | undefined => {
  const { writeErrors, result } = error as BulkError;
  const failures = Array.isArray(writeErrors) ? writeErrors : writeErrors === undefined ? [] : [writeErrors];
  if (failures.length === 0 || result?.getWriteConcernError?.() !== undefined) return undefined;
  const outcomes = Array.from({ length: count }, (): true | Error => true);
  for (const failure of failures as (Error & { index: number })[]) outcomes[failure.index] = failure;
  return outcomes;
};

/** Inserts into one collection: what arrives while a command is under way goes with the next one. */
export const createInserter = <T extends { _id: string }>(
  collection: Pick<mongo.Collection, "insertMany">,
  writeConcern: mongo.WriteConcernSettings,
): Inserter<T> => {
  const answer = ({ resolve, reject }: BatchItem<T, boolean>, outcome: true | Error): void => {
    if (outcome === true) resolve(true);
    else if (isDuplicateKey(outcome)) resolve(false);
    else reject(outcome);
  };
  const batcher = createBatcher<T, boolean>({
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    overloaded: () => unavailable("too much waits to be recorded"),
    closed: () => unavailable("the process is stopping"),
    work: async (_key, batch) => {
      try {
        await collection.insertMany(batch.map(({ value }) => value) as never, { ordered: false, writeConcern: writeConcern as never });
        for (const item of batch) item.resolve(true);
      } catch (error) {
        const outcomes = outcomesOf(error, batch.length);
        batch.forEach((item, index) => (outcomes ? answer(item, outcomes[index]!) : item.reject(error)));
      }
    },
  });
  return (document) => batcher.submit("", document, Date.now() + MAX_WAIT_MS);
};
