/** Rows that move from the database of one service to that of another: each once, decided by one conditional update of the old row. */
import { randomUUID } from "node:crypto";
import type { mongo } from "mongoose";
import { insertOnce, isDuplicateKey } from "./mongo";

interface Row {
  _id: string;
}
/** Kept on the old row, which ends some days later: a process of the release before can still read it. */
export interface Move {
  by: string;
  at: Date;
}
interface Movable extends Row {
  moved?: Move;
}

/** How long a mover may take that has changed the owner of a row, and not stored it. */
const ARRIVAL_MS = 3_600_000;
const PAGE = 500;

/** Makes the other service the owner of a row, unless another move has. @returns the row as it was last */
export const takeRow = async <R extends Row>(old: mongo.Collection<R>, id: string, moveId: string): Promise<R | null> => {
  const isFree = { _id: id, $or: [{ moved: { $exists: false } }, { "moved.by": moveId }] };
  const found = await old.findOneAndUpdate(isFree as never, { $set: { moved: { by: moveId, at: new Date() } } } as never, {
    returnDocument: "after",
    projection: { moved: 0 },
  });
  return found as R | null;
};

/** Ids of old rows that have not moved, or might not have arrived yet, in their order. */
export async function* unmovedIds<R extends Row>(old: mongo.Collection<R>, filter: object = {}): AsyncIterable<string> {
  const recently = new Date(Date.now() - ARRIVAL_MS);
  const unmoved = { ...filter, $or: [{ moved: { $exists: false } }, { "moved.at": { $gt: recently } }] };
  for (let after = "", isLast = false; !isLast;) {
    const page = await (old as unknown as mongo.Collection<Movable>)
      .find({ $and: [unmoved, { _id: { $gt: after } }] } as never, { projection: { _id: 1 }, sort: { _id: 1 }, limit: PAGE })
      .toArray();
    for (const { _id } of page) yield _id;
    after = page.at(-1)?._id ?? after;
    isLast = page.length < PAGE;
  }
}

export interface ArrivalOptions<R extends Row> {
  /** Fields of a row on its way that unique indexes need. */
  placeholder(id: string): object;
  /** The row in another form, where a unique index refuses it. */
  again(row: R): R;
}

/**
 * Stores rows that move here. A placeholder with the id of the move is stored first, and only that move replaces it: whoever crashes,
 * another process goes on with the same move; a row that was removed here never comes back.
 * @param take makes this service the owner of a row; null where another move has
 * @returns whether the row arrived by this call
 */
export const createArrival =
  <R extends Row>(collection: mongo.Collection<R>, { placeholder, again }: ArrivalOptions<R>) =>
  async (id: string, take: (moveId: string) => Promise<R | null>): Promise<boolean> => {
    const rows = collection as unknown as mongo.Collection<Row & { arriving?: string }>;
    const known = await rows.findOne({ _id: id });
    if (known && known.arriving === undefined) return false;
    const moveId = known?.arriving ?? randomUUID();
    if (!known && !(await insertOnce(rows.insertOne({ ...placeholder(id), _id: id, arriving: moveId })))) return false;
    const row = await take(moveId);
    if (!row) {
      await rows.deleteOne({ _id: id, arriving: moveId });
      return false;
    }
    const store = async (one: R): Promise<boolean> =>
      (await rows.replaceOne({ _id: id, arriving: moveId }, one as object)).modifiedCount === 1;
    try {
      return await store(row);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return store(again(row));
    }
  };
