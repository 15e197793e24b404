import { withTimeout } from "@nodeloom/platform";
import type { ExecutionView } from "../run/record";
import { isUndelivered } from "../run/states";
import { TIMING } from "../run/timing";
import type { EventChannel } from "../store/channel";
import type { Stores } from "../store/stores";

/** What is read of a run whose end is told. */
export type EndedRow = Pick<ExecutionView, "_id" | "status" | "outbox" | "finishedAt">;

/** Waits until an end that was just written has its usage row and its place free, for a second at most. */
export type AwaitDelivered = (row: EndedRow) => Promise<void>;

/** An end that is older is the sweeper's to deliver: the service that it waits for is away. */
const YOUNG_MS = 5_000;

const isAwaited = (row: EndedRow): boolean => isUndelivered(row) && Date.now() - (row.finishedAt?.getTime() ?? 0) < YOUNG_MS;

/** For readers: whoever wrote the end says so when that is delivered. */
export const createAwaitDelivered =
  ({ stores, channel }: { stores: Pick<Stores, "rows">; channel: Pick<EventChannel, "onTransition"> }): AwaitDelivered =>
  async (row) => {
    if (!isAwaited(row)) return;
    let unsubscribe = (): void => undefined;
    const settled = new Promise<void>((resolve) => {
      unsubscribe = channel.onTransition(row._id, ({ type }) => type === "settled" && resolve());
    });
    try {
      const now = await stores.rows.find(row._id);
      if (now && isAwaited(now)) await withTimeout(settled, TIMING.endReader, () => undefined);
    } finally {
      unsubscribe();
    }
  };
