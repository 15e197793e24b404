/** The sweeps of one process, at intervals: of runs, and of batches. */
import { startSweeper } from "@nodeloom/platform";
import { TIMING } from "../run/timing";
import { createBatchSweep, type BatchSweepOptions } from "./batches";
import { createSweep, type SweepOptions } from "./sweep";

export const startSweeps = (options: SweepOptions & BatchSweepOptions): ReturnType<typeof startSweeper> => {
  const [sweepRuns, sweepBatches] = [createSweep(options), createBatchSweep(options)];
  return startSweeper({
    sweep: async (signal) => {
      await sweepRuns(signal);
      await sweepBatches(signal);
    },
    intervalMs: TIMING.sweepEvery,
    onFailure: (error) => options.logger.debug({ err: error }, "runs or batches could not be swept"),
  });
};
