import type { Logger } from "@nodeloom/platform";
import type { RunInput } from "../contract/run-types";
import type { ExecutionStore } from "../record/store";
import type { RunStarter } from "../temporal/client";
import { enter, leave, moveUp, placeOf, type Newcomer, type Place } from "./line";

export type Queue = ReturnType<typeof createQueue>;

export interface QueueOptions {
  store: Pick<ExecutionStore, "lines" | "find" | "statesOf" | "getText">;
  starter: Pick<RunStarter, "start">;
  logger: Logger;
}

/** Runs of a user that have a place, and those that wait for one. Concurrency is bounded here and nowhere else. */
export const createQueue = ({ store, starter, logger }: QueueOptions) => {
  /** Starts a run whose turn has come. Started twice it is carried once: its workflow claims the row. */
  const start = async (executionId: string): Promise<void> => {
    const row = await store.find(executionId);
    if (row?.status !== "queued" || !row.runInput) return;
    const json = await store.getText(row.runInput);
    if (json === null) return logger.error({ executionId }, "what a waiting run is started with is gone");
    await starter.start(JSON.parse(json) as RunInput);
  };

  const startAll = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      await start(id).catch((error: Error) =>
        logger.warn({ executionId: id, reason: error.message }, "a waiting run could not be started"),
      );
    }
  };

  return {
    /** A run arrives: it gets a place, waits in line, or finds no room. Idempotent. */
    enter: (userId: string, newcomer: Newcomer): Promise<Place> =>
      store.lines.change(userId, (line) => {
        const { line: next, place } = enter(line, newcomer);
        return { line: next, result: place };
      }),

    /** Runs leave, and those whose turn has come are started. */
    leave: async (userId: string, ids: readonly string[]): Promise<void> => {
      const moved = await store.lines.change(userId, (line) => {
        const { line: next, moved: ready } = moveUp(leave(line, ids));
        return { line: next, result: ready };
      });
      // Their turn is recorded: what isn't started now is started by the sweeper.
      if (moved.length > 0) void startAll(moved);
    },

    position: async (userId: string, executionId: string): Promise<number | undefined> =>
      placeOf(await store.lines.find(userId), executionId),

    /** Puts a user's line right: ends places of runs that are over, lets runs move up, and starts those that have a place but don't run. */
    mend: async (userId: string, queued: readonly { id: string; bytes: number }[]): Promise<void> => {
      const { running, limit } = await store.lines.find(userId);
      const states = new Map((await store.statesOf(running)).map((row) => [row._id, row.status]));
      const isOver = (id: string): boolean => !["accepted", "queued", "processing", "cancel_requested"].includes(states.get(id) ?? "");
      const over = running.filter(isOver);
      await store.lines.change(userId, (line) => {
        let next = leave(line, over);
        for (const { id, bytes } of queued) next = enter(next, { id, bytes, limit: next.limit || limit, mayWait: true }).line;
        return { line: moveUp(next).line, result: undefined };
      });
      const now = await store.lines.find(userId);
      await startAll(queued.map(({ id }) => id).filter((id) => placeOf(now, id) === 0));
    },
  };
};
