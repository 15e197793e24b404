/** Does what processes that died have left undone. */
import { groupBy, unavailable } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import { TIMING } from "../run/timing";
import type { ExecutionView } from "../run/record";
import type { Stores } from "../store/stores";
import type { End } from "../lifecycle/end";
import type { Outbox } from "../lifecycle/outbox";
import type { Execution } from "../lifecycle/execution";
import { checkEach } from "../store/look";
import type { Queue } from "../lifecycle/queue";

const PAGE = 500;
const MAX_PAGES = 40;

export interface SweepOptions {
  stores: Pick<Stores, "rows">;
  execution: Pick<Execution, "refuse">;
  end: Pick<End, "endQueued">;
  queue: Pick<Queue, "mend">;
  outbox: Pick<Outbox, "deliver">;
  logger: Logger;
  now?: () => number;
}

/** What of a row changes with every transition and every delivery. */
const signatureOf = ({ status, attempt, outbox: entries }: ExecutionView): string => JSON.stringify([status, attempt, entries]);

/**
 * Does what was left undone by processes that died: refuses runs that stayed accepted, delivers outboxes, puts lines right, and
 * ends runs that waited in line for too long. It moves only rows that it saw unchanged twice, so that no clocks are compared.
 */
export const createSweep = ({ stores, execution, end, queue, outbox, logger, now = Date.now }: SweepOptions) => {
  let seen = new Map<string, string>();

  const move = async (row: ExecutionView): Promise<boolean> => {
    if (row.status !== "accepted") return outbox.deliver(row);
    const refused = await execution.refuse(row, unavailable("the run was not started", 1));
    return refused !== null && outbox.deliver(refused);
  };

  const isLate = ({ queuedAt }: ExecutionView): boolean => now() - (queuedAt?.getTime() ?? now()) > TIMING.queued;

  /** Of one user: those that waited for too long are ended, and the line is put right. */
  const mend = async (userId: string, rows: readonly ExecutionView[]): Promise<boolean> => {
    for (const row of rows.filter(isLate)) {
      const error = { code: "EXECUTION_FAILED", message: "the run waited in line for 24 hours" } as const;
      await end.endQueued(row._id, {}, error);
    }
    const waiting = rows.filter((row) => !isLate(row)).map(({ holdId, inputBytes }) => ({ id: holdId, bytes: inputBytes ?? 0 }));
    await queue.mend(userId, waiting);
    return true;
  };

  const warn = (id: string, err: unknown): void => logger.warn({ err, id }, "a run could not be swept");

  /** One look. It ends, with an error, soon after the signal: the next process goes on. @returns how many rows owe something */
  return async (stopping?: AbortSignal): Promise<number> => {
    const beat = (): void => stopping?.throwIfAborted();
    const now = new Map<string, string>();
    const unchanged: ExecutionView[] = [];
    let after: ExecutionView | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      beat();
      const rows = await stores.rows.unsettled(PAGE, after);
      for (const row of rows) {
        now.set(row._id, signatureOf(row));
        if (seen.get(row._id) === signatureOf(row)) unchanged.push(row);
      }
      after = rows.at(-1);
      if (rows.length < PAGE) break;
    }
    seen = now;
    const waiting = groupBy(
      unchanged.filter(({ status }) => status === "queued"),
      ({ userId }) => userId,
    );
    const decided = unchanged.filter(({ status }) => status !== "queued");
    await checkEach(decided, { beat, check: move, failed: ({ _id }, error) => warn(_id, error) });
    await checkEach([...waiting], {
      beat,
      check: ([userId, rows]) => mend(userId, rows),
      failed: ([userId], error) => warn(userId, error),
    });
    return now.size;
  };
};
