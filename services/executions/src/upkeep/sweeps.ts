/** The sweeps of one process, at intervals: of runs, of batches, of the alerts of budgets, of accounts that are to be erased, of stuck runs, and of mails. */
import { startSweeper } from "@nodeloom/platform";
import type { Mails } from "../mail/owners";
import { TIMING } from "../run/timing";
import { createAlertSweep, type AlertSweepOptions } from "./budget-alerts";
import { createBatchSweep, type BatchSweepOptions } from "./batches";
import { createErasureSweep, type ErasureSweepOptions } from "./erasures";
import { createStuckSweep, type StuckOptions } from "./stuck";
import { createSweep, type SweepOptions } from "./sweep";

export type SweepsOptions = SweepOptions &
  BatchSweepOptions &
  AlertSweepOptions &
  ErasureSweepOptions &
  StuckOptions & { mails: Mails | undefined };

/** One look at each, one after another, whatever became of those before. @throws what the first of them has met */
export const createSweeps = (options: SweepsOptions): ((signal?: AbortSignal) => Promise<void>) => {
  const { mails } = options;
  const sweeps = [
    createSweep(options),
    createBatchSweep(options),
    createAlertSweep(options),
    createErasureSweep(options),
    createStuckSweep(options),
    ...(mails ? [mails.startForgotten] : []),
  ];
  return async (signal) => {
    const failures: unknown[] = [];
    for (const sweep of sweeps) await sweep(signal).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
};

export const startSweeps = (options: SweepsOptions): ReturnType<typeof startSweeper> =>
  startSweeper({
    sweep: createSweeps(options),
    intervalMs: TIMING.sweepEvery,
    onFailure: (error) => options.logger.debug({ err: error }, "runs, batches, alerts, erasures or mails could not be swept"),
  });
