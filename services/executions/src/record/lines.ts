/** Users' lines: each is one document, changed by one update at a time. */
import { CONFLICT_ATTEMPTS, unavailable } from "@nodeloom/kernel";
import { createBatcher, insertOnce, retryOnConflict } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { LRUCache } from "lru-cache";
import { documents } from "./schema";
import { EMPTY_LINE, type Line } from "../run/line";

interface LineRecord extends Line {
  /** The user. */
  _id: string;
  revision: number;
}

const CACHED_LINES = 2_000;
/** Changes of one user's line that share a write, and that may wait for theirs. */
const MAX_BATCH = 1_000;
const MAX_WAITING = 10_000;

/** One change, decided on the line as it is when the change is written. */
type Decide<R> = (line: Line) => { line: Line; result: R };

const tooBusy = (): Error => unavailable("the line changes too often");

/**
 * Users' lines. Changes that arrive while a user's last one is being written share the next write, which is conditional on
 * the revision that they were decided on.
 */
export const createLineStore = (connection: Connection) => {
  const lines = connection.model("Line", documents<LineRecord>("lines"));
  const known = new LRUCache<string, LineRecord>({ max: CACHED_LINES });

  const read = async (userId: string): Promise<LineRecord> =>
    (await lines.findOne({ _id: userId }).lean<LineRecord>().exec()) ?? { ...EMPTY_LINE, _id: userId, revision: 0 };

  const write = async (before: LineRecord, { running, waiting, limit, approvals }: Line): Promise<LineRecord | null> => {
    const next: LineRecord = {
      _id: before._id,
      running,
      waiting,
      limit,
      ...(approvals ? { approvals } : {}),
      revision: before.revision + 1,
    };
    const isWritten =
      before.revision === 0
        ? await insertOnce(lines.collection.insertOne(next as never))
        : (await lines.collection.updateOne({ _id: before._id, revision: before.revision } as never, { $set: next as never }))
            .matchedCount === 1;
    return isWritten ? next : null;
  };

  /** Makes changes on the line as it is remembered or read. @returns what each gives; undefined when the line has changed since */
  const changeOnce = async (userId: string, changes: readonly Decide<unknown>[]): Promise<unknown[] | undefined> => {
    const remembered = known.get(userId);
    // Read again next time, unless a write proves that it is the current one.
    known.delete(userId);
    const before = remembered ?? (await read(userId));
    let current: Line = before;
    const results = changes.map((decide) => {
      const { line, result } = decide(current);
      current = line;
      return result;
    });
    if (current === before) return remembered ? undefined : results;
    const written = await write(before, current);
    if (!written) return undefined;
    known.set(userId, written);
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
    /** Changes a user's line; concurrent changes are decided one after another. @throws SERVICE_UNAVAILABLE */
    change: <R>(userId: string, decide: Decide<R>): Promise<R> => batcher.submit(userId, decide, Number.POSITIVE_INFINITY) as Promise<R>,

    find: (userId: string): Promise<Line> => read(userId),
  };
};
