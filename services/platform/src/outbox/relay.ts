import { createHash } from "node:crypto";
import { groupBy } from "@nodeloom/kernel";
import type { Connection } from "mongoose";
import { isDatabaseAway } from "../stores/mongo";
import type { Logger } from "../telemetry/logger";
import { observedGauge, type Reading } from "../telemetry/metrics";
import { linkSignals } from "../work/signals";
import { startSweeper } from "../work/sweeper";
import { createLease } from "./lease";

/** Interval between two passes. */
const RELAY_INTERVAL_MS = 5_000;
/** A holder that is silent for this long is replaced. */
const LEASE_MS = 8_000;
/** A row unchanged for this long was abandoned by its own process. */
const STALE_MS = 10_000;
/** Pauses between attempts at the same row: doubled from the first to the longest. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 300_000;
const PAGE = 5_000;
/** Groups of rows settled in parallel. */
const AT_ONCE = 20;

/** Rows of one collection with pending entries. */
export interface RelayedRows<Row> {
  /** Name of the rows in metrics and the log. */
  name: string;
  /** Rows with pending entries, in a fixed order, after a given one. */
  page(limit: number, after: Row | undefined): Promise<Row[]>;
  /** Changes whenever the row's pending entries change. */
  signatureOf(row: Row): string;
  /** Number of pending entries. Entries that only wait for an event don't count. Default: one. */
  entriesOf?(row: Row): number;
  /**
   * How long a row must be unchanged before it is settled. Default: ten seconds. With 0, no other process works on it and it is settled
   * at once.
   */
  staleMs?: number;
  /** Rows of the same group are settled together. Default: each row alone. */
  groupOf?(row: Row): string;
  /**
   * Sends the pending entries of rows.
   * @returns false, or throws, if something is left: it is retried after a pause
   */
  settle(rows: readonly Row[]): Promise<boolean>;
}

/** What the relay knows of a row: since when it is unchanged, and when to try again. */
interface Seen {
  since: number;
  failures: number;
  next: number;
}

interface Due<Row> {
  row: Row;
  state: Seen;
}

interface Measure {
  entries: number;
  since: number | undefined;
}

const MS = 1_000;
const HASH_BYTES = 6;
/** Signatures are many and long, so only their hashes are kept. */
const hashOf = (text: string): number => createHash("sha1").update(text).digest().readUIntBE(0, HASH_BYTES);

/** With jitter, so that rows that failed together aren't retried together. */
const pauseMs = (failures: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 16), LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);

export interface LookOptions {
  logger: Logger;
  pageSize?: number;
  now?: () => number;
}

export interface Look {
  /**
   * One pass over all rows.
   * @throws if the database is unavailable; the signal's reason
   */
  (signal?: AbortSignal): Promise<void>;
  /** Measured by the last pass. */
  measure(): Measure;
  /** Another process took over: what this one saw is out of date. */
  forget(): void;
}

const NOTHING: Measure = { entries: 0, since: undefined };

/**
 * Settles all rows with pending entries that stayed unchanged for a while, as their own process would have done. Only its own clock
 * counts. Each group is settled alone: one that fails is retried after a pause and delays no other.
 */
export const createLook = <Row>(rows: RelayedRows<Row>, options: LookOptions): Look => {
  const { name, signatureOf, groupOf, staleMs = STALE_MS } = rows;
  const { logger, pageSize = PAGE, now = Date.now } = options;
  let seen = new Map<number, Seen>();
  let measured = NOTHING;

  const settle = async (group: readonly Due<Row>[]): Promise<void> => {
    try {
      if (await rows.settle(group.map(({ row }) => row))) return;
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
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
    const next = new Map<number, Seen>();
    let { entries, since } = NOTHING;
    for (let after: Row | undefined, isLast = false; !isLast;) {
      signal?.throwIfAborted();
      const page = await rows.page(pageSize, after);
      const due: Due<Row>[] = [];
      for (const row of page) {
        const hash = hashOf(signatureOf(row));
        const known = seen.get(hash);
        const state = known ?? { since: now(), failures: 0, next: 0 };
        next.set(hash, state);
        const owed = rows.entriesOf?.(row) ?? 1;
        entries += owed;
        if (owed > 0) since = Math.min(since ?? state.since, state.since);
        const isStale = staleMs === 0 || (known && now() - state.since >= staleMs);
        if (isStale && state.next <= now()) due.push({ row, state });
      }
      await settleAll(due, signal);
      after = page.at(-1);
      isLast = page.length < pageSize;
    }
    seen = next;
    measured = { entries, since };
  };
  const forget = (): void => {
    seen = new Map();
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
 * Relays entries left by processes that died or receivers that were unavailable. Of the processes that share a database, one relays at a
 * time; another takes over if it dies.
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
