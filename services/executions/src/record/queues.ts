/** Stores users' queues. Each queue is one document, and updates change it one at a time. */
import { CONFLICT_ATTEMPTS, unavailable } from "@nodeloom/kernel";
import { createBatcher, insertOnce, retryOnConflict } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { LRUCache } from "lru-cache";
import { documents } from "./schema";
import { EMPTY_QUEUE, type RunQueue } from "../run/queue";
import { arranged, queueChanges, withoutEnded } from "./queue-changes";

interface QueueRecord extends RunQueue {
  /** User id. */
  _id: string;
  revision: number;
}

const CACHED_QUEUES = 2_000;
/** Maximum changes of one user's queue that share a write, and maximum changes that wait for a write. */
const MAX_BATCH = 1_000;
const MAX_WAITING = 10_000;

/** A change, decided from the queue's state at the time of the write. */
type Decide<R> = (queue: RunQueue) => { queue: RunQueue; result: R };

const tooBusy = (): Error => unavailable("your queue of runs is changing too often: retry");

/**
 * Stores users' queues. Changes that arrive during a write share the next write. Each write requires the revision that the changes were
 * decided from.
 */
export const createQueueStore = (connection: Connection) => {
  const queues = connection.model("Line", documents<QueueRecord>("lines"));
  const cachedQueues = new LRUCache<string, QueueRecord>({ max: CACHED_QUEUES });

  const read = async (userId: string): Promise<QueueRecord> =>
    (await queues.findOne({ _id: userId }).lean<QueueRecord>().exec()) ?? { ...EMPTY_QUEUE, _id: userId, revision: 0 };

  const write = async (before: QueueRecord, { running, waiting, limit, approvals }: RunQueue): Promise<QueueRecord | null> => {
    const { _id, revision } = before;
    const next: QueueRecord = { _id, running, waiting, limit, ...(approvals ? { approvals } : {}), revision: revision + 1 };
    const isWritten =
      revision === 0
        ? await insertOnce(queues.collection.insertOne(next as never))
        : (await queues.collection.updateOne({ _id, revision } as never, queueChanges(before, next) as never)).matchedCount === 1;
    return isWritten ? next : null;
  };

  /** Applies changes to the cached or stored queue. @returns their results; undefined if the queue has changed since it was read */
  const changeOnce = async (userId: string, changes: readonly Decide<unknown>[]): Promise<unknown[] | undefined> => {
    const remembered = cachedQueues.get(userId);
    // Read the queue again next time, unless a write proves that the copy is current.
    cachedQueues.delete(userId);
    const before = remembered ?? (await read(userId));
    let current: RunQueue = before;
    const results = changes.map((decide) => {
      const { queue, result } = decide(current);
      current = queue;
      return result;
    });
    if (current === before) return remembered ? undefined : results;
    const next = arranged(before, current);
    const shorter = withoutEnded(before, next);
    const stored = shorter ? await write(before, shorter) : before;
    const nextQueue = stored && (await write(stored, next));
    if (!nextQueue) return undefined;
    cachedQueues.set(userId, nextQueue);
    return results;
  };

  const batcher = createBatcher<Decide<unknown>, unknown>({
    work: async (userId, batch) => {
      const changes = batch.map(({ value }) => value);
      try {
        const results = await retryOnConflict(CONFLICT_ATTEMPTS.line, () => changeOnce(userId, changes));
        if (!results) throw tooBusy();
        batch.forEach(({ resolve }, index) => resolve(results[index]));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    },
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    overloaded: tooBusy,
  });

  return {
    /** Changes a user's queue. Concurrent changes are decided one after another. @throws SERVICE_UNAVAILABLE */
    change: <R>(userId: string, decide: Decide<R>): Promise<R> => batcher.submit(userId, decide, Number.POSITIVE_INFINITY) as Promise<R>,

    find: (userId: string): Promise<RunQueue> => read(userId),
  };
};
