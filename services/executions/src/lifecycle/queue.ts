/** Manages users' queues: runs take places, wait, leave, and start in turn. */
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

/** A user's running and waiting runs, by the hold id of their attempt. Only this queue limits concurrency. */
export const createQueue = ({ stores, starter, logger }: QueueOptions) => {
  /** Starts a run when its turn comes. A second start has no effect, because the workflow claims the row. */
  const start = async (holdId: string): Promise<void> => {
    const row = await stores.rows.find(executionOf(holdId));
    // The run waited for a decision, and its workflow now waits for a place.
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

  /** Returns the attempts that have ended or are unknown. */
  const overAmong = async (holdIds: readonly string[]): Promise<string[]> => {
    const rows = holdIds.length === 0 ? [] : await stores.rows.statesOf(holdIds.map(executionOf));
    const living = new Set(rows.filter((row) => !isOver(row)).map(({ holdId }) => holdId));
    return holdIds.filter((id) => !living.has(id));
  };

  /** Changes a queue and moves runs up. The change records which runs can start, so the relay starts them if this process doesn't. */
  const change = (userId: string, decide: (queue: RunQueue) => RunQueue): Promise<ReturnType<typeof moveUp>> =>
    stores.queues.change(userId, (before) => {
      const result = moveUp(decide(before));
      return { queue: result.queue, result };
    });

  const changeAndStart = async (userId: string, decide: (queue: RunQueue) => RunQueue): Promise<void> => {
    const { moved } = await change(userId, decide);
    if (moved.length > 0) void startAll(moved);
  };

  /** The limit may have risen, so waiting runs move up before the new run. */
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

  /** Repairs a user's queue: removes ended runs, moves others up, and starts runs that have a place but aren't running. */
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
    /** Takes a place for a run, or queues it. Rejects it if the queue is full. Idempotent. */
    enter: async (userId: string, newcomer: Newcomer): Promise<Place> => {
      const place = await arrive(userId, newcomer);
      if (place !== null) return place;
      // A process that died may not have freed its place. That is checked only if no place is free.
      await mend(userId, []);
      return arrive(userId, newcomer);
    },

    /** Admits a run with an approval. @returns false if the user already has the maximum number of such runs */
    admitApproval: async (userId: string, id: string, most: number): Promise<boolean> => {
      const admit = (): Promise<boolean> =>
        stores.queues.change(userId, (queue) => {
          const admitted = admitApproval(queue, id, most);
          return { queue: admitted ?? queue, result: admitted !== undefined };
        });
      if (await admit()) return true;
      // Approvals of dead processes, like their places, are checked only if the limit is reached.
      await mend(userId, []);
      return admit();
    },

    /** Frees a run's place while it waits for decisions. */
    stepAside: (userId: string, id: string): Promise<void> => changeAndStart(userId, (queue) => stepAside(queue, id)),

    /** Takes a place again, or waits for one behind earlier runs. @param limit used if the queue has no limit */
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
