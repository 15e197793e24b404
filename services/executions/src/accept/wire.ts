import type { Execution } from "../lifecycle/execution";
import type { Lifecycle } from "../lifecycle/wire";
import { createKeepGraph, createPinnedOf } from "../plan/kept-graphs";
import { type EventChannel, createAwaitDelivered, createFollow } from "../record/runs/channel";
import type { Stores } from "../record/stores";
import { createCancellation, type CancellationOptions } from "./cancellation";
import { createRuns, type RunsOptions } from "./runs";
import { createStart, type StartOptions } from "./start";

type WiredParts = "planning" | "reruns" | "starter" | "workflows" | "checkRun" | "own";

export interface AcceptOptions extends Pick<StartOptions, WiredParts>, Pick<RunsOptions, "starts">, Pick<CancellationOptions, "tasks"> {
  stores: Stores;
  channel: Pick<EventChannel, "onTransition">;
  execution: Execution;
  lifecycle: Lifecycle;
}

export const wireAccept = ({ stores, channel, execution, lifecycle, starts, tasks, ...planned }: AcceptOptions) => {
  const shared = { stores, execution, ...lifecycle, awaitDelivered: createAwaitDelivered({ stores, channel }) };
  const graphKeepers = { pinnedOf: createPinnedOf(stores), keepGraph: createKeepGraph(stores.payloads) };
  const start = createStart({ ...shared, ...graphKeepers, ...planned });
  return {
    awaitDelivered: shared.awaitDelivered,
    runs: createRuns({ ...shared, start, follow: createFollow({ stores, channel }), ...(starts ? { starts } : {}) }),
    cancellation: createCancellation({ ...shared, tasks }),
  };
};
