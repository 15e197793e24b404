/** Stores users' queues. Each queue is one document, and updates change it one at a time. */
import { CONFLICT_ATTEMPTS, unavailable } from "@nodeloom/kernel";
import { createBatcher, insertOnce, retryOnConflict } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { LRUCache } from "lru-cache";
import { documents } from "./schema";
import { EMPTY_QUEUE, type RunQueue } from "../run/queue";

/** An update from one state of a queue to the next. It names only changed entries, because a full queue has thousands. */
interface Changes {
  $set?: Record<string, unknown>;
  $push?: Record<string, unknown>;
  $pull?: Record<string, unknown>;
}

type Matching<T> = (removed: readonly T[]) => unknown;

/**
 * Puts new runs in the places of removed ones, so that an update only names the changed places. The order of running runs has no meaning,
 * and an update can't add to a list and remove from it, except from its start.
 */
export const arranged = (before: RunQueue, after: RunQueue): RunQueue => {
  const [was, is] = [new Set(before.running), new Set(after.running)];
  const added = after.running.filter((id) => !was.has(id));
  const freePlaces = before.running.flatMap((id, place) => (is.has(id) ? [] : [place]));
  if (freePlaces.length === 0 || added.length < freePlaces.length) return after;
  const running = [...before.running];
  freePlaces.forEach((place, index) => (running[place] = added[index]!));
  return { ...after, running: [...running, ...added.slice(freePlaces.length)] };
};

/** Up to so many running runs (about 2.5 kB), writing their list whole is cheaper than a second update. */
const SHORT_LIST = 100;

/**
 * Returns the earlier queue without the running runs that have ended, if fewer runs follow: an update can't remove from a list and add to
 * it. The ended runs of a long list are then removed first, and a second update writes the rest.
 * @returns undefined if one update is enough
 */
export const withoutEnded = (before: RunQueue, after: RunQueue): RunQueue | undefined => {
  if (before.running.length <= SHORT_LIST) return undefined;
  const is = new Set(after.running);
  const running = before.running.filter((id) => is.has(id));
  const isShorter = after.running.length < before.running.length;
  return isShorter && running.length < after.running.length ? { ...before, running } : undefined;
};

/**
 * Returns the changes of a list whose new entries are at its end, or in the places of removed ones.
 * @param matching the condition that only the given entries fulfil
 */
const changesOfList = <T>(name: string, before: readonly T[], after: readonly T[], matching: Matching<T>): Changes => {
  if (before === after) return {};
  const [was, is] = [new Set(before), new Set(after)];
  const remaining = before.filter((entry) => is.has(entry));
  const added = after.filter((entry) => !was.has(entry));
  const removed = before.filter((entry) => !is.has(entry));
  const places = after.flatMap((entry, place) => (entry === before[place] ? [] : [[`${name}.${place}`, entry] as const]));
  const areReplaced = removed.length > 0 && before.length <= after.length && places.length === added.length;
  if (areReplaced) return { $set: Object.fromEntries(places) };
  if (!remaining.every((entry, index) => entry === after[index])) return { $set: { [name]: after } };
  if (removed.length === 0) return added.length === 0 ? {} : { $push: { [name]: { $each: added } } };
  if (added.length === 0) return { $pull: { [name]: matching(removed) } };
  const isStart = removed.every((entry, index) => entry === before[index]);
  return isStart ? { $push: { [name]: { $each: added, $slice: -after.length } } } : { $set: { [name]: after } };
};

const ids: Matching<string> = (removed) => ({ $in: removed });

/** Returns the update from a stored queue to the next one. */
export const queueChanges = (before: RunQueue, after: RunQueue & { revision: number }): Changes => {
  const lists = [
    changesOfList("running", before.running, after.running, ids),
    changesOfList("waiting", before.waiting, after.waiting, (removed) => ({ id: { $in: removed.map(({ id }) => id) } })),
    after.approvals ? changesOfList("approvals", before.approvals ?? [], after.approvals, ids) : {},
  ];
  const $set = { limit: after.limit, revision: after.revision };
  const merged = (operator: keyof Changes): Record<string, unknown> => Object.assign({}, ...lists.map((changes) => changes[operator]));
  const operators = (["$push", "$pull"] as const).map((operator) => [operator, merged(operator)] as const);
  return {
    $set: { ...$set, ...merged("$set") },
    ...Object.fromEntries(operators.filter(([, entries]) => Object.keys(entries).length > 0)),
  };
};

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
