import { Context } from "@temporalio/activity";
import type { Activities, LedgerReport, RetentionReport, RetiringReport, ScheduledStart } from "./activity-types";
import type { Triggers } from "../clients";
import { TIMING } from "../run/timing";
import type { PassReport } from "../record/look";

/** Work in pages. `beat` receives the position after each page. `progress` is the last position of an earlier attempt. */
export type PagedWork<Progress, Report> = (beat: (progress: Progress) => void, progress: Progress | undefined) => Promise<Report>;
type Look = (beat: () => void) => Promise<PassReport>;

export interface UpkeepOptions<Renewed, Removed, Checked, Told> {
  reconcileRuns: Look;
  reconcileDeliveries: Look;
  closeLeaks: Look;
  renewals: PagedWork<Renewed, { renewed: number; failed: number }>;
  retention: PagedWork<Removed, RetentionReport>;
  ledgerCheck: PagedWork<Checked, LedgerReport>;
  retiringNotices: PagedWork<Told, RetiringReport>;
  triggers: Pick<Triggers, "fireSchedule">;
}

export const resumed = <Progress, Report>(work: PagedWork<Progress, Report>): Promise<Report> => {
  const context = Context.current();
  const beat = (progress: Progress): void => {
    context.heartbeat(progress);
    context.cancellationSignal.throwIfAborted();
  };
  return work(beat, context.info.heartbeatDetails as Progress | undefined);
};

export const createUpkeepActivities = <Renewed, Removed, Checked, Told>(
  upkeep: UpkeepOptions<Renewed, Removed, Checked, Told>,
): Pick<Activities, "reconcile" | "enforceRetention" | "renewDuePlans" | "checkLedger" | "sendRetiringNotices" | "startScheduled"> => ({
  reconcile: async () => {
    const beat = (): void => Context.current().heartbeat();
    const runs = await upkeep.reconcileRuns(beat);
    const deliveries = await upkeep.reconcileDeliveries(beat);
    return { runs, deliveries, holds: await upkeep.closeLeaks(beat) };
  },
  enforceRetention: () => resumed(upkeep.retention),
  renewDuePlans: () => resumed(upkeep.renewals),
  checkLedger: () => resumed(upkeep.ledgerCheck),
  sendRetiringNotices: () => resumed(upkeep.retiringNotices),
  startScheduled: async (scheduleId, at) => {
    const { time } = await upkeep.triggers.fireSchedule({ scheduleId, at: new Date(at) }, { deadlineMs: TIMING.minute });
    return time
      ? { outcome: time.outcome as ScheduledStart["outcome"], executionId: time.executionId || null, code: time.code || null }
      : null;
  },
});
