/** Users' queues: runs take places, wait for them, leave, and are started when their turn comes. */
import { executionOf } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { RunInput } from "../run/types";
import type { Stores } from "../record/stores";
import { admitApproval, enter, leave, moveUp, placeOf, resize, stepAside, type RunQueue, type Newcomer, type Place } from "../run/queue";
import { isOver } from "../run/states";

export type Queue = ReturnType<typeof createQueue>;

export interface QueueOptions {
  stores: Pick<Stores, "queues" | "rows" | "payloads">;
  starter: { start(run: RunInput): Promise<unknown>; placed(executionId: string): Promise<void> };
  logger: Logger;
}

/**
 * Runs of a user that have a place, and those that wait for one, each by what billing knows its attempt by. Concurrency is
 * bounded here and nowhere else.
 */
export const createQueue = ({ stores, starter, logger }: QueueOptions) => {
  /** Starts a run whose turn has come. Started twice it is carried once: its workflow claims the row. */
  const start = async (holdId: string): Promise<void> => {
    const row = await stores.rows.find(executionOf(holdId));
    // It has waited for a decision, and its workflow waits for its place.
    if (row?.status === "processing" && row.holdId === holdId && row.waits) return starter.placed(row._id);
    if (row?.status !== "queued" || row.holdId !== holdId || !row.runInput) return;
    const json = await stores.payloads.getText(row.runInput);
    if (json === null) return logger.error({ executionId: row._id }, "what a waiting run is started with is gone");
    await starter.start(JSON.parse(json) as RunInput);
  };

  const startAll = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      await start(id).catch((error: Error) => logger.warn({ holdId: id, reason: error.message }, "a waiting run could not be started"));
    }
  };

  /** Those among some attempts that are over, or that no row knows. */
  const overAmong = async (holdIds: readonly string[]): Promise<string[]> => {
    const rows = holdIds.length === 0 ? [] : await stores.rows.statesOf(holdIds.map(executionOf));
    const living = new Set(rows.filter((row) => !isOver(row)).map(({ holdId }) => holdId));
    return holdIds.filter((id) => !living.has(id));
  };

  /** Changes a queue and lets runs move up. Their turn is recorded: what isn't started now is started by the relay. */
  const change = (userId: string, decide: (queue: RunQueue) => RunQueue): Promise<ReturnType<typeof moveUp>> =>
    stores.queues.change(userId, (before) => {
      const result = moveUp(decide(before));
      return { queue: result.queue, result };
    });

  const changeAndStart = async (userId: string, decide: (queue: RunQueue) => RunQueue): Promise<void> => {
    const { moved } = await change(userId, decide);
    if (moved.length > 0) void startAll(moved);
  };

  /** The limit may have risen: those who wait move up first, and the newcomer with them where there is room for all. */
  const arrive = async (userId: string, newcomer: Newcomer): Promise<Place> => {
    let isThere = false;
    const { queue, moved } = await change(userId, (before) => {
      const entered = enter(before, newcomer);
      isThere = entered.place !== null;
      return entered.queue;
    });
    void startAll(moved.filter((id) => id !== newcomer.id));
    return isThere ? placeOf(queue, newcomer.id)! : null;
  };

  /** Puts a user's queue right: ends places of runs that are over, lets runs move up, and starts those that have a place but don't run. */
  const mend = async (userId: string, queued: readonly { id: string; bytes: number }[]): Promise<void> => {
    const { running, limit, approvals = [] } = await stores.queues.find(userId);
    const over = await overAmong([...new Set([...running, ...approvals])]);
    const { queue, moved } = await change(userId, (before) =>
      queued.reduce(
        (next, { id, bytes }) => enter(next, { id, bytes, limit: next.limit || limit, mayWait: true }).queue,
        leave(before, over),
      ),
    );
    const ready = queued.map(({ id }) => id).filter((id) => placeOf(queue, id) === 0);
    await startAll([...new Set([...moved, ...ready])]);
  };

  return {
    /** A run arrives: it gets a place, waits in the queue, or finds no room. Idempotent. */
    enter: async (userId: string, newcomer: Newcomer): Promise<Place> => {
      const place = await arrive(userId, newcomer);
      if (place !== null) return place;
      // A process that died may have left a place behind: it is looked for where it is in the way.
      await mend(userId, []);
      return arrive(userId, newcomer);
    },

    /** A run with an approval arrives. @returns false when the user has as many of them as may be under way */
    admitApproval: async (userId: string, id: string, most: number): Promise<boolean> => {
      const admit = (): Promise<boolean> =>
        stores.queues.change(userId, (queue) => {
          const admitted = admitApproval(queue, id, most);
          return { queue: admitted ?? queue, result: admitted !== undefined };
        });
      if (await admit()) return true;
      // As with places: what a process that died left behind is looked for where it is in the way.
      await mend(userId, []);
      return admit();
    },

    /** A run gives its place up for as long as it waits for decisions. */
    stepAside: (userId: string, id: string): Promise<void> => changeAndStart(userId, (queue) => stepAside(queue, id)),

    /** A run takes a place again, or waits for it behind those that came before. @param limit where the queue knows none */
    comeBack: async (userId: string, id: string, limit: number): Promise<number> => {
      const returned = await change(userId, (queue) => {
        const newcomer = { id, bytes: 0, limit: queue.limit || limit, mayWait: true, isReturning: true } as const;
        return enter(queue, newcomer).queue;
      });
      void startAll(returned.moved.filter((one) => one !== id));
      return placeOf(returned.queue, id) ?? 0;
    },

    leave: (userId: string, ids: readonly string[]): Promise<void> => changeAndStart(userId, (queue) => leave(queue, ids)),

    resize: (userId: string, limit: number): Promise<void> => changeAndStart(userId, (queue) => resize(queue, limit)),

    mend,
  };
};
