/** The sweeps of one process, at intervals: of runs, and of batches. */
import { startSweeper } from "@nodeloom/platform";
import { TIMING } from "../run/timing";
import { createBatchSweep, type BatchSweepOptions } from "./batches";
import { createSweep, type SweepOptions } from "./sweep";

/** One look at runs, and then at batches, whatever became of the first. @throws what one of them has met */
export const createSweeps = (options: SweepOptions & BatchSweepOptions): ((signal?: AbortSignal) => Promise<void>) => {
  const [sweepRuns, sweepBatches] = [createSweep(options), createBatchSweep(options)];
  return async (signal) => {
    try {
      await sweepRuns(signal);
    } finally {
      await sweepBatches(signal);
    }
  };
};

export const startSweeps = (options: SweepOptions & BatchSweepOptions): ReturnType<typeof startSweeper> =>
  startSweeper({
    sweep: createSweeps(options),
    intervalMs: TIMING.sweepEvery,
    onFailure: (error) => options.logger.debug({ err: error }, "runs or batches could not be swept"),
  });
