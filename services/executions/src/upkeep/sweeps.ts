/** The sweeps of one process, at intervals: of runs, of batches, and of the alerts of budgets. */
import { startSweeper } from "@nodeloom/platform";
import { TIMING } from "../run/timing";
import { createAlertSweep, type AlertSweepOptions } from "./budget-alerts";
import { createBatchSweep, type BatchSweepOptions } from "./batches";
import { createSweep, type SweepOptions } from "./sweep";

export type SweepsOptions = SweepOptions & BatchSweepOptions & AlertSweepOptions;

/** One look at runs, then at batches, then at alerts, whatever became of those before. @throws what the last of them has met */
export const createSweeps = (options: SweepsOptions): ((signal?: AbortSignal) => Promise<void>) => {
  const [sweepRuns, sweepBatches, sweepAlerts] = [createSweep(options), createBatchSweep(options), createAlertSweep(options)];
  return async (signal) => {
    try {
      await sweepRuns(signal);
    } finally {
      try {
        await sweepBatches(signal);
      } finally {
        await sweepAlerts(signal);
      }
    }
  };
};

export const startSweeps = (options: SweepsOptions): ReturnType<typeof startSweeper> =>
  startSweeper({
    sweep: createSweeps(options),
    intervalMs: TIMING.sweepEvery,
    onFailure: (error) => options.logger.debug({ err: error }, "runs, batches or alerts could not be swept"),
  });
