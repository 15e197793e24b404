import { unavailable } from "@nodeloom/kernel";
import { createBatcher } from "@nodeloom/platform";
import type { OutboxEntry, RunStatus } from "../run/states";
import type { ExecutionModel } from "./schema";

/** Rows of one command. */
const MAX_BATCH = 200;
const MAX_WAITING = 10_000;
const MAX_WAIT_MS = 10_000;

/** A row all of whose outbox is delivered. */
export interface DeliveredRow {
  _id: string;
  status: RunStatus;
  attempt: number;
  outbox: readonly OutboxEntry[];
}

/** Clears the outboxes of rows: those that stand alike and arrive together, by one command. */
export const createClearing = (executions: ExecutionModel) => {
  const { submit, close } = createBatcher<DeliveredRow, void>({
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    overloaded: () => unavailable("too much waits to be recorded"),
    work: async (_key, batch) => {
      const { status, attempt, outbox } = batch[0]!.value;
      const ids = batch.map(({ value }) => value._id);
      const filter = { _id: ids.length === 1 ? ids[0]! : { $in: ids }, status, attempt, outbox: [...outbox] };
      try {
        await executions.collection.updateMany(filter as object, { $set: { outbox: [] }, $unset: { unsettled: 1 } });
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    },
  });
  return {
    /** Not of a row that has moved on, or was cleared by another process: the sweeper looks at what is left. */
    clearAll: (row: DeliveredRow): Promise<void> =>
      submit(`${row.status} ${row.attempt} ${row.outbox.join()}`, row, Date.now() + MAX_WAIT_MS),
    /** Takes no more and waits for what was taken. */
    close,
  };
};
