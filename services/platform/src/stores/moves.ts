/**
 * Moves rows between the databases of two services. One conditional update of the old row decides each move, so that a row moves only once.
 */
import { randomUUID } from "node:crypto";
import type { mongo } from "mongoose";
import { insertOnce, isDuplicateKey } from "./mongo";

interface Row {
  _id: string;
}
/** Stored in the old row. The row is deleted some days later, because a process of the previous release may still read it. */
export interface Move {
  by: string;
  at: Date;
}
interface Movable extends Row {
  moved?: Move;
}

/** Time after a move during which its row is processed again, because the mover may have crashed before storing it. */
const ARRIVAL_MS = 3_600_000;
const PAGE = 500;

/**
 * Makes the other service the owner of a row, unless another move already did.
 * @returns the row's last state
 */
export const takeRow = async <R extends Row>(old: mongo.Collection<R>, id: string, moveId: string): Promise<R | null> => {
  const isFree = { _id: id, $or: [{ moved: { $exists: false } }, { "moved.by": moveId }] };
  const row = await old.findOneAndUpdate(isFree as never, { $set: { moved: { by: moveId, at: new Date() } } } as never, {
    returnDocument: "after",
    projection: { moved: 0 },
  });
  return row as R | null;
};

/** Ids, in order, of old rows that haven't moved or may not have arrived. */
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
  /** Fields that unique indexes need until the row arrives. */
  placeholder(id: string): object;
  /** Returns another form of the row, used if a unique index rejects the first. */
  again(row: R): R;
}

/**
 * Stores rows that move to this service. A placeholder with the move's id is stored first, and only that move replaces it. If a process
 * crashes, another continues the move. A row that was deleted here is never stored again.
 * @param take makes this service the owner of a row; returns null if another move did
 * @returns whether this call stored the row
 */
export const createArrival =
  <R extends Row>(collection: mongo.Collection<R>, { placeholder, again }: ArrivalOptions<R>) =>
  async (id: string, take: (moveId: string) => Promise<R | null>): Promise<boolean> => {
    const rows = collection as unknown as mongo.Collection<Row & { arriving?: string }>;
    const arrivedRow = await rows.findOne({ _id: id });
    if (arrivedRow && arrivedRow.arriving === undefined) return false;
    const moveId = arrivedRow?.arriving ?? randomUUID();
    if (!arrivedRow && !(await insertOnce(rows.insertOne({ ...placeholder(id), _id: id, arriving: moveId })))) return false;
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
