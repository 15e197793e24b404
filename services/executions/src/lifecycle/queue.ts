/** Queues of users: runs take places, wait, leave, and start in turn. */
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

/** A user's runs with a place and the waiting ones, by the id of their attempt's hold. No other part bounds concurrency. */
export const createQueue = ({ stores, starter, logger }: QueueOptions) => {
  /** Starts a run whose turn has come. Starting twice is harmless: the workflow claims the row. */
  const start = async (holdId: string): Promise<void> => {
    const row = await stores.rows.find(executionOf(holdId));
    // It waited for a decision, and its workflow waits for a place.
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

  /** Which of these attempts are over or unknown. */
  const overAmong = async (holdIds: readonly string[]): Promise<string[]> => {
    const rows = holdIds.length === 0 ? [] : await stores.rows.statesOf(holdIds.map(executionOf));
    const living = new Set(rows.filter((row) => !isOver(row)).map(({ holdId }) => holdId));
    return holdIds.filter((id) => !living.has(id));
  };

  /** Changes a queue and moves runs up. The change records their turns, so the relay starts any that this process doesn't. */
  const change = (userId: string, decide: (queue: RunQueue) => RunQueue): Promise<ReturnType<typeof moveUp>> =>
    stores.queues.change(userId, (before) => {
      const result = moveUp(decide(before));
      return { queue: result.queue, result };
    });

  const changeAndStart = async (userId: string, decide: (queue: RunQueue) => RunQueue): Promise<void> => {
    const { moved } = await change(userId, decide);
    if (moved.length > 0) void startAll(moved);
  };

  /** The limit may have risen: waiting runs move up before the newcomer. */
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

  /** Repairs a user's queue: removes runs that are over, moves others up, and starts those that have a place but don't run. */
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
    /** A run takes a place, waits, or is rejected because the queue is full. Idempotent. */
    enter: async (userId: string, newcomer: Newcomer): Promise<Place> => {
      const place = await arrive(userId, newcomer);
      if (place !== null) return place;
      // A process that died may have left a place taken. It is looked for only when it is in the way.
      await mend(userId, []);
      return arrive(userId, newcomer);
    },

    /** Admits a run with an approval. @returns false when the user has as many of them as may be under way */
    admitApproval: async (userId: string, id: string, most: number): Promise<boolean> => {
      const admit = (): Promise<boolean> =>
        stores.queues.change(userId, (queue) => {
          const admitted = admitApproval(queue, id, most);
          return { queue: admitted ?? queue, result: admitted !== undefined };
        });
      if (await admit()) return true;
      // As with places, leftovers of dead processes are looked for only when they are in the way.
      await mend(userId, []);
      return admit();
    },

    /** Gives up a run's place while it waits for decisions. */
    stepAside: (userId: string, id: string): Promise<void> => changeAndStart(userId, (queue) => stepAside(queue, id)),

    /** Takes a place again, or waits for one behind earlier runs. @param limit where the queue knows none */
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
