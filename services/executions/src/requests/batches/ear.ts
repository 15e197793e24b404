/** What one turn at a batch hears of it, and of the items that it has begun. */
import { pause, withTimeout } from "@nodeloom/platform";
import { TIMING } from "../../run/timing";
import type { EventChannel } from "../../store/channel";
import { itemExecutionId } from "./item";

/** Ends that come close together are looked at together, while more items than this are under way; and how close. */
const FEW_ITEMS = 4;
const GATHER_MS = 25;

export const createEar = (batchId: string, channel: Pick<EventChannel, "onTransition">) => {
  let isHeard = false;
  let wake: () => void = () => undefined;
  const hear = (): void => {
    isHeard = true;
    wake();
  };
  const followed = new Map<number, () => void>();
  const unsubscribe = channel.onTransition(batchId, hear);
  const forget = (index: number): void => {
    followed.get(index)?.();
    followed.delete(index);
  };
  return {
    hear,
    followed,
    forget,
    /** The end of an item is announced once its batch has counted it. */
    follow: (index: number): void => {
      forget(index);
      const heard = channel.onTransition(itemExecutionId(batchId, index), ({ type }) => (type === "settled" ? hear() : undefined));
      followed.set(index, heard);
    },
    /** Waits until something is heard, or for a silence. */
    next: async (stopping: AbortSignal, itemsUnderWay: number): Promise<void> => {
      if (!isHeard && !stopping.aborted) {
        const heard = new Promise<void>((resolve) => (wake = resolve));
        stopping.addEventListener("abort", wake, { once: true });
        await withTimeout(heard, TIMING.channelSilence, () => undefined);
        stopping.removeEventListener("abort", wake);
      }
      if (itemsUnderWay > FEW_ITEMS) await pause(GATHER_MS, stopping);
      isHeard = false;
    },
    close: (): void => {
      unsubscribe();
      for (const index of [...followed.keys()]) forget(index);
    },
  };
};
