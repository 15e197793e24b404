/**
 * Schedules and hooks that version 1.0.0 stored in executions. Each row moves to this service once: on its first use, or by `migrate`.
 * Remove this with the release after the next.
 */
import { createArrival, takeRow, unmovedIds } from "@nodeloom/platform";
import { mongo, type Connection } from "mongoose";
import type { Executions } from "./clients";

const MOVED = ["schedules", "hooks"] as const;
type MovedKind = (typeof MOVED)[number];
interface Row {
  _id: string;
  slot: number;
}

/**
 * Moves a row if executions releases it.
 * @returns true if this service now has the row
 */
type Arrive = (collection: MovedKind, id: string, take: (moveId: string) => Promise<Row | null>) => Promise<boolean>;

/** Values for a row that is being moved. It has no slot and no address yet. */
const placeholder = (id: string) => ({ userId: `arriving:${id}`, slot: 0, secretHash: `arriving:${id}` });
/** Returns a slot for a row whose own slot was taken. It is higher than every assigned slot. */
const spareSlot = (): number => Date.now();

const createArrive = (connection: Connection): Arrive => {
  const collections = Object.fromEntries(
    MOVED.map((name) => [
      name,
      createArrival(connection.collection<Row>(name), { placeholder, again: (row) => ({ ...row, slot: spareSlot() }) }),
    ]),
  ) as Record<MovedKind, ReturnType<typeof createArrival<Row>>>;
  return (collection, id, take) => collections[collection](id, take);
};

/** Moves all rows from one database to the other. */
export const moveAll = async (own: Connection, executions: Connection): Promise<number> => {
  const arrive = createArrive(own);
  let moved = 0;
  for (const name of MOVED) {
    const rows = executions.collection<Row>(name);
    for await (const id of unmovedIds(rows)) moved += Number(await arrive(name, id, (moveId) => takeRow(rows, id, moveId)));
  }
  return moved;
};

export type Arrivals = ReturnType<typeof createArrivals>;

export const createArrivals = (connection: Connection, executions: Pick<Executions, "findUnmoved" | "moveTrigger">) => {
  const arrive = createArrive(connection);
  const move = async (which: { ownerId?: string; id?: string; secretHash?: string }): Promise<number> => {
    const unmoved = await executions.findUnmoved({ ownerId: "", id: "", secretHash: "", ...which });
    const take = (collection: MovedKind, id: string) => async (moveId: string) => {
      const { document } = await executions.moveTrigger({ collection, id, moveId });
      return document.length === 0 ? null : (mongo.BSON.deserialize(document) as Row);
    };
    for (const id of unmoved.scheduleIds) await arrive("schedules", id, take("schedules", id));
    for (const id of unmoved.hookIds) await arrive("hooks", id, take("hooks", id));
    return unmoved.scheduleIds.length + unmoved.hookIds.length;
  };
  return {
    ofOwner: async (ownerId: string): Promise<void> => void (await move({ ownerId })),

    /** True if executions still has a row with this id. */
    isUnmoved: async (id: string): Promise<boolean> => {
      const { scheduleIds, hookIds } = await executions.findUnmoved({ ownerId: "", id, secretHash: "" });
      return scheduleIds.length + hookIds.length > 0;
    },

    /** Looks in this database first, and again after a row with this id or address has moved. */
    find: async <T>(which: { id: string } | { secretHash: string }, look: () => Promise<T | null>): Promise<T | null> =>
      (await look()) ?? ((await move(which)) > 0 ? look() : null),
  };
};
