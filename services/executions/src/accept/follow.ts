import { withTimeout } from "@nodeloom/platform";
import { TIMING } from "../run/timing";
import type { EventChannel } from "../record/runs/channel";
import type { ExecutionView } from "../run/record";
import type { Stores } from "../record/stores";
import { isUndelivered } from "../run/states";

export interface Following {
  listen(): void;
  /** Returns the row after the next announced transition, after a period of silence, or at `until`. */
  next(until: number): Promise<ExecutionView | null>;
  stop(): void;
}

export type Follow = (executionId: string) => Following;

/**
 * Follows runs through their channels. A message only announces a new state, so a lost message only adds latency. The row is read, unless
 * this process has written every change since the last read.
 */
export const createFollow =
  ({ stores, channel }: { stores: Pick<Stores, "rows">; channel: Pick<EventChannel, "onTransition"> }): Follow =>
  (executionId) => {
    let heard: { row: ExecutionView | undefined } | undefined;
    /** The end of a run is announced only after its outbox was delivered. */
    let isSettled = false;
    let wake: () => void = () => undefined;
    let unsubscribe: (() => void) | undefined;
    const listen = (): void => {
      unsubscribe ??= channel.onTransition(executionId, ({ type }, row) => {
        const mustRead = heard !== undefined && heard.row === undefined;
        heard = { row: mustRead ? undefined : row };
        isSettled ||= type === "settled";
        wake();
      });
    };
    return {
      listen,
      next: async (until) => {
        listen();
        const waitMs = Math.min(TIMING.channelSilence, until - Date.now());
        if (!heard && waitMs > 0) await withTimeout(new Promise<void>((resolve) => (wake = resolve)), waitMs, () => undefined);
        const heardRow = heard?.row;
        heard = undefined;
        const row = heardRow ?? (await stores.rows.find(executionId));
        return row && isSettled ? { ...row, outbox: [] } : row;
      },
      stop: () => {
        unsubscribe?.();
        wake();
      },
    };
  };

export type EndedRow = Pick<ExecutionView, "_id" | "status" | "outbox" | "finishedAt">;

/** Waits at most one second until an ended run has its usage row and its place is free. Waits only for runs that ended recently. */
export type AwaitDelivered = (row: EndedRow) => Promise<void>;

/** If a run ended longer ago, a service is unavailable and the relay delivers the outbox. */
const YOUNG_MS = 5_000;

const isAwaited = (row: EndedRow): boolean => isUndelivered(row) && Date.now() - (row.finishedAt?.getTime() ?? 0) < YOUNG_MS;

export const createAwaitDelivered =
  ({ stores, channel }: { stores: Pick<Stores, "rows">; channel: Pick<EventChannel, "onTransition"> }): AwaitDelivered =>
  async (row) => {
    if (!isAwaited(row)) return;
    const until = Date.now() + TIMING.endReader;
    const following = createFollow({ stores, channel })(row._id);
    try {
      following.listen();
      let now = await stores.rows.find(row._id);
      while (now && isAwaited(now) && Date.now() < until) now = await following.next(until);
    } finally {
      following.stop();
    }
  };
