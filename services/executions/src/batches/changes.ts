/** Lets a turn wait for changes of a batch and for items that end. */
import { pause, withTimeout } from "@nodeloom/platform";
import { TIMING } from "../run/timing";
import type { EventChannel } from "../record/runs/channel";
import { itemExecutionId } from "./item";

/** If more than this many items are under way, items that end within `GATHER_MS` are processed together. */
const FEW_ITEMS = 4;
const GATHER_MS = 25;

export const createChanges = (batchId: string, channel: Pick<EventChannel, "onTransition">) => {
  let isNotified = false;
  let wake: () => void = () => undefined;
  const notify = (): void => {
    isNotified = true;
    wake();
  };
  const followed = new Map<number, () => void>();
  const unsubscribe = channel.onTransition(batchId, notify);
  const forget = (index: number): void => {
    followed.get(index)?.();
    followed.delete(index);
  };
  return {
    notify,
    followed,
    forget,
    /** The batch counts an ended item before its end is announced. */
    follow: (index: number): void => {
      forget(index);
      const unfollow = channel.onTransition(itemExecutionId(batchId, index), ({ type }) => (type === "settled" ? notify() : undefined));
      followed.set(index, unfollow);
    },
    /** Waits for a change. If the channel is silent for a while, a message may be lost, so the wait ends. */
    next: async (stopping: AbortSignal, itemsUnderWay: number): Promise<void> => {
      if (!isNotified && !stopping.aborted) {
        const notified = new Promise<void>((resolve) => (wake = resolve));
        stopping.addEventListener("abort", wake, { once: true });
        await withTimeout(notified, TIMING.channelSilence, () => undefined);
        stopping.removeEventListener("abort", wake);
      }
      if (itemsUnderWay > FEW_ITEMS) await pause(GATHER_MS, stopping);
      isNotified = false;
    },
    close: (): void => {
      unsubscribe();
      for (const index of [...followed.keys()]) forget(index);
    },
  };
};
