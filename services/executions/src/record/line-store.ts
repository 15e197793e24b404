import { insertOnce } from "@nodeloom/platform";
import { Schema, type Connection } from "mongoose";
import { LRUCache } from "lru-cache";
import { EMPTY_LINE, type Line } from "../lifecycle/line";

interface LineRecord extends Line {
  /** The user. */
  _id: string;
  /** One more with every change. */
  revision: number;
}

const lineSchema = new Schema<LineRecord>(
  { _id: String, running: [String], waiting: [Schema.Types.Mixed], limit: Number, revision: Number },
  { collection: "lines", versionKey: false, minimize: false },
);

const CACHED_LINES = 2_000;
const MAX_ATTEMPTS = 50;

/** One change, decided on the line as it is when the change is written. */
type Decide<R> = (line: Line) => { line: Line; result: R };
interface Pending {
  decide: Decide<unknown>;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

export type LineStore = ReturnType<typeof createLineStore>;

/**
 * Users' lines. Changes that arrive while a user's last one is being written share the next write, which is conditional on
 * the revision that they were decided on.
 */
export const createLineStore = (connection: Connection) => {
  const lines = connection.model("Line", lineSchema);
  const known = new LRUCache<string, LineRecord>({ max: CACHED_LINES });
  const pending = new Map<string, Pending[]>();

  const read = async (userId: string): Promise<LineRecord> =>
    (await lines.findOne({ _id: userId }).lean<LineRecord>().exec()) ?? { ...EMPTY_LINE, _id: userId, revision: 0 };

  const write = async (before: LineRecord, { running, waiting, limit }: Line): Promise<LineRecord | null> => {
    const next: LineRecord = { _id: before._id, running, waiting, limit, revision: before.revision + 1 };
    const isWritten =
      before.revision === 0
        ? await insertOnce(lines.collection.insertOne(next as never))
        : (await lines.collection.updateOne({ _id: before._id, revision: before.revision } as never, { $set: next as never }))
            .matchedCount === 1;
    return isWritten ? next : null;
  };

  /** One attempt at a batch; false when it must be decided again on a newer line. */
  const attempt = async (userId: string, batch: readonly Pending[]): Promise<boolean> => {
    const remembered = known.get(userId);
    const before = remembered ?? (await read(userId));
    let current: Line = before;
    const results = batch.map(({ decide }) => {
      const { line, result } = decide(current);
      current = line;
      return result;
    });
    if (current !== before) {
      const written = await write(before, current);
      if (!written) {
        known.delete(userId);
        return false;
      }
      known.set(userId, written);
    } else if (remembered) {
      // Nothing has proved that the remembered line is still the current one.
      known.delete(userId);
      return false;
    }
    batch.forEach(({ resolve }, index) => resolve(results[index]));
    return true;
  };

  const serve = async (userId: string): Promise<void> => {
    for (let batch = pending.get(userId) ?? []; batch.length > 0; batch = pending.get(userId) ?? []) {
      pending.set(userId, []);
      try {
        let isDone = false;
        for (let count = 0; count < MAX_ATTEMPTS && !isDone; count += 1) isDone = await attempt(userId, batch);
        if (!isDone) throw new Error("a line changes too often");
      } catch (error) {
        known.delete(userId);
        for (const { reject } of batch) reject(error);
      }
    }
    pending.delete(userId);
  };

  return {
    /** Changes a user's line; concurrent changes are decided one after another. */
    change: <R>(userId: string, decide: Decide<R>): Promise<R> =>
      new Promise<R>((resolve, reject) => {
        const waiting = pending.get(userId);
        const one: Pending = { decide, resolve: (result) => resolve(result as R), reject };
        if (waiting) return void waiting.push(one);
        pending.set(userId, [one]);
        void serve(userId);
      }),

    /** A user's line as it is now. */
    find: (userId: string): Promise<Line> => read(userId),
  };
};
