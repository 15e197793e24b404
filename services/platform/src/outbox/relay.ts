import { createHash } from "node:crypto";
import { groupBy } from "@nodeloom/kernel";
import type { Connection } from "mongoose";
import { isDatabaseUnavailable } from "../stores/mongo";
import type { Logger } from "../telemetry/logger";
import { observedGauge, type Reading } from "../telemetry/metrics";
import { linkSignals } from "../work/signals";
import { startSweeper } from "../work/sweeper";
import { createLease } from "./lease";

const RELAY_INTERVAL_MS = 5_000;
/** A holder that doesn't renew for this time is replaced. */
const LEASE_MS = 8_000;
/** If a row is unchanged for this time, the process that wrote it has abandoned it. */
const STALE_MS = 10_000;
/** Pauses between attempts at a row double from the first to the longest. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 300_000;
const PAGE = 5_000;
/** Groups of rows that are settled in parallel. */
const AT_ONCE = 20;

/** Rows of a collection that have pending entries. */
export interface RelayedRows<Row> {
  /** Name of the rows in metrics and the log. */
  name: string;
  /** Returns rows with pending entries in a fixed order, beginning after `after`. */
  page(limit: number, after: Row | undefined): Promise<Row[]>;
  /** Returns a text that changes whenever the row's pending entries change. */
  signatureOf(row: Row): string;
  /** Returns the number of pending entries. Entries that only wait for an event don't count. Default: 1. */
  entriesOf?(row: Row): number;
  /**
   * Time for which a row must be unchanged before it is settled. Default: ten seconds. Use 0 if no other process works on the row, to
   * settle it immediately.
   */
  staleMs?: number;
  /** Rows with equal groups are settled together. By default, each row is settled alone. */
  groupOf?(row: Row): string;
  /**
   * Sends the pending entries of rows.
   * @returns false if an entry is left; it is then retried after a pause, as after an error
   */
  settle(rows: readonly Row[]): Promise<boolean>;
}

/** The relay's record of a row: the time since which it is unchanged, and the time of the next attempt. */
interface RowAttempts {
  since: number;
  failures: number;
  next: number;
}

interface Due<Row> {
  row: Row;
  state: RowAttempts;
}

interface Measure {
  entries: number;
  since: number | undefined;
}

const MS = 1_000;
const HASH_BYTES = 6;
/** Only hashes are kept, because signatures are many and long. */
const hashOf = (text: string): number => createHash("sha1").update(text).digest().readUIntBE(0, HASH_BYTES);

/** Adds jitter, so that rows that failed together are retried at different times. */
const pauseMs = (failures: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 16), LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);

export interface LookOptions {
  logger: Logger;
  pageSize?: number;
  now?: () => number;
}

export interface Look {
  /**
   * Makes one pass over all rows.
   * @throws if the database is unavailable, or with the signal's reason
   */
  (signal?: AbortSignal): Promise<void>;
  /** Returns the measurements of the last pass. */
  measure(): Measure;
  /** Discards all records, because another process took over and they may be outdated. */
  forget(): void;
}

const NOTHING: Measure = { entries: 0, since: undefined };

/**
 * Settles all rows whose pending entries stayed unchanged for `staleMs`. Only this process's clock is used. Each group is settled
 * separately: a group that fails is retried after a pause and doesn't delay others.
 */
export const createLook = <Row>(rows: RelayedRows<Row>, options: LookOptions): Look => {
  const { name, signatureOf, groupOf, staleMs = STALE_MS } = rows;
  const { logger, pageSize = PAGE, now = Date.now } = options;
  let seenRows = new Map<number, RowAttempts>();
  let measured = NOTHING;

  const settle = async (group: readonly Due<Row>[]): Promise<void> => {
    try {
      if (await rows.settle(group.map(({ row }) => row))) return;
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      logger.warn({ err: error, outbox: name, row: signatureOf(group[0]!.row) }, "what a row owes could not be settled");
    }
    for (const { state } of group) {
      state.next = now() + pauseMs(state.failures);
      state.failures += 1;
    }
  };

  const settleAll = async (due: readonly Due<Row>[], signal: AbortSignal | undefined): Promise<void> => {
    const groups = groupOf ? groupBy(due, ({ row }) => groupOf(row)).values() : due.map((one) => [one]).values();
    const work = async (): Promise<void> => {
      for (const group of groups) {
        signal?.throwIfAborted();
        await settle(group);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };

  const look = async (signal?: AbortSignal): Promise<void> => {
    const next = new Map<number, RowAttempts>();
    let { entries, since } = NOTHING;
    for (let after: Row | undefined, isLast = false; !isLast;) {
      signal?.throwIfAborted();
      const page = await rows.page(pageSize, after);
      const due: Due<Row>[] = [];
      for (const row of page) {
        const hash = hashOf(signatureOf(row));
        const earlier = seenRows.get(hash);
        const state = earlier ?? { since: now(), failures: 0, next: 0 };
        next.set(hash, state);
        const owedEntries = rows.entriesOf?.(row) ?? 1;
        entries += owedEntries;
        if (owedEntries > 0) since = Math.min(since ?? state.since, state.since);
        const isStale = staleMs === 0 || (earlier && now() - state.since >= staleMs);
        if (isStale && state.next <= now()) due.push({ row, state });
      }
      await settleAll(due, signal);
      after = page.at(-1);
      isLast = page.length < pageSize;
    }
    seenRows = next;
    measured = { entries, since };
  };
  const forget = (): void => {
    seenRows = new Map();
    measured = NOTHING;
  };
  return Object.assign(look, { measure: () => measured, forget });
};

export interface RelayOptions {
  service: string;
  connection: Connection;
  logger: Logger;
}

export interface Relay {
  stop(): Promise<void>;
}

/**
 * Relays entries that were left by stopped processes or whose receivers were unavailable. Among the processes that share a database, one
 * relays at a time. If it stops, another takes over.
 */
export const startRelay = (rows: readonly RelayedRows<unknown>[], { service, connection, logger }: RelayOptions): Relay => {
  const lease = createLease({ connection, name: "outbox", leaseMs: LEASE_MS });
  const looks = rows.map((one) => ({ name: one.name, look: createLook(one, { logger }) }));
  let isHolder = false;

  const lookAtAll = async (signal: AbortSignal): Promise<void> => {
    const { signal: ending, abort, unlink } = linkSignals(signal);
    const renew = async (): Promise<void> => {
      isHolder = await lease.hold();
      if (!isHolder) abort(new Error("another process relays"));
    };
    const renewal = setInterval(() => void renew().catch(abort), LEASE_MS / 3);
    try {
      const outcomes = await Promise.allSettled(looks.map(({ look }) => look(ending)));
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    } finally {
      clearInterval(renewal);
      unlink();
    }
  };
  const sweep = async (signal: AbortSignal): Promise<void> => {
    isHolder = await lease.hold();
    if (isHolder) await lookAtAll(signal);
    else for (const { look } of looks) look.forget();
  };
  const sweeper = startSweeper({
    sweep,
    intervalMs: RELAY_INTERVAL_MS,
    onFailure: (error) => logger.debug({ err: error, service }, "outboxes could not be relayed"),
  });

  const read = (valueOf: (measure: Measure) => number) => (): Reading[] =>
    isHolder ? looks.map(({ name, look }) => ({ value: valueOf(look.measure()), attributes: { service, outbox: name } })) : [];
  const ends = [
    observedGauge(
      "nodeloom.outbox.entries",
      "entries of outboxes that are not delivered yet, counted by the process that relays them",
      read(({ entries }) => entries),
    ),
    observedGauge(
      "nodeloom.outbox.oldest.age",
      "for how long that process has known the oldest of them, in seconds",
      read(({ since }) => (since === undefined ? 0 : (Date.now() - since) / MS)),
    ),
  ];
  return {
    stop: async () => {
      for (const end of ends) end();
      await sweeper.stop();
      await lease.release().catch(() => undefined);
    },
  };
};
