/** outbox/: effects of a change. They are stored with the change and sent immediately. If that fails, another process relays them. */
import type { Logger } from "../telemetry/logger";
import { withTimeout } from "../work/timeout";

export interface OutboxOptions<Row, Entry> {
  entriesOf(row: Row): readonly Entry[];
  /** Returns the entry's idempotency key, which is equal on every attempt. */
  idOf(row: Row, entry: Entry): string;
  /** Calls the service, or starts the Temporal workflow, that the entry names. It can be called repeatedly. */
  send(row: Row, entry: Entry, id: string): Promise<void>;
  /** Removes accepted entries unless the row's state has changed, because a later state can require the same effect again. */
  clear(row: Row, sentEntries: readonly Entry[]): Promise<void>;
  logger: Logger;
}

export interface Outbox<Row> {
  /**
   * Sends a row's entries and clears the accepted ones.
   * @returns true if no entry is left
   */
  deliver(row: Row): Promise<boolean>;
  /** Delivers in the background. The relay retries failed and lost entries. On failure it resolves to false. */
  deliverLater(row: Row): Promise<boolean>;
  /** Waits for running deliveries, for at most the time available during a stop. */
  drain(): Promise<void>;
}

const DRAIN_MS = 3_000;

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Delivers entries that were stored by the same conditional update as their change. */
export const createOutbox = <Row, Entry>({ entriesOf, idOf, send, clear, logger }: OutboxOptions<Row, Entry>): Outbox<Row> => {
  const deliver = async (row: Row): Promise<boolean> => {
    const entries = entriesOf(row);
    const sendOne = async (entry: Entry): Promise<boolean> => {
      const id = idOf(row, entry);
      try {
        await send(row, entry, id);
        return true;
      } catch (error) {
        logger.warn({ entry: id, reason: reasonOf(error) }, "an entry of an outbox was not delivered");
        return false;
      }
    };
    const outcomes = await Promise.all(entries.map(sendOne));
    const sentEntries = entries.filter((_, index) => outcomes[index]);
    if (sentEntries.length > 0) await clear(row, sentEntries);
    return sentEntries.length === entries.length;
  };

  const background = new Set<Promise<boolean>>();
  return {
    deliver,
    deliverLater: (row) => {
      const delivered: Promise<boolean> = deliver(row)
        .catch((error: unknown) => {
          logger.warn({ reason: reasonOf(error) }, "an outbox was not cleared");
          return false;
        })
        .finally(() => void background.delete(delivered));
      background.add(delivered);
      return delivered;
    },
    drain: async () => void (await withTimeout(Promise.all(background), DRAIN_MS, () => undefined)),
  };
};
