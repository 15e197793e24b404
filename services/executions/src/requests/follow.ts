import { withTimeout } from "@nodeloom/platform";
import { TIMING } from "../run/timing";
import type { EventChannel } from "../store/channel";
import type { ExecutionView } from "../run/record";
import type { Stores } from "../store/stores";
import { isFinal } from "../run/states";

/** What is heard of one run, from when it is listened to. */
export interface Following {
  /** Hears of the run from now on. */
  listen(): void;
  /** The row after the next transition that is heard of, after a silence, or when the time is over. */
  next(until: number): Promise<ExecutionView | null>;
  stop(): void;
}

export type Follow = (executionId: string) => Following;

/** Follows runs by their channel: a message says that there is something to read, and one that is missed costs latency only. */
export const createFollow =
  ({ stores, channel }: { stores: Pick<Stores, "rows">; channel: Pick<EventChannel, "onTransition"> }): Follow =>
  (executionId) => {
    let isHeard = false;
    /** Its end was told, which is after what its readers look for is done. */
    let isSettled = false;
    /** The row as the last message brought it. */
    let latest: ExecutionView | undefined;
    let wake: () => void = () => undefined;
    let unsubscribe: (() => void) | undefined;
    const listen = (): void => {
      unsubscribe ??= channel.onTransition(executionId, ({ type }, record) => {
        isHeard = true;
        isSettled ||= type === "settled";
        if (!latest || !isFinal(latest)) latest = record;
        wake();
      });
    };
    return {
      listen,
      next: async (until) => {
        listen();
        const waitMs = Math.min(TIMING.channelSilence, until - Date.now());
        if (!isHeard && waitMs > 0) await withTimeout(new Promise<void>((resolve) => (wake = resolve)), waitMs, () => undefined);
        isHeard = false;
        const row = latest ?? (await stores.rows.find(executionId));
        latest = row && isFinal(row) ? row : undefined;
        return row && isSettled ? { ...row, outbox: [] } : row;
      },
      stop: () => {
        unsubscribe?.();
        wake();
      },
    };
  };
